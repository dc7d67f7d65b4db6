import MsgStore
import PageFile

/// Restores exported messages and facts in their stored form, without the rules for state
/// transitions.
struct Restoring: TransactionPart {
  let transaction: Transaction

  func restore(
    _ message: ExportedMessage, as arrival: Arrival
  ) throws(StoreError) -> Bool {
    try Self.validateExported(message)
    let conversation = try transaction.conversation(message.conversation) {
      ConversationDetails(id: message.conversation)
    }
    let number = conversation.number
    let id = message.id
    let key = message.serverName ?? id
    for name in [id, key] + message.aliases {
      if try view.ids.entry(of: name, in: number) != nil { return false }
    }
    transaction.noteAddition()
    var stored = try stored(message, as: arrival)
    var place = placeFacts(message)
    try restore(message.facts, of: id, in: number) { (version) throws(StoreError) in
      guard !message.isRetracted else { return }
      try transaction.messageFacts.mergeVersion(version, into: &stored, named: id, in: number)
    }
    let waiting = try transaction.waitingMessages.takeWaiting(id, in: number)
    if !message.own.isEmpty, !message.isRetracted {
      // The long values of what waited lie under the name of the message already.
      if let waiting { stored.traits.ownFields = waiting.traits.ownFields }
      try transaction.messageFacts.mergeOwnFields(
        message.own.all, into: &stored.traits.ownFields, of: id, in: number)
    }
    if let waiting {
      try transaction.receivedMessages.absorb(waiting, named: id, into: &stored, in: number)
      if place == nil { place = waiting.place } else { place?.merge(waiting.place) }
    }
    if message.isRetracted { try transaction.messageFacts.erase(&stored, named: id, in: number) }
    if waiting != nil || !message.facts.isEmpty || stored.traits.keptAttachments != nil {
      try transaction.messageFacts.noteFacts(of: id, in: number, &stored)
    }
    place?.keep(in: &stored)
    let acknowledged = place.flatMap { $0.isPlaced ? $0.place : nil }
    let position = MessagePosition(
      acknowledged ?? transaction.receivedMessages.newPendingPlace(&stored, in: conversation), key
    )
    if message.isLate, let mark = conversation.currentSummary.mark, position <= mark {
      stored.markOrdinal = conversation.currentSummary.markOrdinal
      if !stored.flags.contains(.history) { try noteLate(position, in: conversation) }
    }
    if let sequence = position.place.sequence {
      try transaction.sequences.note(sequence: sequence, in: conversation)
    }
    try transaction.messages.place(stored, at: position, in: conversation)
    try transaction.receipts.applyWaitingMarks(of: id, at: position, in: conversation)
    try transaction.receipts.applySequenceMarks(at: position, in: conversation)
    if stored.traits.marks.contains(.receipts) {
      try transaction.receipts.noteReceipts(at: position, in: conversation)
    }
    return true
  }

  /// Makes the search for unread messages below the read mark begin at or before a position.
  private func noteLate(
    _ position: MessagePosition, in conversation: OpenConversation
  ) throws(StoreError) {
    var own = try transaction.receipts.own(conversation)
    if let late = own.lateFrom, late <= position { return }
    own.lateFrom = position
    transaction.receipts.keepOwn(own, conversation)
  }

  private static func validateExported(_ message: ExportedMessage) throws(StoreError) {
    var plain = Message(
      id: message.id, in: message.conversation, from: message.sender, text: message.text,
      replyTo: message.replyTo)
    plain.mentions = message.mentions
    try ReceivedMessages.validateMessage(plain)
    try validateFacts(message.facts)
    try message.own.validate()
    try validateKept(message.keptAttachments)
    try message.serverName?.validate()
    try message.editServerName?.validate()
    for alias in message.aliases { try alias.validate() }
    guard message.aliases.count < MessageTraits.maximumNameCount else {
      throw .message(.tooManyNames, message.id, in: message.conversation)
    }
    guard message.pendingEdits.count <= MessageTraits.maximumPendingEditCount else {
      throw .message(.tooManyPendingEdits, message.id, in: message.conversation)
    }
  }

  static func validateFacts(_ facts: ExportedFacts) throws(StoreError) {
    for attachment in facts.attachments { try attachment.attachment.validate() }
    for reaction in facts.reactions { try reaction.reaction.validate() }
    for receipt in facts.receipts { try receipt.member.validate() }
    for tag in facts.tags { try tag.tag.validateSettable() }
    for mark in facts.waitingMarks { try mark.member.validate() }
    for version in facts.history {
      try ReceivedMessages.validate(text: version.text)
      for member in version.mentions { try member.validate() }
      try version.serverName?.validate()
      guard version.mentions.count <= MessageTraits.maximumMentionCount else {
        throw .input(
          .tooMany(
            .mentions,
            count: version.mentions.count, limit: MessageTraits.maximumMentionCount))
      }
    }
  }

