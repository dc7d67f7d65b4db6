/// The last few receipt marks of a member in a conversation, with the times at which they were
/// reached.
///
/// See docs/message-format.md, V-1 … V-3.
///
/// A mark covers every message whose position is not behind it. Steps therefore merge to the same
/// result in any order:
///  1. Two marks at one position are one, with the earlier of their times. An unknown time is later
///     than any.
///  2. The eight greatest positions are kept. A dropped mark is covered by all that stay, so no
///     receipt is lost. Only a time may be lost; the message then has that of the lowest step.
package struct ReceiptSteps: Hashable, Sendable, FieldRecord {
  /// A receipt mark, and the earliest known time at which it was reached.
  package struct Step: Hashable, Sendable {
    package fileprivate(set) var position: MessagePosition
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

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    var count = UInt8(steps.count)
    fields.fixed(&count, "number of steps, at most 8")
    fields.require(count <= Self.maximumCount)
    var last: MessagePosition?
    fields.elements(
      &steps, of: Step(position: .lowest), count: Int(count), "the steps, the greatest first"
    ) { fields, step in
      fields.position(&step.position, "an acknowledged position")
      let position = step.position
      fields.require(!position.place.isPending && last.map { position < $0 } ?? true)
      last = position
      fields.known(&step.time)
    }
  }
}

/// The receipts of a member in a conversation, as told by the server.
///
/// See docs/message-format.md, V-1 … V-3.
package struct ReceiptRecord: Hashable, Sendable, StoredRecord {
  package static let table = Table(Schema.receipts, "receipts of a member")
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

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.tag(1)
    fields.part(&read, "steps of reading")
    fields.part(&delivered, "steps of delivery")
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

/// A receipt mark that waits for its message: a fact of kind 6.
///
/// See docs/message-format.md, V-5.
package struct WaitingMark: Hashable, StoredRecord {
  package static let table = Table(Schema.facts, "waiting mark")
  /// The earliest time known.
  package private(set) var time: Int64?

  package init() {}

  package init(_ time: Int64?) { self.time = time }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.known(&time)
  }
}

/// The ordinal from which on a message is to be told by its name, in a store of version 4.
///
/// Later its key has it, see docs/message-format.md, V-7.
package struct NamedReceipt: Hashable, StoredRecord {
  package static let table = Table(Schema.receipts, "named receipt")
  package var ordinal: UInt64 = 0

  package init() {}

  init(_ ordinal: UInt64) { self.ordinal = ordinal }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.varint(&ordinal, "ordinal")
  }
}
