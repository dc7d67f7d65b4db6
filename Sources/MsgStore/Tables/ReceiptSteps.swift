package import PageFile

/// How far a member has come in a conversation, and since when: the last few marks.
///
/// See docs/message-format.md, V-1 … V-3.
///
///     size  field
///        1  number of steps, at most 8
///            of each step, the greatest position first:
///      2+n  position, its length first
///      1+8  0; or 1 and the earliest time known
///
/// A mark covers every message whose position is not behind it, so steps merge in any order to the
/// same ones:
///  1. Two marks at one position are one, with the earlier of their times; no time is later than any.
///  2. The eight greatest positions are kept. What falls out is covered by all that stay, so it takes
///     away no receipt; only a time may be lost, and then the message has that of the lowest step.
package struct ReceiptSteps: Hashable, Sendable {
  package struct Step: Hashable, Sendable {
    package let position: Position
    package var time: Int64?
  }

  package static let countMax = 8

  /// The greatest position first.
  package private(set) var steps: [Step] = []

  package init() {}

  /// The last message of those that the member has come to.
  package var mark: Position? { steps.first?.position }

  package func covers(_ position: Position) -> Bool { mark.map { position <= $0 } ?? false }

  /// The earliest time at which a mark covered a position.
  package func time(of position: Position) -> Int64? {
    steps.prefix { position <= $0.position }.compactMap(\.time).min()
  }

  package mutating func join(_ position: Position, _ time: Int64?) {
    let index = steps.firstIndex { $0.position <= position } ?? steps.count
    if index < steps.count, steps[index].position == position {
      steps[index].time = earliest(steps[index].time, time)
    } else if index < Self.countMax {
      steps.insert(Step(position: position, time: time), at: index)
      if steps.count > Self.countMax { steps.removeLast() }
    }
  }

  package mutating func join(_ other: ReceiptSteps) {
    for step in other.steps { join(step.position, step.time) }
  }

  /// Lets the mark that went up to a message follow it to another place.
  package mutating func move(_ old: Position, to new: Position) {
    guard let index = steps.firstIndex(where: { $0.position == old }) else { return }
    join(new, steps.remove(at: index).time)
  }

  init?(_ reader: inout ByteReader) {
    guard let count = reader.byte(), count <= Self.countMax else { return nil }
    for _ in 0..<count {
      guard let position = reader.position(), !position.place.isPending,
        steps.last.map({ position < $0.position }) ?? true, let time = reader.optionalTime()
      else { return nil }
      steps.append(Step(position: position, time: time))
    }
  }

  func append(to buffer: inout ByteBuffer) {
    buffer.append(UInt8(steps.count))
    for step in steps {
      buffer.append(measured: step.position)
      buffer.append(optionalTime: step.time)
    }
  }
}

/// What is known of a member in a conversation through receipts of the server.
///
/// See docs/message-format.md, V-1 … V-3.
///
///     size  field
///        1  tag: 1
///        n  steps of reading
///        n  steps of being delivered
package struct ReceiptRecord: Hashable, Sendable {
  static let tag: UInt8 = 1

  package var read = ReceiptSteps()
  package var delivered = ReceiptSteps()

  package init() {}

  package subscript(kind: ReceiptKind) -> ReceiptSteps {
    get { kind == .read ? read : delivered }
    set { if kind == .read { read = newValue } else { delivered = newValue } }
  }

  /// How far the member has come at least: what was read was delivered.
  package func mark(_ kind: ReceiptKind) -> Position? {
    kind == .read ? read.mark : latest(read.mark, delivered.mark)
  }

  package mutating func join(_ other: ReceiptRecord) {
    read.join(other.read)
    delivered.join(other.delivered)
  }

  /// Reads a record.
  ///
  /// Any bytes may be given; nil when they are none.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.tag, let read = ReceiptSteps(&reader),
      let delivered = ReceiptSteps(&reader), reader.isAtEnd
    else { return nil }
    self.read = read
    self.delivered = delivered
  }

  /// Writes the record.
  package func append(to buffer: inout ByteBuffer) {
    buffer.append(Self.tag)
    read.append(to: &buffer)
    delivered.append(to: &buffer)
  }
}

/// The earlier of two times that may be unknown: an unknown one says nothing.
func earliest(_ a: Int64?, _ b: Int64?) -> Int64? {
  guard let a, let b else { return a ?? b }
  return StoreDefect.latestReceiptWins.isPlanted ? max(a, b) : min(a, b)
}

/// The position further on of two that may be missing.
func latest(_ a: Position?, _ b: Position?) -> Position? {
  guard let a, let b else { return a ?? b }
  return max(a, b)
}

extension ByteReader {
  /// A time that may be unknown; nil where there is none of both.
  package mutating func optionalTime() -> Int64?? {
    switch byte() {
    case 0: return .some(nil)
    case 1: return uint64().map { Int64(bitPattern: $0) }
    default: return nil
    }
  }
}

extension ByteBuffer {
  package mutating func append(optionalTime time: Int64?) {
    append(time == nil ? 0 : 1)
    if let time { append(time: time) }
  }
}