  /// Returns the stored form of a message, without its facts.
  private func stored(
    _ message: ExportedMessage, as arrival: Arrival
  ) throws(StoreError) -> StoredMessage {
    let isPending = message.serverTimestamp == nil
    let status = message.status ?? message.assumedStatus
    var stored = StoredMessage(
      status: isPending ? status : max(status, .sent),
      sender: try transaction.memberNumber(of: message.sender), text: message.text)
    if (message.arrival ?? arrival) == .history { stored.flags.insert(.history) }
    if message.isComposed ?? message.isAssumedComposed { stored.flags.insert(.composed) }
    stored.localTime = message.localTime?.microseconds
    if isPending { stored.pendingSequence = message.sequence }
    stored.replyTo = message.replyTo
    if message.isSeen { stored.traits.marks.insert(.seen) }
    if message.isHidden { stored.traits.marks.insert(.hidden) }
    stored.traits.expiryTime = message.expiresAt?.microseconds
    stored.traits.editTime = message.editedAt?.microseconds
    if message.editedAt != nil { stored.traits.editName = message.editServerName }
    stored.traits.mentions = try transaction.memberNumbers(of: message.mentions).sorted()
    stored.traits.retractedAt = message.retractedAt?.microseconds
    stored.traits.deliveredAt = message.deliveredAt?.microseconds
    stored.traits.readAt = message.readAt?.microseconds
    if !message.isRetracted {
      stored.traits.keptAttachments = Self.kept(message.keptAttachments, message.attachmentsAt)
    }
    stored.traits.sending.retryCount = UInt64(max(0, message.retryCount))
    stored.traits.sending.retryAt = message.retryAt?.microseconds
    stored.traits.sending.failure = message.failure
    stored.traits.pendingEdits = message.pendingEdits.map(\.microseconds)
    if message.serverName != nil { stored.traits.names = [message.id] + message.aliases }
    stored.traits.revision = message.revision
    return stored
  }

  /// Returns the list of attachments that an edit has left; nil without its time.
  private static func kept(_ ids: [String], _ time: Timestamp?) -> KeptAttachments? {
    time.map { KeptAttachments(ids, at: $0.microseconds) }
  }

  private static func validateKept(_ ids: [String]) throws(StoreError) {
    guard ids.count <= KeptAttachments.maximumCount else {
      throw .input(.tooMany(.attachments, count: ids.count, limit: KeptAttachments.maximumCount))
    }
    for id in ids { try MessageAttachment(id: id, kind: .other).validate() }
  }

  /// Returns the known facts about a message's place.
  private func placeFacts(_ message: ExportedMessage) -> PlaceFacts? {
    let time = message.serverTimestamp?.microseconds
    guard let time, let sequence = message.sequence, let sequencedAt = message.sequencedAt else {
      return PlaceFacts(time, message.sequence, revision: message.revision)
    }
    var facts = PlaceFacts(time, nil, revision: message.revision)
    facts?.merge(PlaceFacts(sequencedAt.microseconds, sequence, revision: message.revision))
    return facts
  }

  /// Stores the facts of a message, whether it is here or waited for.
  private func restore(
    _ facts: ExportedFacts, of id: MessageID, in conversation: UInt32,
    version: (TextVersion) throws(StoreError) -> Void
  ) throws(StoreError) {
    for earlier in facts.history {
      try version(
        TextVersion(
          editTime: earlier.editedAt?.microseconds, text: earlier.text,
          mentions: try transaction.memberNumbers(of: earlier.mentions).sorted(),
          serverName: earlier.editedAt == nil ? nil : earlier.serverName))
    }
    for (index, attachment) in facts.attachments.enumerated() {
      var record = AttachmentRecord(
        attachment.attachment, index: attachment.index ?? UInt32(clamping: index),
        upload: attachment.upload, download: attachment.download)
      record.composed = attachment.unconfirmed.intersection(.composable)
      record.failureCounts = TransferCounts(
        uploads: Int(clamping: max(0, attachment.failedUploadCount)),
        downloads: Int(clamping: max(0, attachment.failedDownloadCount)))
      _ = try transaction.messageFacts.mergeAttachment(record, of: id, in: conversation)
    }
    // The record counts them when its message is stored.
    var counts: ReactionCounts?
    for given in facts.reactions {
      let record = ReactionRecord(
        time: given.reaction.time.microseconds, isRemoved: given.isRemoved,
        serverName: given.reaction.serverName)
      let member = try transaction.memberNumber(of: given.reaction.member)
      _ = try transaction.messageFacts.mergeReaction(
        record, given.reaction.emoji, member, of: id, in: conversation, counting: &counts)
    }
    for given in facts.tags {
      let record = TagRecord(time: given.time.microseconds, isRemoved: given.isRemoved)
      let number = try transaction.messageUpdates.tagNumber(of: given.tag)
      _ = try transaction.messageUpdates.merge(record, number, of: id, in: conversation)
    }
    for given in facts.receipts {
      var receipt = ExactReceipt()
      if given.isDelivered { receipt.join(.delivered, given.deliveredAt?.microseconds) }
      if given.isRead { receipt.join(.read, given.readAt?.microseconds) }
      guard receipt != ExactReceipt() else { continue }
      let member = try transaction.memberNumber(of: given.member)
      try transaction.receipts.join(receipt, of: member, with: id, in: conversation)
    }
    for mark in facts.waitingMarks {
      let key = transaction.receipts.waitingKey(
        conversation, id, mark.kind, try transaction.memberNumber(of: mark.member))
      try transaction.put(WaitingMark(mark.time?.microseconds), at: key)
    }
  }

