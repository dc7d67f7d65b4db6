import PageFile

/// Merges marks of members that the server states as sequences.
///
/// See docs/message-format.md, V-12.
///
///  1. A mark up to a sequence is kept as such, so it can come before its message, and marks join
///     in any order. Beside it lies the place of the last message without a greater sequence, at
///     which it counts as an ordinary mark. Readers need nothing else.
///  2. A message that comes with such a sequence behind that place raises it. Messages with greater
///     sequences than all marks, and those before all their places, cost a comparison: the own
///     record has both limits.
extension Receipts {
  /// Joins a mark up to a sequence.
  ///
  /// Costs a walk along the messages with greater sequences. Returns true if anything changed.
  ///
  /// - Parameter known: A place that the mark has reached at least, as an export says.
  package func mark(
    _ kind: ReceiptKind, upTo sequence: Int64, at known: MessagePosition? = nil, _ time: Int64?,
    of member: UInt32, in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    let number = conversation.number
    let found = try flushed().receipts.lastPosition(upTo: sequence, in: number)
    let position = latest(found, known)
    let old = try view.receipts.receipts(of: member, in: number)
    var new = old
    new[kind].join(sequence: sequence, at: position, time)
    guard new != old else { return false }
    view.source[.sequenceMarks] = 1
    try change(
      kind, from: old, to: new, by: position, time, of: member, in: conversation)
    var own = try transaction.receipts.own(conversation)
    let before = own
    own.widen(bound: sequence, floor: position)
    if own != before { keepOwn(own, conversation) }
    return true
  }

  /// True if the store has ever had a mark up to a sequence.
  var hasSequenceMarks: Bool { view.source[.sequenceMarks] != 0 }

  /// Raises the marks that cover a message which has come to a place.
  package func applySequenceMarks(
    at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    guard let sequence = position.place.sequence, !position.place.isPending, hasSequenceMarks,
      !StoreDefect.sequenceMarksStay.isPlanted
    else { return }
    let known = try transaction.receipts.own(conversation)
    guard let bound = known.sequenceBound, sequence <= bound,
      known.sequenceFloor.map({ $0 < position }) ?? true
    else { return }
    let number = conversation.number
    var raised: [(member: UInt32, old: ReceiptRecord, new: ReceiptRecord)] = []
    var floor = MessagePosition.end as MessagePosition?
    try view.receipts.forEachReceipts(number) { (member, old) in
      var new = old
      for kind in ReceiptKind.allCases {
        new[kind].raise(sequence, to: position)
        for step in new[kind].sequences {
          floor = floor.flatMap { floor in step.position.map { min(floor, $0) } }
        }
      }
      if new != old { raised.append((member, old, new)) }
      return true
    }
    for (member, old, new) in raised {
      if transaction.hasListeners {
        transaction.notes.delivered(between: nil, and: position, in: number)
      }
      try writeReceipts(new, of: member, in: number)
      try marksChanged(of: member, from: old, to: new, in: conversation)
    }
    var own = try transaction.receipts.own(conversation)
    if own.sequenceFloor == floor { return }
    own.sequenceFloor = floor == .end ? nil : floor
    keepOwn(own, conversation)
  }

  /// Raises the marks that cover messages which have come to places, given in order.
  func applySequenceMarks(
    at places: some Sequence<MessagePosition>, in conversation: OpenConversation
  ) throws(StoreError) {
    guard hasSequenceMarks else { return }
    for position in places { try applySequenceMarks(at: position, in: conversation) }
  }

  /// Notes that marks up to sequences may have places before all that were known.
  func forgetFloor(of conversation: OpenConversation) throws(StoreError) {
    var own = try transaction.receipts.own(conversation)
    guard own.sequenceFloor != nil else { return }
    own.sequenceFloor = nil
    keepOwn(own, conversation)
  }
}

extension ConversationReceipts {
  /// Takes in a mark up to a sequence, and its place.
  @inline(never)
  mutating func widen(bound: Int64, floor: MessagePosition?) {
    if let known = sequenceBound {
      sequenceBound = max(known, bound)
      sequenceFloor = sequenceFloor.flatMap { known in floor.map { min(known, $0) } }
    } else {
      (sequenceBound, sequenceFloor) = (bound, floor)
    }
  }
}
