import PageFile

/// Composes, edits, and retracts messages, and reacts to them, for the local member.
struct Composing: TransactionPart {
  let transaction: Transaction

  func send(_ message: Message) throws(StoreError) -> Message {
    let local = try transaction.localMemberID()
    guard message.sender == local else {
      throw .message(.notOwn, message.id, in: message.conversation)
    }
    try check(message.text, hasAttachment: !message.attachments.isEmpty)
    try ReceivedMessages.validateMessage(message)
    for attachment in message.attachments {
      // The source may be larger than the file uploaded in the end, which is checked then.
      var source = attachment
      source.byteCount = nil
      if let problem = rules.attachmentLimits.check(source) { throw .input(.attachment(problem)) }
    }
    if let open = try existingTarget(message.conversation) {
      try checkMembership(open, message.conversation)
      if try transaction.messageNames.entry(of: message.id, in: open) != nil {
        throw .message(.idInUse, message.id, in: message.conversation)
      }
    }
    // The status of a message that is sent again or forwarded does not apply to this one, except
    // that the sender may ask to hold it.
    let isHeld = message.status == .held ? true : try transaction.outboxEntering.holdsComposed
    var composed = Message(
      id: message.id, in: message.conversation, from: local, text: message.text,
      localTime: message.localTime ?? transaction.clock().nearestPlausible,
      status: isHeld ? .held : .pending, replyTo: message.replyTo)
    composed.mentions = message.mentions
    if let time = message.expiresAt { composed.expiresAt = time }
    composed.attachments = message.attachments
    if let own = message.rare?.fields.ownFields, !own.isEmpty {
      composed.setRare(\.ownFields, own)
    }
    let outcome = try transaction.receivedMessages.insert(
      valid: composed, as: .live, isNameFree: true)
    guard outcome == .inserted else {
      throw .message(.idInUse, message.id, in: message.conversation)
    }
    guard let open = try transaction.existingConversation(message.conversation) else {
      throw view.corrupt(Schema.conversations, "missing conversation after a write")
    }
    try transaction.outboxEntering.enterSend(composed, in: open.number)
    // Mostly it is the last one by now.
    let last = open.summary.last?.position
    let position =
      if let last, last.id == message.id { last } else {
        try view.ids.position(of: message.id, in: open.number)
      }
    guard let position,
      let stored = try flushed().threads.message(
        at: position, in: open.number, named: try transaction.name(of: open.number))
    else { throw view.corrupt(Schema.messages, "missing message after a write") }
    return stored
  }

  /// Returns the conversation of a message to be sent; nil if sending makes it.
  private func existingTarget(_ id: ConversationID) throws(StoreError) -> OpenConversation? {
    if rules.createsConversationsOnSend { return try transaction.existingConversation(id) }
    return try transaction.conversations.knownConversation(id)
  }

  /// Refuses an act in a conversation to which the local member is known not to belong.
  ///
  /// A conversation of which no members are known counts as the local member's.
  func checkMembership(
    _ conversation: OpenConversation, _ id: ConversationID
  ) throws(StoreError) {
    if try transaction.hasLeft(conversation) { throw .conversation(.notAMember, id) }
  }

  /// Refuses a composed text beyond the limits.
  func check(_ text: String, hasAttachment: Bool) throws(StoreError) {
    if let problem = rules.textLimits.check(text, hasAttachment: hasAttachment).problem {
      throw .input(.text(problem))
    }
  }
}

extension Composing {
  /// Edits a message of the local member.
  ///
  /// Returns the time of the edit, by which the server's answer names it; nil if nothing changes.
  /// Throws an error if the message is not here, is retracted, or belongs to another member, if the
  /// text is beyond the limits, or if too many edits of the message are pending.
  func edit(
    _ id: MessageID, in conversation: ConversationID, text: String, mentions: [MemberID]
  ) throws(StoreError) -> Timestamp? {
    try ReceivedMessages.validate(mentions: mentions)
    let target = try ownMessage(id, in: conversation)
    let old = target.message
    try check(text, hasAttachment: old.traits.marks.contains(.attachments))
    if old.text.hasSameBytes(as: text), try isMentioning(mentions, old) { return nil }
    if try isOlder(target, than: rules.maximumEditAge) {
      throw .message(.tooOldToEdit, id, in: conversation)
    }
    guard old.traits.pendingEdits.count < MessageTraits.maximumPendingEditCount else {
      throw .message(.tooManyPendingEdits, id, in: conversation)
    }
    let numbers = Array(Set(try transaction.memberNumbers(of: mentions))).sorted()
    let time = Conversations.provisionalTime(
      after: old.traits.editTime, old.traits.pendingEdits.max(),
      try transaction.conversations.newestServerTime(in: target.conversation))
    var new = old
    try transaction.messageFacts.mergeVersion(
      TextVersion(editTime: time, text: text, mentions: numbers), into: &new,
      named: target.id, in: target.conversation.number,
      isAlone: !old.traits.marks.contains(.versions))
    new.traits.pendingEdits.append(time)
    new.traits.sending.failure = nil
    try transaction.messages.replace(
      old, at: target.position, with: new, at: target.position, in: target.conversation)
    try transaction.outboxEntering.enter(
      .edit(target.id, at: time), of: target.conversation.number)
    return Timestamp(microseconds: time)
  }

  /// Returns true if a message mentions exactly these members.
  ///
  /// Assigns no numbers.
  private func isMentioning(
    _ mentions: [MemberID], _ message: StoredMessage
  ) throws(StoreError) -> Bool {
    var numbers: Set<UInt32> = []
    for mention in mentions {
      guard let number = try view.number(of: mention) else {
        return false
      }
      numbers.insert(number)
    }
    return message.traits.mentions == numbers.sorted()
  }

