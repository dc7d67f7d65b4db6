import PageFile

/// Putting back what an export has read: the stored form itself, without any rule of what may become
/// of what.
extension WriteState {
  func restore(
    _ message: ExportedMessage, as arrival: Arrival
  ) throws(StoreError) -> Bool {
    try Self.validateExported(message)
    return try change { () throws(StoreError) in
      let conversation = try self.conversation(message.conversation) {
        ConversationDetails(id: message.conversation)
      }
      let number = conversation.number
      let id = message.id
      let key = message.serverName ?? id
      for name in [id, key] + message.aliases {
        if try reader.entry(of: name, in: number) != nil { return false }
      }
      hasAdded = true
      var stored = try stored(message, as: arrival)
      var place = placeFacts(message)
      try restore(message.facts, of: id, in: number) { (version) throws(StoreError) in
        guard !message.isUnsent else { return }
        try mergeVersion(version, into: &stored, named: id, in: number)
      }
      let waiting = try takeWaiting(id, in: number)
      if let waiting {
        try absorb(waiting, named: id, into: &stored, in: number)
        if place == nil { place = waiting.place } else { place?.merge(waiting.place) }
      }
      if message.isUnsent { try erase(&stored, named: id, in: number) }
      if waiting != nil || !message.facts.isEmpty { try noteFacts(of: id, in: number, &stored) }
      place?.keep(in: &stored)
      let acknowledged = place.flatMap { $0.isPlaced ? $0.place : nil }
      let position = Position(acknowledged ?? newPendingPlace(&stored, in: conversation), key)
      if message.isLate, let mark = conversation.summary.mark, position <= mark {
        stored.markOrdinal = conversation.summary.markOrdinal
        try noteLate(position, in: conversation)
      }
      if let sequence = position.place.sequence {
        try note(sequence: sequence, in: conversation)
      }
      try self.place(stored, at: position, in: conversation)
      try applyWaitingMarks(of: id, at: position, in: conversation)
      return true
    }
  }

  /// Lets a search for what is unread below the read mark begin early enough.
  private func noteLate(
    _ position: Position, in conversation: OpenConversation
  ) throws(StoreError) {
    var own = try receipts(conversation)
    if let late = own.lateFrom, late <= position { return }
    own.lateFrom = position
    try writeOwn(own, conversation)
  }

  private static func validateExported(_ message: ExportedMessage) throws(StoreError) {
    var plain = Message(
      id: message.id, in: message.conversation, from: message.sender, text: message.text,
      replyTo: message.replyTo)
    plain.mentions = message.mentions
    try validateMessage(plain)
    try validateFacts(message.facts)
    try message.serverName?.validate()
    for alias in message.aliases { try alias.validate() }
    guard message.aliases.count < MessageTraits.nameCountMax else {
      throw .tooManyNames(message.id, in: message.conversation)
    }
    guard message.pendingEdits.count <= MessageTraits.pendingEditCountMax else {
      throw .tooManyPendingEdits(message.id, in: message.conversation)
    }
  }

  static func validateFacts(_ facts: ExportedFacts) throws(StoreError) {
    for attachment in facts.attachments { try attachment.attachment.validate() }
    for reaction in facts.reactions { try reaction.reaction.validate() }
    for receipt in facts.receipts { try receipt.member.validate() }
    for mark in facts.waitingMarks { try mark.member.validate() }
    for version in facts.history {
      try validate(text: version.text)
      for member in version.mentions { try member.validate() }
      guard version.mentions.count <= MessageTraits.mentionCountMax else {
        throw .tooManyMentions(
          count: version.mentions.count, limit: MessageTraits.mentionCountMax)
      }
    }
  }

  /// The stored form of a message, without what is stored beside it.
  private func stored(
    _ message: ExportedMessage, as arrival: Arrival
  ) throws(StoreError) -> StoredMessage {
    let isPending = message.serverTimestamp == nil
    let status = message.status ?? message.assumedStatus
    var stored = StoredMessage(
      status: isPending ? status : max(status, .sent),
      sender: try memberNumber(of: message.sender), text: message.text)
    if (message.arrival ?? arrival) == .history { stored.flags.insert(.history) }
    if message.isComposed ?? message.isAssumedComposed { stored.flags.insert(.composed) }
    stored.localTime = message.localTime?.microseconds
    if isPending { stored.pendingSequence = message.sequence }
    stored.replyTo = message.replyTo
    if message.isSeen { stored.traits.marks.insert(.seen) }
    if message.isHidden { stored.traits.marks.insert(.hidden) }
    stored.traits.editTime = message.editedAt?.microseconds
    stored.traits.mentions = try memberNumbers(of: message.mentions).sorted()
    stored.traits.unsentAt = message.unsentAt?.microseconds
    stored.traits.deliveredAt = message.deliveredAt?.microseconds
    stored.traits.readAt = message.readAt?.microseconds
    stored.traits.sending.retryCount = UInt64(max(0, message.retryCount))
    stored.traits.sending.retryAt = message.retryAt?.microseconds
    stored.traits.sending.failure = message.failure
    stored.traits.pendingEdits = message.pendingEdits.map(\.microseconds)
    if message.serverName != nil { stored.traits.names = [message.id] + message.aliases }
    stored.traits.revision = message.revision
    return stored
  }

