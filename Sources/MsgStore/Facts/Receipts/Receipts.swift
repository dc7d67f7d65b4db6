package import PageFile

/// Merges received receipts.
///
/// They are facts that come in any order, any number of times, and possibly before their messages.
///
/// See docs/message-format.md, V-1 … V-5.
package struct Receipts: TransactionPart {
  package let transaction: Transaction

  func receiveReceipt(_ receipt: ReceivedReceipt) throws(StoreError) -> Bool {
    try receipt.validate()
    let conversation = try transaction.conversation(receipt.conversation) {
      ConversationDetails(id: receipt.conversation)
    }
    let member = try transaction.memberNumber(of: receipt.member)
    let time = receipt.time?.microseconds
    switch receipt.extent {
    case .upTo(let id):
      return try mark(receipt.kind, upTo: id, time, of: member, in: conversation)
    case .upToPosition(let position):
      switch position.place.phase {
      case .acknowledged:
        return try mark(receipt.kind, upTo: position, time, of: member, in: conversation)
      case .pending:
        return try mark(receipt.kind, upTo: position.id, time, of: member, in: conversation)
      case .start, .end:
        return false
      }
    case .upToSequence(let sequence):
      return try mark(
        receipt.kind, upTo: sequence, time, of: member, in: conversation)
    case .messages(let ids):
      var isChanged = false
      for id in ids
      where try markExactly(receipt.kind, id, time, of: member, in: conversation) {
        isChanged = true
      }
      return isChanged
    }
  }

  /// Marks a member's receipts up to a message.
  ///
  /// The mark waits while the message has no place that all stores agree on.
  @inline(never)
  private func mark(
    _ kind: ReceiptKind, upTo id: MessageID, _ time: Int64?, of member: UInt32,
    in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    guard let (id, position) = try transaction.messageNames.resolve(id, in: conversation.number)
    else { return false }
    if let position, !position.place.isPending {
      return try mark(kind, upTo: position, time, of: member, in: conversation)
    }
    let key = waitingKey(conversation.number, id, kind, member)
    let known: WaitingMark? = try view.record(key)
    let joined = WaitingMark(earliest(known?.time, time))
    if joined == known { return false }
    transaction.hasAdded = true
    try transaction.put(joined, at: key)
    if position == nil { try transaction.waitingMessages.noteWaiting(id, in: conversation.number) }
    return true
  }

  @inline(never)
  private func mark(
    _ kind: ReceiptKind, upTo position: MessagePosition, _ time: Int64?, of member: UInt32,
    in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    let old = try view.receipts.receipts(of: member, in: conversation.number)
    var new = old
    new[kind].join(position, time)
    guard new != old else { return false }
    try change(kind, from: old, to: new, by: position, time, of: member, in: conversation)
    return true
  }

  /// Writes a member's marks of which one was joined.
  @inline(never)
  func change(
    _ kind: ReceiptKind, from old: ReceiptRecord, to new: ReceiptRecord,
    by position: MessagePosition?, _ time: Int64?, of member: UInt32,
    in conversation: OpenConversation
  ) throws(StoreError) {
    transaction.hasAdded = true
    if transaction.hasListeners, let position {
      transaction.notes.delivered(
        between: old.firstChanged(kind, by: position, time), and: position, in: conversation.number)
    }
    try writeReceipts(new, of: member, in: conversation.number)
    try marksChanged(of: member, from: old, to: new, in: conversation)
  }

  private func markExactly(
    _ kind: ReceiptKind, _ id: MessageID, _ time: Int64?, of member: UInt32,
    in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    guard let (id, position) = try transaction.messageNames.resolve(id, in: conversation.number)
    else { return false }
    // The server knows of it, so a named receipt made here need not be told any more.
    var isTold = false
    if member == localMember {
      for known in ReceiptKind.allCases where known.rawValue <= kind.rawValue {
        if try forgetExact(known, id, in: conversation) { isTold = true }
      }
    }
    if isTold { try transaction.pendingReceipts.updatePending(conversation) }
    guard try join(kind, id, time, of: member, in: conversation) else { return isTold }
    let isOwnReading = member == localMember && kind == .read
    if let position {
      try set(
        isOwnReading ? [.receipts, .seen] : .receipts, at: position, conversation, told: member)
    } else {
      try transaction.waitingMessages.noteWaiting(id, in: conversation.number)
    }
    return true
  }

  /// Joins a named receipt with the stored one.
  ///
  /// Returns true if that added anything.
  @inline(never)
  func join(
    _ kind: ReceiptKind, _ id: MessageID, _ time: Int64?, of member: UInt32,
    in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    let key = FactKey.key(conversation.number, id, .receipt, member: member)
    let known: ExactReceipt? = try view.record(key)
    var receipt = known ?? ExactReceipt()
    receipt.join(kind, time)
    guard receipt != known else { return false }
    transaction.hasAdded = true
    try transaction.put(receipt, at: key)
    return true
  }

  /// Joins a named receipt with the one of another message.
  package func join(
    _ receipt: ExactReceipt, of member: UInt32, with id: MessageID, in conversation: UInt32
  ) throws(StoreError) {
    let key = FactKey.key(conversation, id, .receipt, member: member)
    let known: ExactReceipt? = try view.record(key)
    var joined = receipt
    if let known { joined.join(known) }
    try transaction.put(joined, at: key)
  }

  /// Moves the marks that wait for a message to another name of it.
  func moveWaitingMarks(
    of id: MessageID, in conversation: UInt32, to other: MessageID, in target: UInt32
  ) throws(StoreError) {
    for mark in try waitingMarks(of: id, in: conversation) {
      let key = waitingKey(target, other, mark.kind, mark.member)
      let known: WaitingMark? = try view.record(key)
      let time = earliest(known?.time, mark.time)
      try transaction.put(WaitingMark(time), at: key)
    }
  }

  /// Updates what depends on a member's marks after these have changed.
  package func marksChanged(
    of member: UInt32, from old: ReceiptRecord, to new: ReceiptRecord,
    in conversation: OpenConversation
  ) throws(StoreError) {
    if member == localMember {
      try tell(new.read.mark, to: conversation)
      for kind in ReceiptKind.allCases {
        try transaction.pendingReceipts.forgetTold(kind, in: conversation)
      }
      try transaction.pendingReceipts.updatePending(conversation)
      return
    }
    var own = try transaction.receipts.own(conversation)
    let before = own
    for kind in ReceiptKind.allCases where new.mark(kind) != old.mark(kind) {
      try marksRose(kind, of: member, &own, in: conversation)
    }
    if own != before { keepOwn(own, conversation) }
  }

  /// Sets the local member's mark as the server knows it.
  ///
  /// The messages that it covers are read.
  func tell(_ mark: MessagePosition?, to conversation: OpenConversation) throws(StoreError) {
    let old = conversation.summary
    guard mark != old.toldMark, !StoreDefect.toldMarkKept.isPlanted else { return }
    var summary = old
    summary.toldMark = mark
    if let mark, old.toldMark.map({ $0 < mark }) ?? true {
      summary.counted = try transaction.unreadCounts.countUnread(
        conversation, summary, was: old, after: mark)
    } else {
      summary.counted = try transaction.unreadCounts.countUnread(
        conversation.number, summary, after: mark ?? .start)
    }
    conversation.summary = summary
  }
}

