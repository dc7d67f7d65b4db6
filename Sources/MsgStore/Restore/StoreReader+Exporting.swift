import PageFile

/// Reading all that is stored of messages.
extension StoreReader {
  /// How many values are made at once.
  private static let batchCount = 200

  /// Makes values of the cells whose keys have a prefix, in order, and hands them out.
  ///
  /// They are made some at a time, so that no page has to stay where it is while somebody works with
  /// them.
  ///
  /// - Parameter make: Gets what a key has behind the prefix, and the value; nil passes over a cell.
  func forEach<Value>(
    with prefix: borrowing ByteBuffer, in tree: TreeNumber,
    make: (_ rest: Bytes, _ value: Bytes) throws(StoreError) -> Value?,
    _ body: (Value) throws -> Void
  ) throws {
    var next = ByteBuffer()
    next.append(prefix.bytes)
    var values: [Value] = []
    repeat {
      values.removeAll(keepingCapacity: true)
      let start = next.bytes.array()
      next.removeAll()
      try within { () throws(StoreError) in
        var cursor = Cursor(source, tree)
        var key = ByteBuffer()
        key.append(start)
        var value = ByteBuffer()
        try storage { () throws(PageFileError) in
          if key.count == 0 { _ = try cursor.first() } else { _ = try cursor.seek(key.bytes) }
        }
        while cursor.isAtCell, cursor.keyHasPrefix(prefix.bytes) {
          key.removeAll()
          cursor.appendKey(to: &key)
          guard values.count < Self.batchCount else {
            next.append(key.bytes)
            return
          }
          value.removeAll()
          try append(cursor, to: &value)
          if let made = try make(key.bytes.dropFirst(prefix.count), value.bytes) {
            values.append(made)
          }
          try storage { () throws(PageFileError) in _ = try cursor.next() }
        }
      }
      for value in values { try body(value) }
    } while next.count > 0
  }

  /// All that is stored of a message.
  func exported(
    _ message: StoredMessage, at position: Position, in id: ConversationID, _ conversation: UInt32,
    _ summary: ConversationSummary
  ) throws(StoreError) -> ExportedMessage {
    let traits = message.traits
    var exported = ExportedMessage()
    exported.conversation = id
    exported.id = message.id(at: position)
    exported.sender = try member(message.sender)
    exported.text = message.text
    if position.place.isPending {
      exported.sequence = message.pendingSequence
    } else {
      exported.serverTimestamp = Timestamp(microseconds: position.place.time)
      exported.sequence = position.place.sequence
    }
    exported.localTime = time(message.localTime)
    exported.status = message.status == exported.assumedStatus ? nil : message.status
    exported.replyTo = message.replyTo
    exported.arrival = message.flags.contains(.history) ? .history : nil
    if let mark = summary.mark, position <= mark, !message.flags.contains(.history) {
      exported.isLate = message.markOrdinal == summary.markOrdinal
    }
    exported.isSeen = traits.marks.contains(.seen)
    exported.editedAt = time(traits.editTime)
    exported.mentions = try names(traits.mentions)
    exported.isUnsent = traits.marks.contains(.unsent)
    exported.unsentAt = time(traits.unsentAt)
    exported.isHidden = traits.marks.contains(.hidden)
    exported.deliveredAt = time(traits.deliveredAt)
    exported.readAt = time(traits.readAt)
    exported.retryCount = Int64(clamping: traits.sending.retryCount)
    exported.retryAt = time(traits.sending.retryAt)
    exported.failure = traits.sending.failure
    exported.pendingEdits = traits.pendingEdits.map(Timestamp.init(microseconds:))
    if !traits.names.isEmpty {
      exported.serverName = position.id
      exported.aliases = Array(traits.names.dropFirst())
    }
    exported.revision = traits.revision
    exported.sequencedAt = time(traits.sequencedTime)
    let isComposed = message.flags.contains(.composed)
    exported.isComposed = isComposed == exported.isAssumedComposed ? nil : isComposed
    if !traits.marks.isDisjoint(with: MessageTraits.Bits.facts) {
      exported.facts = try facts(of: exported.id, in: conversation)
    }
    if position.place.isPending {
      exported.facts.waitingMarks = try waitingMarks(of: exported.id, in: conversation)
    }
    return exported
  }