  /// What is known of a message's place.
  private func placeFacts(_ message: ExportedMessage) -> PlaceFacts? {
    let time = message.serverTimestamp?.microseconds
    guard let time, let sequence = message.sequence, let sequencedAt = message.sequencedAt else {
      return PlaceFacts(time, message.sequence, revision: message.revision)
    }
    var facts = PlaceFacts(time, nil, revision: message.revision)
    facts?.merge(PlaceFacts(sequencedAt.microseconds, sequence, revision: message.revision))
    return facts
  }

  /// Stores what lies beside a message's record, or waits for one.
  private func restore(
    _ facts: ExportedFacts, of id: MessageID, in conversation: UInt32,
    version: (TextVersion) throws(StoreError) -> Void
  ) throws(StoreError) {
    for earlier in facts.history {
      try version(
        TextVersion(
          editTime: earlier.editedAt?.microseconds, text: earlier.text,
          mentions: try memberNumbers(of: earlier.mentions).sorted()))
    }
    for (index, attachment) in facts.attachments.enumerated() {
      var record = AttachmentRecord(
        attachment.attachment, index: attachment.index ?? UInt32(clamping: index),
        upload: attachment.upload, download: attachment.download)
      record.composed = attachment.unconfirmed.intersection(.composable)
      record.failureCounts = TransferCounts(
        uploads: Int(clamping: max(0, attachment.failedUploadCount)),
        downloads: Int(clamping: max(0, attachment.failedDownloadCount)))
      _ = try mergeAttachment(record, of: id, in: conversation)
    }
    for given in facts.reactions {
      let record = ReactionRecord(
        time: given.reaction.time.microseconds, isRemoved: given.isRemoved)
      let member = try memberNumber(of: given.reaction.member)
      _ = try mergeReaction(record, given.reaction.emoji, member, of: id, in: conversation)
    }
    for given in facts.receipts {
      var receipt = ExactReceipt()
      if given.isDelivered { receipt.join(.delivered, given.deliveredAt?.microseconds) }
      if given.isRead { receipt.join(.read, given.readAt?.microseconds) }
      guard receipt != ExactReceipt() else { continue }
      let member = try memberNumber(of: given.member)
      let key = FactKey.key(conversation, id, .receipt, member: member)
      var value = ByteBuffer()
      receipt.appendChecked(to: &value)
      try insert(key.bytes, value.bytes, in: Schema.facts)
    }
    for mark in facts.waitingMarks {
      let key = waitingKey(conversation, id, mark.kind, try memberNumber(of: mark.member))
      var value = ByteBuffer()
      value.append(optionalTime: mark.time?.microseconds)
      try insert(key.bytes, value.bytes, in: Schema.facts)
    }
  }

  func restore(_ waiting: ExportedWaiting) throws(StoreError) -> Bool {
    try waiting.id.validate()
    try waiting.conversation.validate()
    for alias in waiting.aliases { try alias.validate() }
    guard waiting.aliases.count <= MessageTraits.nameCountMax else {
      throw .tooManyNames(waiting.id, in: waiting.conversation)
    }
    try Self.validateFacts(waiting.facts)
    return try change { () throws(StoreError) in
      let conversation = try self.conversation(waiting.conversation) {
        ConversationDetails(id: waiting.conversation)
      }
      let number = conversation.number
      for name in [waiting.id] + waiting.aliases {
        guard try reader.entry(of: name, in: number) == nil,
          try self.waiting(name, in: number) == nil
        else { return false }
      }
      try noteWaiting(waiting.id, in: number) { facts in
        facts.status = waiting.status
        facts.time = waiting.serverTimestamp?.microseconds
        facts.sequence = waiting.sequence
        if waiting.isSeen { facts.traits.marks.insert(.seen) }
        if waiting.isUnsent { facts.traits.marks.insert(.unsent) }
        facts.traits.unsentAt = waiting.unsentAt?.microseconds
        facts.traits.deliveredAt = waiting.deliveredAt?.microseconds
        facts.traits.readAt = waiting.readAt?.microseconds
        facts.traits.names = waiting.aliases
        facts.traits.revision = waiting.revision
        facts.traits.sequencedTime = waiting.sequencedAt?.microseconds
      }
      for alias in waiting.aliases {
        try writeEntry(.alias(of: waiting.id), of: alias, in: number)
      }
      try restore(waiting.facts, of: waiting.id, in: number) { (version) throws(StoreError) in
        try put(version, of: waiting.id, in: number)
      }
      return true
    }
  }

  func restoreDeleted(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try id.validate()
    try conversation.validate()
    return try change { () throws(StoreError) in
      let open = try self.conversation(conversation) { ConversationDetails(id: conversation) }
      guard try reader.entry(of: id, in: open.number) == nil,
        try waiting(id, in: open.number) == nil
      else { return false }
      hasAdded = true
      try writeEntry(.deleted, of: id, in: open.number)
      return true
    }
  }
}
