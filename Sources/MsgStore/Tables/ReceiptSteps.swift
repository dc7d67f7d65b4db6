/// The last few receipt marks of a member in a conversation, with the times at which they were
/// reached.
///
/// See docs/message-format.md, V-1 … V-3 and V-12.
///
/// A mark covers every message whose position is not behind it. Steps therefore merge to the same
/// result in any order:
///  1. Two marks at one position are one, with the earlier of their times. An unknown time is later
///     than any.
///  2. The eight greatest positions are kept. A dropped mark is covered by all that stay, so no
///     receipt is lost. Only a time may be lost; the message then has that of the lowest step.
package struct ReceiptSteps: Equatable, Sendable, FieldRecord {
  /// A receipt mark, and the earliest known time at which it was reached.
  package struct Step: Equatable, Sendable {
    package fileprivate(set) var position: MessagePosition
    package var time: Int64?
  }

  /// A mark up to a sequence, and the earliest known time at which it was reached.
  package struct SequenceStep: Equatable, Sendable {
    package fileprivate(set) var sequence: Int64
    package var time: Int64?
    /// The last place of a message that is here and has no greater sequence; nil without
    /// one.
    package internal(set) var position: MessagePosition?
  }

  package static let maximumCount = 8

  /// The steps, the greatest position first.
  package private(set) var steps: [Step] = []
  /// The marks up to sequences, the greatest first.
  package private(set) var sequences: [SequenceStep] = []

  package init() {}

  /// The last message that the member has reached.
  package var mark: MessagePosition? {
    let mark = steps.first?.position
    // An unlikely loop: most servers state marks up to messages.
    return sequences.isEmpty ? mark : sequences.reduce(mark) { latest($0, $1.position) }
  }

  @inline(never)
  package func covers(_ position: MessagePosition) -> Bool { mark.map { position <= $0 } ?? false }

  /// Returns the earliest time at which a mark covered a position.
  package func time(of position: MessagePosition) -> Int64? {
    var time = steps.prefix { position <= $0.position }.compactMap(\.time).min()
    for step in sequences {
      if let limit = step.position, position <= limit { time = earliest(time, step.time) }
    }
    return time
  }

  /// Runs `body` on all marks that have a place, with their times.
  package func forEachMark(_ body: (MessagePosition, Int64?) -> Void) {
    for step in steps { body(step.position, step.time) }
    for step in sequences {
      if let position = step.position { body(position, step.time) }
    }
  }

  /// Joins a mark up to a sequence; the eight greatest are kept.
  ///
  /// - Parameter position: The last place of a message without a greater sequence, if one is known.
  package mutating func join(sequence: Int64, at position: MessagePosition?, _ time: Int64?) {
    let index = sequences.firstIndex { $0.sequence <= sequence } ?? sequences.count
    if index < sequences.count, sequences[index].sequence == sequence {
      sequences[index].time = earliest(sequences[index].time, time)
      sequences[index].position = latest(sequences[index].position, position)
    } else if index < Self.maximumCount {
      sequences.insert(
        SequenceStep(sequence: sequence, time: time, position: position), at: index)
      if sequences.count > Self.maximumCount { sequences.removeLast() }
    }
  }

  /// Raises the places of the marks that cover a message with this sequence.
  mutating func raise(_ sequence: Int64, to position: MessagePosition) {
    for index in sequences.indices where sequence <= sequences[index].sequence {
      sequences[index].position = latest(sequences[index].position, position)
    }
  }

  /// Finds anew the places of the marks up to sequences for which `isWanted` holds.
  mutating func resolve(
    where isWanted: (SequenceStep) -> Bool = { _ in true },
    _ find: (Int64) throws(StoreError) -> MessagePosition?
  ) throws(StoreError) {
    for index in sequences.indices where isWanted(sequences[index]) {
      sequences[index].position = try find(sequences[index].sequence)
    }
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
    for step in other.sequences { join(sequence: step.sequence, at: step.position, step.time) }
  }

  /// Moves the mark at a message's old position to its new one.
  package mutating func move(_ old: MessagePosition, to new: MessagePosition) {
    guard let index = steps.firstIndex(where: { $0.position == old }) else { return }
    join(new, steps.remove(at: index).time)
  }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    var count = UInt8(steps.count) | UInt8(sequences.count) << 4
    fields.fixed(&count, "number of steps, plus 16 times that of sequences; each at most 8")
    let (stepCount, sequenceCount) = (Int(count & 15), Int(count >> 4))
    fields.require(stepCount <= Self.maximumCount && sequenceCount <= Self.maximumCount)
    visitSteps(&fields, count: stepCount)
    var last: Int64?
    fields.elements(
      &sequences, of: SequenceStep(sequence: 0), count: sequenceCount,
      "the sequences, the greatest first"
    ) { fields, step in
      fields.fixed(&step.sequence, "a sequence")
      let sequence = step.sequence
      fields.require(last.map { sequence < $0 } ?? true)
      last = sequence
      fields.known(&step.time)
      var position = step.position ?? .lowest
      let isPlaced = fields.follows(
        step.position != nil, "1 with the last place of a message up to it, else 0")
      if isPlaced {
        fields.position(&position, "this place")
        fields.require(!position.place.isPending)
      }
      step.position = isPlaced ? position : nil
    }
  }

  private mutating func visitSteps(
    _ fields: inout (some FieldVisitor & ~Copyable), count: Int
  ) {
    var last: MessagePosition?
    fields.elements(
      &steps, of: Step(position: .lowest), count: count, "the steps, the greatest first"
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
package struct ReceiptRecord: Equatable, Sendable, StoredRecord {
  package static let table = Table(
    Schema.conversations, "receipts of a member", keys: ReceiptKey.memberByteCount,
    mark: ReceiptKey.memberSuffix)
  package var read = ReceiptSteps()
  package var delivered = ReceiptSteps()

  package init() {}

  package subscript(kind: ReceiptKind) -> ReceiptSteps {
    get { kind == .read ? read : delivered }
    set { if kind == .read { read = newValue } else { delivered = newValue } }
  }

  /// Returns the mark that the member has reached at least: a read message was delivered.
  @inline(never)
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
@inline(never)
func latest(_ a: MessagePosition?, _ b: MessagePosition?) -> MessagePosition? {
  guard let a, let b else { return a ?? b }
  return max(a, b)
}

/// A receipt mark that waits for its message: a fact of kind 6.
///
/// See docs/message-format.md, V-5.
package struct WaitingMark: Equatable, StoredRecord {
  package static let table = Table(Schema.facts, "waiting mark")
  /// The earliest time known.
  package private(set) var time: Int64?

  package init() {}

  package init(_ time: Int64?) { self.time = time }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.known(&time)
  }
}