  /// All that waits for a message.
  func exported(
    _ waiting: WaitingFacts, of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> ExportedWaiting {
    let traits = waiting.traits
    var exported = ExportedWaiting()
    exported.conversation = try details(conversation).id
    exported.id = id
    exported.serverTimestamp = time(waiting.time)
    exported.sequence = waiting.sequence
    exported.status = waiting.status
    exported.isSeen = traits.marks.contains(.seen)
    exported.isUnsent = traits.marks.contains(.unsent)
    exported.unsentAt = time(traits.unsentAt)
    exported.deliveredAt = time(traits.deliveredAt)
    exported.readAt = time(traits.readAt)
    exported.aliases = traits.names
    exported.revision = traits.revision
    exported.sequencedAt = time(traits.sequencedTime)
    exported.facts = try facts(of: id, in: conversation)
    if exported.isUnsent {
      // Nobody will see what came before that was known.
      exported.facts.history = []
      exported.facts.attachments = []
      exported.facts.reactions = []
    }
    exported.facts.waitingMarks = try waitingMarks(of: id, in: conversation)
    return exported
  }

  /// What lies beside a message's record, or waits.
  private func facts(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> ExportedFacts {
    var facts = ExportedFacts()
    var versions = try versions(of: id, in: conversation)
    versions.sort { $0.precedes($1) }
    for version in versions {
      var exported = ExportedVersion()
      exported.text = version.text
      exported.editedAt = time(version.editTime)
      exported.mentions = try names(version.mentions)
      facts.history.append(exported)
    }
    for (index, record) in try attachmentRecords(of: id, in: conversation).enumerated() {
      var exported = ExportedAttachment(record.attachment)
      exported.index = Int(record.index) == index ? nil : record.index
      exported.upload = record.upload
      exported.download = record.download
      exported.unconfirmed = record.composed
      exported.failedUploadCount = Int64(record.failureCounts.uploads)
      exported.failedDownloadCount = Int64(record.failureCounts.downloads)
      facts.attachments.append(exported)
    }
    let prefix = FactKey.prefix(conversation, id, .reaction)
    try forEachFact(prefix) { (rest, value) throws(StoreError) in
      guard let number = rest.bigEndianNumber(at: 0), let record = ReactionRecord(value) else {
        throw corrupt(Schema.facts, "a reaction to message \"\(id)\" is no record")
      }
      facts.reactions.append(
        ExportedReaction(
          Reaction(
            rest.dropFirst(4).repairedText(), from: try member(number),
            at: Timestamp(microseconds: record.time)), isRemoved: record.isRemoved))
    }
    // Members' numbers differ between stores; names do not.
    facts.reactions.sort { a, b in
      a.reaction.member == b.reaction.member
        ? a.reaction.emoji.precedesByBytes(b.reaction.emoji)
        : a.reaction.member < b.reaction.member
    }
    for (member, receipt) in try exactReceipts(of: id, in: conversation) {
      var exported = ExportedReceipt()
      exported.member = try self.member(member)
      exported.isDelivered = receipt.isDelivered
      exported.deliveredAt = time(receipt.deliveredAt)
      exported.isRead = receipt.isRead
      exported.readAt = time(receipt.readAt)
      facts.receipts.append(exported)
    }
    facts.receipts.sort { $0.member < $1.member }
    return facts
  }

  private func waitingMarks(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> [ExportedWaitingMark] {
    var marks: [ExportedWaitingMark] = []
    let prefix = FactKey.prefix(conversation, id, .waitingMark)
    try forEachFact(prefix) { (rest, value) throws(StoreError) in
      var reader = ByteReader(value)
      guard rest.count == 5, let kind = ReceiptKind(rawValue: rest[0]),
        let number = rest.bigEndianNumber(at: 1), let microseconds = reader.optionalTime(),
        reader.isAtEnd
      else { throw corrupt(Schema.facts, "message \"\(id)\" has what is no waiting mark") }
      var exported = ExportedWaitingMark()
      exported.member = try member(number)
      exported.kind = kind
      exported.time = time(microseconds)
      marks.append(exported)
    }
    return marks.sorted { a, b in
      a.kind == b.kind ? a.member < b.member : a.kind.rawValue < b.kind.rawValue
    }
  }

  func names(_ numbers: [UInt32]) throws(StoreError) -> [MemberID] {
    var names: [MemberID] = []
    for number in numbers { names.append(try member(number)) }
    return names.sorted()
  }
}