extension ReceiptRecord {
  /// Returns the place behind which a new mark changes the status or the times of messages; nil for
  /// the start of the thread.
  ///
  /// A mark behind another one, one that makes another fall out, and one that says the first or an
  /// earlier time, tell of messages that were received already.
  fileprivate func firstChanged(
    _ kind: ReceiptKind, by position: MessagePosition, _ time: Int64?
  ) -> MessagePosition? {
    guard let mark = mark(kind), mark < position else { return nil }
    if StoreDefect.timesUntold.isPlanted { return mark }
    let marks = self[kind]
    if max(marks.steps.count, marks.sequences.count) == ReceiptSteps.maximumCount { return nil }
    guard let time else { return mark }
    var isLast = true
    for marks in [read, delivered] {
      marks.forEachMark { if $1.map({ $0 > time }) ?? true { isLast = false } }
    }
    return isLast ? mark : nil
  }
}

/// Operations that messages call.
extension Receipts {
  /// Applies the marks that waited for a message, once it has an acknowledged place.
  package func applyWaitingMarks(
    of id: MessageID, at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    guard !position.place.isPending, !StoreDefect.waitingMarksIgnored.isPlanted else { return }
    for mark in try waitingMarks(of: id, in: conversation.number) {
      let key = waitingKey(conversation.number, id, mark.kind, mark.member)
      try transaction.remove(key.bytes, in: Schema.facts)
      _ = try self.mark(
        mark.kind, upTo: position, mark.time, of: mark.member, in: conversation)
    }
  }

