package import PageFile

/// The last few receipt marks of a member in a conversation, with the times at which they were
/// reached.
///
/// See docs/message-format.md, V-1 … V-3.
///
///     size  field
///        1  number of steps, at most 8
///            for each step, the greatest position first:
///      2+n  position, its byte count first
///      1+8  0; or 1 and the earliest time known
///
/// A mark covers every message whose position is not behind it. Steps therefore merge to the same
/// result in any order:
///  1. Two marks at one position are one, with the earlier of their times. An unknown time is later
///     than any.
///  2. The eight greatest positions are kept. A dropped mark is covered by all that stay, so no
///     receipt is lost. Only a time may be lost; the message then has that of the lowest step.
package struct ReceiptSteps: Hashable, Sendable {
  /// A receipt mark, and the earliest known time at which it was reached.
  package struct Step: Hashable, Sendable {
    package let position: MessagePosition
    package var time: Int64?
  }

  package static let maximumCount = 8

  /// The steps, the greatest position first.
  package private(set) var steps: [Step] = []

  package init() {}

  /// The last message that the member has reached.
  package var mark: MessagePosition? { steps.first?.position }

  package func covers(_ position: MessagePosition) -> Bool { mark.map { position <= $0 } ?? false }

  /// Returns the earliest time at which a mark covered a position.
  package func time(of position: MessagePosition) -> Int64? {
    steps.prefix { position <= $0.position }.compactMap(\.time).min()
  }

  package mutating func join(_ position: MessagePosition, _ time: Int64?) {
    let index = steps.firstIndex { $0.position <= position } ?? steps.count
    if index < steps.count, steps[index].position == position {
      steps[index].time = earliest(steps[index].time, time)
    } else if index < Self.maximumCount {
      steps.insert(Step(position: position, time: time), at: index)
      if steps.count > Self.maximumCount { steps.removeLast() }
    }
  }

  package mutating func join(_ other: ReceiptSteps) {
    for step in other.steps { join(step.position, step.time) }
  }

  /// Moves the mark at a message's old position to its new one.
  package mutating func move(_ old: MessagePosition, to new: MessagePosition) {
    guard let index = steps.firstIndex(where: { $0.position == old }) else { return }
    join(new, steps.remove(at: index).time)
  }

  init?(_ reader: inout ByteReader) {
    guard let count = reader.byte(), count <= Self.maximumCount else { return nil }
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

/// The receipts of a member in a conversation, as told by the server.
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

  /// Returns the mark that the member has reached at least: a read message was delivered.
  package func mark(_ kind: ReceiptKind) -> MessagePosition? {
    kind == .read ? read.mark : latest(read.mark, delivered.mark)
  }

  package mutating func join(_ other: ReceiptRecord) {
    read.join(other.read)
    delivered.join(other.delivered)
  }

  /// Decodes a record.
  ///
  /// Returns nil if the bytes are not a valid record; never traps.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.tag, let read = ReceiptSteps(&reader),
      let delivered = ReceiptSteps(&reader), reader.isAtEnd
    else { return nil }
    self.read = read
    self.delivered = delivered
  }

  /// Appends the record.
  package func append(to buffer: inout ByteBuffer) {
    buffer.append(Self.tag)
    read.append(to: &buffer)
    delivered.append(to: &buffer)
  }
}

/// Returns the earlier of two times, either of which may be unknown.
func earliest(_ a: Int64?, _ b: Int64?) -> Int64? {
  guard let a, let b else { return a ?? b }
  return StoreDefect.latestReceiptWins.isPlanted ? max(a, b) : min(a, b)
}

/// Returns the later of two positions, either of which may be missing.
func latest(_ a: MessagePosition?, _ b: MessagePosition?) -> MessagePosition? {
  guard let a, let b else { return a ?? b }
  return max(a, b)
}

extension ByteReader {
  /// Reads a time that may be unknown.
  ///
  /// Returns nil if the bytes are malformed.
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