  /// Merges further facts of a message that is here or waited for.
  func restore(
    _ facts: ExportedFacts, of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) {
    try id.validate()
    try conversation.validate()
    try Self.validateFacts(facts)
    let conversation = try transaction.conversation(conversation) {
      ConversationDetails(id: conversation)
    }
    let number = conversation.number
    transaction.noteAddition()
    // A retracted message has receipts only.
    let hasChanged = try transaction.messageUpdates.withFacts(
      of: id, in: conversation, keepsRetracted: true
    ) { (own, _) throws(StoreError) in
      try restore(facts, of: own, in: number) { (version) throws(StoreError) in
        try transaction.messageFacts.putVersion(version, of: own, in: number)
      }
      return true
    }
    guard hasChanged, case .here(let position)? = try view.ids.entry(of: id, in: number) else {
      return
    }
    let message = try flushed().messages.message(at: position, in: number)
    try transaction.receipts.applyWaitingMarks(
      of: message.id(at: position), at: position, in: conversation)
    if message.traits.marks.contains(.receipts) {
      try transaction.receipts.noteReceipts(at: position, in: conversation)
    }
  }

  /// Stores facts that wait for a message; returns false if one of its names is in use.
  func restore(_ waiting: ExportedWaiting) throws(StoreError) -> Bool {
    try waiting.id.validate()
    try waiting.conversation.validate()
    for alias in waiting.aliases { try alias.validate() }
    guard waiting.aliases.count <= MessageTraits.maximumNameCount else {
      throw .message(.tooManyNames, waiting.id, in: waiting.conversation)
    }
    try Self.validateFacts(waiting.facts)
    try Self.validateKept(waiting.keptAttachments)
    try waiting.own.validate()
    let conversation = try transaction.conversation(waiting.conversation) {
      ConversationDetails(id: waiting.conversation)
    }
    let number = conversation.number
    for name in [waiting.id] + waiting.aliases {
      guard try view.ids.entry(of: name, in: number) == nil,
        try transaction.waitingMessages.waiting(name, in: number) == nil
      else { return false }
    }
    try transaction.waitingMessages.noteWaiting(waiting.id, in: number) {
      (facts) throws(StoreError) in
      facts.status = waiting.status
      facts.time = waiting.serverTimestamp?.microseconds
      facts.sequence = waiting.sequence
      if waiting.isSeen { facts.traits.marks.insert(.seen) }
      if waiting.isRetracted { facts.traits.marks.insert(.retracted) }
      facts.traits.expiryTime = waiting.expiresAt?.microseconds
      facts.traits.retractedAt = waiting.retractedAt?.microseconds
      facts.traits.deliveredAt = waiting.deliveredAt?.microseconds
      facts.traits.readAt = waiting.readAt?.microseconds
      if !waiting.isRetracted {
        facts.traits.keptAttachments = Self.kept(waiting.keptAttachments, waiting.attachmentsAt)
      }
      facts.traits.names = waiting.aliases
      facts.traits.revision = waiting.revision
      facts.traits.sequencedTime = waiting.sequencedAt?.microseconds
      if !waiting.isRetracted {
        try transaction.messageFacts.mergeOwnFields(
          waiting.own.all, into: &facts.traits.ownFields, of: waiting.id, in: number)
      }
    }
    for alias in waiting.aliases {
      try transaction.messageNames.writeEntry(.alias(of: waiting.id), of: alias, in: number)
    }
    try restore(waiting.facts, of: waiting.id, in: number) { (version) throws(StoreError) in
      try transaction.messageFacts.putVersion(version, of: waiting.id, in: number)
    }
    return true
  }

  func restoreUnneededFile(_ path: String) throws(StoreError) {
    try MessageAttachment(id: "file", kind: .other, localPath: path).validate()
    if path.isEmpty { return }
    transaction.noteAddition()
    try transaction.messageFacts.listUnneeded(path)
  }

  /// Stores that a message was deleted here; returns false if its name is in use.
  func restoreDeleted(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    try id.validate()
    try conversation.validate()
    let open = try transaction.conversation(conversation) {
      ConversationDetails(id: conversation)
    }
    guard try view.ids.entry(of: id, in: open.number) == nil,
      try transaction.waitingMessages.waiting(id, in: open.number) == nil
    else { return false }
    transaction.noteAddition()
    try transaction.messageNames.writeEntry(.deleted, of: id, in: open.number)
    return true
  }
}

extension Transaction {
  var restoring: Restoring { Restoring(transaction: self) }
}