  func waitingMarks(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> [(kind: ReceiptKind, member: UInt32, time: Int64?)] {
    var waiting: [(kind: ReceiptKind, member: UInt32, time: Int64?)] = []
    let prefix = FactKey.prefix(conversation, id, .waitingMark)
    try view.forEachCell(with: prefix, in: Schema.facts) { (key, value) throws(StoreError) in
      guard key.count == prefix.count + 5, let kind = ReceiptKind(rawValue: key[prefix.count]),
        let member = key.bigEndianNumber(at: prefix.count + 1)
      else { throw view.corrupt(Schema.facts, "message \"\(id)\": malformed waiting mark") }
      let mark: WaitingMark = try view.decoded(value, at: key)
      waiting.append((kind, member, mark.time))
      return true
    }
    return waiting
  }

  /// Moves the marks that go up to a message along when it moves from one acknowledged place to
  /// another.
  ///
  /// Reads the receipts of all members.
  func moveMarks(
    from old: MessagePosition, to new: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    guard old != new, !old.place.isPending, !new.place.isPending else { return }
    if StoreDefect.marksStay.isPlanted { return }
    let view = try flushed()
    var moved: [(member: UInt32, record: ReceiptRecord)] = []
    try view.receipts.forEachReceipts(conversation.number) { (member, record) throws(StoreError) in
      var changed = record
      for kind in ReceiptKind.allCases {
        changed[kind].move(old, to: new)
        try changed[kind].resolve(where: { $0.position == old }) { (sequence) throws(StoreError) in
          try view.receipts.lastPosition(upTo: sequence, in: conversation.number)
        }
      }
      if changed != record { moved.append((member, changed)) }
      return true
    }
    guard !moved.isEmpty else { return }
    if transaction.hasListeners {
      transaction.notes.delivered(between: old, and: new, in: conversation.number)
    }
    for (member, record) in moved {
      try writeReceipts(record, of: member, in: conversation.number)
      if member == localMember { try tell(record.read.mark, to: conversation) }
    }
    try forgetFloor(of: conversation)
    try membershipChanged(conversation)
  }

  /// Returns the bits that waiting receipts set in the traits of a message that comes, to be set
  /// before it is counted.
  func receiptMarks(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> MessageTraits.Bits {
    let exact = try view.facts.exactReceipts(of: id, in: conversation)
    guard !exact.isEmpty, !StoreDefect.waitingReceiptsIgnored.isPlanted else { return [] }
    let isSeen = exact.contains { $0.member == localMember && $0.receipt.isRead }
    return isSeen ? [.receipts, .seen] : .receipts
  }

  @inline(never)
  package func waitingKey(
    _ conversation: UInt32, _ id: MessageID, _ kind: ReceiptKind, _ member: UInt32
  ) -> ByteBuffer {
    FactKey.prefix(conversation, id, .waitingMark).appending(kind.rawValue).appending(member)
  }
}

/// Writes receipts, and the bits of messages that announce them.
extension Receipts {
  @inline(never)
  package func writeReceipts(
    _ record: ReceiptRecord, of member: UInt32, in conversation: UInt32
  ) throws(StoreError) {
    try transaction.put(record, at: ReceiptKey.member(conversation, member))
  }

  /// Finds out for whom a message with receipts by name waits.
  package func noteReceipts(
    at position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    try set([], at: position, conversation, told: 0)
  }

  /// Sets bits in the traits of a message that is here, and updates the counts.
  ///
  /// - Parameter member: The member of whom there is a receipt by name now; 0 for any.
  /// - Returns: True if any of the bits was new.
  @discardableResult
  func set(
    _ marks: MessageTraits.Bits, at position: MessagePosition, _ conversation: OpenConversation,
    told member: UInt32? = nil
  ) throws(StoreError) -> Bool {
    let value = try flushed().messages.record(at: position, in: conversation.number)
    guard var record = MessageRecord(value.bytes), var traits = record.traits() else {
      throw view.corrupt(Schema.messages, "message \"\(position.id)\": malformed record")
    }
    let isNew = !traits.marks.isSuperset(of: marks)
    let old = record
    traits.marks.formUnion(marks)
    let isAwaited = try member.map { (member) throws(StoreError) in
      try updateAwaited(
        &traits, of: record, at: position, told: member, in: conversation)
    }
    guard isNew || isAwaited == true else { return false }
    var block = ByteBuffer()
    traits.append(to: &block)
    record.traitsBytes = block.bytes
    record.flags.insert(.traits)
    var new = ByteBuffer(capacity: value.count + 16)
    record.append(to: &new)
    try transaction.packer.writeRecord(new.bytes, at: position, in: conversation.number)
    transaction.unreadCounts.replaced(
      old, at: position, by: record, at: position, in: conversation)
    if traits.marks.contains(.receipts), conversation.summary.last?.position == position,
      !StoreDefect.namedReceiptUnlisted.isPlanted
    {
      conversation.summary.last?.needsRecord = true
    }
    return isNew
  }
}

extension Transaction {
  package var receipts: Receipts { Receipts(transaction: self) }
}