  /// Retracts a message of the local member.
  ///
  /// The message is hidden at once. One that never left is removed, or is erased if only its status
  /// shows that it never left. For any other the server has to be told, and confirms or refuses the
  /// retraction.
  func retract(_ id: MessageID, in conversation: ConversationID) throws(StoreError) -> Bool {
    let target = try ownMessage(id, in: conversation)
    if try isOlder(target, than: rules.maximumRetractionAge) {
      throw .message(.tooOldToRetract, id, in: conversation)
    }
    let number = target.conversation.number
    let known = try transaction.outboxEntering.mayHaveLeft(target.id, in: number)
    if known == false {
      try transaction.outboxEntering.enterRetraction(of: target.id, mayHaveLeft: false, in: number)
      view.source.isErasing = true
      _ = try transaction.receivedMessages.takeOut(target.position, of: target.conversation)
      try transaction.pendingReceipts.updatePending(target.conversation)
      return true
    }
    var new = target.message
    new.traits.retractedAt = transaction.recordedTime()
    let mayHaveLeft = known ?? ![.pending, .held].contains(new.status)
    if mayHaveLeft {
      new.traits.marks.insert(.hidden)
      new.traits.sending.failure = nil
    } else {
      try transaction.messageFacts.erase(&new, named: target.id, in: number)
    }
    try transaction.messages.replace(
      target.message, at: target.position, with: new, at: target.position,
      in: target.conversation)
    try transaction.outboxEntering.enterRetraction(
      of: target.id, mayHaveLeft: mayHaveLeft, in: number)
    return true
  }

  /// Returns true if the server's own times show that a message is older than a limit.
  ///
  /// Only the server knows the present time, and has the last word.
  private func isOlder(_ target: Target, than limit: Duration?) throws(StoreError) -> Bool {
    guard let limit = limit?.microseconds, !target.position.place.isPending,
      let newest = try transaction.conversations.newestServerTime(in: target.conversation)
    else { return false }
    let time = target.position.place.time
    let (age, isOverflow) = newest.subtractingReportingOverflow(time)
    return newest > time && (isOverflow || age > limit)
  }

  /// Adds a reaction of the local member, or removes it.
  ///
  /// Returns true if anything changed.
  func react(
    _ emoji: String, isRemoved: Bool, to id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    let local = try transaction.localMemberID()
    try Reaction(emoji, from: local, at: Timestamp(microseconds: 0)).validate()
    let target = try ownTarget(id, in: conversation)
    guard let member = localMember else { throw .noLocalMember }
    let old = try transaction.messageFacts.reaction(
      emoji, of: member, to: target.id, in: target.conversation.number)
    guard (old?.isRemoved ?? true) != isRemoved else { return false }
    let time = Conversations.provisionalTime(
      after: old?.time, try transaction.conversations.newestServerTime(in: target.conversation))
    let record = ReactionRecord(time: time, isRemoved: isRemoved)
    let number = target.conversation.number
    let isNews = try transaction.messageUpdates.merge(
      record, emoji, of: member, to: id, in: target.conversation)
    if isNews {
      try transaction.outboxEntering.enterReaction(
        emoji, isRemoved: isRemoved, to: target.id, in: number)
    }
    return isNews
  }
}

extension Composing {
  func prepareUpload(
    _ prepared: MessageAttachment, of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Bool {
    let target = try ownMessage(id, in: conversation)
    let number = target.conversation.number
    let key = FactKey.key(number, target.id, attachment: prepared.id)
    guard let old = try view.facts.attachmentRecord(key.bytes) else { return false }
    var new = old
    new.attachment = prepared.filled(from: old.attachment)
    if let problem = rules.attachmentLimits.check(new.attachment) {
      throw .input(.attachment(problem))
    }
    let told = AttachmentFields.told(by: prepared).intersection(.composable)
    new.composed.formUnion(told)
    if !new.upload.isRunning { new.step(.upload, to: .queued) }
    let isReleased = try transaction.outboxUploads.releasePrepared(
      prepared.id, of: target.id, in: number)
    if new == old { return isReleased }
    return try transaction.messageUpdates.withFacts(of: id, in: target.conversation) {
      (_, _) throws(StoreError) in
      try transaction.messageFacts.writeAttachment(new, replacing: old, at: key.bytes)
      return true
    }
  }
}

extension Transaction {
  var composing: Composing { Composing(transaction: self) }
}

/// Finds the messages on which the local member may act.
extension Composing {
  /// A message that the local member is about to change.
  struct Target {
    var conversation: OpenConversation
    var position: MessagePosition
    var message: StoredMessage
    var id: MessageID
  }

  /// Returns the message that the local member acts on, which must be here and not retracted.
  func ownTarget(
    _ id: MessageID, in conversation: ConversationID, checksMembership: Bool = true
  ) throws(StoreError) -> Target {
    guard let open = try transaction.existingConversation(conversation),
      let position = try view.ids.position(of: id, in: open.number)
    else { throw .message(.notFound, id, in: conversation) }
    if checksMembership { try checkMembership(open, conversation) }
    let message = try flushed().messages.message(at: position, in: open.number)
    if message.traits.isRetracted { throw .message(.retracted, id, in: conversation) }
    return Target(
      conversation: open, position: position, message: message, id: message.id(at: position))
  }

  /// Returns a message on which only its author may act.
  @inline(never)
  func ownMessage(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Target {
    guard let localMember else { throw .noLocalMember }
    let target = try ownTarget(id, in: conversation)
    guard target.message.sender == localMember else {
      throw .message(.notOwn, id, in: conversation)
    }
    return target
  }
}
