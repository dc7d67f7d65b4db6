import PageFile

/// Stores, places, and deletes messages.
///
/// See docs/message-format.md, E-10 and G-1 … G-9. Copies of a message may be received in any order
/// and any number of times. All are merged field by field, so the same facts end in the same
/// message.
package struct ReceivedMessages: TransactionPart {
  package let transaction: Transaction

  func insert(_ message: Message, as arrival: Arrival) throws(StoreError) -> InsertOutcome {
    try Self.validateMessage(message)
    return try insert(valid: message, as: arrival)
  }

  /// Inserts a message that was validated.
  ///
  /// - Parameter isNameFree: True if the caller has found that no message has its name.
  func insert(
    valid message: Message, as arrival: Arrival, isNameFree: Bool = false
  ) throws(StoreError) -> InsertOutcome {
    let conversation = try transaction.conversation(message.conversation) {
      ConversationDetails(id: message.conversation)
    }
    if let time = message.serverTimestamp { transaction.noteHeard(time.microseconds) }
    if let sequence = message.sequence {
      try transaction.sequences.note(sequence: sequence, in: conversation)
    }
    var own = message.id
    switch isNameFree ? nil : try transaction.messageNames.entry(of: message.id, in: conversation) {
    case nil:
      break
    case .alias(let other)?:
      own = other
    case .deleted?:
      return .deleted
    case .here(let position)?:
      return try merge(message, arrival, at: position, in: conversation)
    }
    if conversation.summary.deletedUpTo != nil,
      try isDeleted(message, named: own, from: conversation)
    {
      return .deleted
    }
    conversation.reveal()
    try add(message, named: own, arrival, to: conversation)
    return .inserted
  }

  /// Returns true if a message that comes was deleted with its conversation.
  ///
  /// Its place is that of all the server's statements, also of those that came before. What waits
  /// for it then goes.
  @inline(never)
  private func isDeleted(
    _ message: Message, named id: MessageID, from conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    let waiting = try transaction.waitingMessages.waiting(id, in: conversation.number)
    var facts = PlaceFacts(message.serverTimestamp?.microseconds, message.sequence)
    if facts == nil {
      facts = waiting?.place
    } else if !StoreDefect.waitingPlaceIgnored.isPlanted {
      facts?.merge(waiting?.place)
    }
    guard let facts, facts.isPlaced, isDeleted(facts.place, in: conversation) else { return false }
    if waiting != nil {
      view.source.isErasing = true
      try transaction.waitingMessages.forget(id, in: conversation.number)
    }
    return true
  }

  /// Returns true if a message at this place was deleted with its conversation.
  func isDeleted(_ place: Place, in conversation: OpenConversation) -> Bool {
    guard !place.isPending, let deletedUpTo = conversation.summary.deletedUpTo else {
      return false
    }
    return place.time <= deletedUpTo
  }

  package static func validateMessage(_ message: Message) throws(StoreError) {
    try message.id.validate()
    try message.conversation.validate()
    try message.sender.validate()
    try message.replyTo?.validate()
    try validate(text: message.text)
    try validate(mentions: message.mentions)
    for attachment in message.attachments { try attachment.validate() }
    for reaction in message.reactions { try reaction.validate() }
    try validateTimes(of: message)
    try OwnField.validate(message.ownStatements)
  }

  private static func validateTimes(of message: Message) throws(StoreError) {
    try message.serverTimestamp?.validate()
    try message.localTime?.validate()
    guard message.rare != nil else { return }
    try message.expiresAt?.validate()
    try message.editedAt?.validate()
    try message.editServerName?.validate()
    try message.deliveredAt?.validate()
    try message.readAt?.validate()
    try message.retractedAt?.validate()
    try message.retryAt?.validate()
    for reaction in message.reactions { try reaction.time.validate() }
  }

  static func validate(mentions: [MemberID]) throws(StoreError) {
    for member in mentions { try member.validate() }
    guard mentions.count <= MessageTraits.maximumMentionCount else {
      throw .input(
        .tooMany(.mentions, count: mentions.count, limit: MessageTraits.maximumMentionCount))
    }
  }

  package static func validate(text: String) throws(StoreError) {
    let byteCount = text.utf8.count
    guard byteCount <= TextCompression.maximumTextByteCount else {
      throw .input(
        .tooLong(.text, byteCount: byteCount, limit: TextCompression.maximumTextByteCount))
    }
  }

  /// Returns the stored form of a new message, without the facts that are stored beside it.
  @inline(never)
  func stored(
    _ message: Message, _ arrival: Arrival
  ) throws(StoreError) -> StoredMessage {
    if message.rare != nil { return try storedRare(message, arrival) }
    return try storedPlain(message, arrival)
  }

  // In one expression: a variable would be copied on return.
  private func storedPlain(
    _ message: Message, _ arrival: Arrival
  ) throws(StoreError) -> StoredMessage {
    var flags: MessageRecord.Flags = arrival == .history ? .history : []
    let hasServerTime = message.serverTimestamp != nil
    if !hasServerTime, !message.status.isServerKnowledge { flags.insert(.composed) }
    return StoredMessage(
      flags: flags, status: hasServerTime ? max(message.status, .sent) : message.status,
      sender: try transaction.memberNumber(of: message.sender), text: message.text,
      localTime: message.localTime?.microseconds, replyTo: message.replyTo)
  }

  private func storedRare(
    _ message: Message, _ arrival: Arrival
  ) throws(StoreError) -> StoredMessage {
    var stored = try storedPlain(message, arrival)
    stored.traits.mentions = try transaction.memberNumbers(of: message.mentions).sorted()
    stored.traits.expiryTime = message.expiresAt?.microseconds
    stored.traits.editTime = message.editedAt?.microseconds
    if message.editedAt != nil { stored.traits.editName = message.editServerName }
    stored.traits.deliveredAt = message.deliveredAt?.microseconds
    stored.traits.readAt = message.readAt?.microseconds
    stored.traits.sending.retryCount = UInt64(max(0, message.retryCount))
    stored.traits.sending.retryAt = message.retryAt?.microseconds
    stored.traits.sending.failure = message.failure
    if message.isRetracted {
      stored.erase()
      stored.traits.retractedAt = message.retractedAt?.microseconds
    }
    return stored
  }

  private func add(
    _ message: Message, named id: MessageID, _ arrival: Arrival,
    to conversation: OpenConversation
  ) throws(StoreError) {
    transaction.hasAdded = true
    var stored = try stored(message, arrival)
    var facts = PlaceFacts(message.serverTimestamp?.microseconds, message.sequence)
    try addFacts(of: message, named: id, in: conversation.number, to: &stored)
    var key = message.id
    var hasWaited = false
    if transaction.waitingMessages.hasWaiting,
      let waiting = try transaction.waitingMessages.takeWaiting(id, in: conversation.number)
    {
      hasWaited = true
      try transaction.receivedMessages.absorb(
        waiting, named: id, into: &stored, in: conversation.number)
      if facts == nil { facts = waiting.place } else { facts?.merge(waiting.place) }
      // The server's names came first: the least of them goes into the key.
      if let first = waiting.traits.names.first {
        key = first
        stored.traits.names = [id] + waiting.traits.names.dropFirst()
      }
    }
    facts?.keep(in: &stored)
    let place =
      if let facts, facts.isPlaced { facts.place } else {
        newPendingPlace(&stored, in: conversation)
      }
    let position = MessagePosition(place, key)
    if let mark = conversation.summary.mark, position <= mark {
      stored.markOrdinal = conversation.summary.markOrdinal
    }
    try transaction.messages.place(stored, at: position, in: conversation)
    if arrival == .live {
      try transaction.receipts.noteLate(stored, at: position, in: conversation)
      if try leavesArchive(conversation), transaction.leavingArchive.last != conversation.number {
        transaction.leavingArchive.append(conversation.number)
      }
    }
    if hasWaited, !place.isPending {
      try transaction.receipts.applyWaitingMarks(of: id, at: position, in: conversation)
    }
    try transaction.receipts.applySequenceMarks(at: position, in: conversation)
  }

  /// Stores the facts that came with a new message beside its record, and notes them in it.
  func addFacts(
    of message: Message, named id: MessageID, in conversation: UInt32,
    to stored: inout StoredMessage
  ) throws(StoreError) {
    guard let rare = message.rare?.fields, !rare.isRetracted else { return }
    if !rare.ownFields.isEmpty,
      let waiting = try transaction.waitingMessages.waiting(id, in: conversation)
    {
      // Their long values lie under the name of the message already.
      stored.traits.ownFields = waiting.traits.ownFields
    }
    if try transaction.messageFacts.putFacts(
      of: message, named: id, in: conversation, into: &stored)
    {
      try transaction.messageFacts.noteFacts(of: id, in: conversation, &stored)
    }
  }

  /// Returns true if a new message brings a conversation back to the main list.
  func leavesArchive(_ conversation: OpenConversation) throws(StoreError) -> Bool {
    guard rules.newMessagesLeaveArchive, conversation.summary.marks.contains(.archived) else {
      return false
    }
    return try !transaction.expiries.isMuted(conversation)
  }

  package func newPendingPlace(
    _ message: inout StoredMessage, in conversation: OpenConversation
  ) -> Place {
    let time = message.localTime ?? transaction.recordedTime()
    message.localTime = time
    defer { conversation.summary.nextLocalOrder += StoreDefect.localOrderReused.isPlanted ? 0 : 1 }
    return .pending(time, localOrder: conversation.summary.nextLocalOrder)
  }

  /// Merges another copy of a message into the stored one.
  private func merge(
    _ message: Message, _ arrival: Arrival, at position: MessagePosition,
    in conversation: OpenConversation
  ) throws(StoreError) -> InsertOutcome {
    let old = try flushed().messages.message(at: position, in: conversation.number)
    var new = old
    let id = old.id(at: position)
    let given = try stored(message, arrival)
    var hasNews = false
    var place = position.place
    if message.serverTimestamp != nil || message.status.isServerKnowledge {
      hasNews = try mergeOriginal(given, into: &new, named: id, in: conversation.number)
      new.raise(given)
      if !new.traits.marks.contains(.retracted) {
        if given.traits.marks.contains(.retracted) {
          try transaction.messageFacts.erase(&new, named: id, in: conversation.number)
        } else if try transaction.messageFacts.putFacts(
          of: message, named: id, in: conversation.number, into: &new)
        {
          try transaction.messageFacts.noteFacts(of: id, in: conversation.number, &new)
          hasNews = true
        }
      }
      if arrival == .live { new.flags.remove(.history) }
      var facts = PlaceFacts(of: old, at: position.place)
      facts.merge(PlaceFacts(message.serverTimestamp?.microseconds, message.sequence))
      facts.keep(in: &new)
      place = facts.place(of: new, from: position.place)
    }
    guard hasNews || place != position.place || new != old else { return .duplicate }
    try move(old, from: position, new, to: place, in: conversation)
    return position.place.isPending && !place.isPending ? .acknowledged : .merged
  }

  /// Stores a changed message at a place, which may differ from its old one.
  @inline(never)
  func move(
    _ old: StoredMessage, from position: MessagePosition, _ new: StoredMessage, to place: Place,
    in conversation: OpenConversation
  ) throws(StoreError) {
    let target = MessagePosition(place, position.id)
    if try isGone(at: position, to: place, from: conversation) { return }
    try transaction.messages.replace(old, at: position, with: new, at: target, in: conversation)
    guard place != position.place, !place.isPending else { return }
    if position.place.isPending {
      try transaction.receipts.applyWaitingMarks(
        of: new.id(at: target), at: target, in: conversation)
    } else {
      try transaction.receipts.moveMarks(from: position, to: target, in: conversation)
    }
    try transaction.receipts.applySequenceMarks(at: target, in: conversation)
  }

  /// Removes a message whose place turns out to have been deleted with the conversation.
  ///
  /// Returns true if it was removed. A conversation in which none is left is hidden.
  func isGone(
    at position: MessagePosition, to place: Place, from conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    guard isDeleted(place, in: conversation), !StoreDefect.movedPastDeletion.isPlanted else {
      return false
    }
    view.source.isErasing = true
    _ = try takeOut(position, of: conversation)
    try transaction.pendingReceipts.updatePending(conversation)
    conversation.hideIfEmpty()
    return true
  }

  /// Merges the received fields of a message as it was first written.
  ///
  /// The greater sender and reply and the earliest local time stay, in whatever order they came;
  /// sender and local time are merged for a retracted message, too. Only for the text does it
  /// matter whether it was composed here, since the server may have changed it.
  ///
  /// Returns true if a fact beside the record changed.
  @discardableResult
  func mergeOriginal(
    _ given: StoredMessage, into new: inout StoredMessage, named id: MessageID,
    in conversation: UInt32
  ) throws(StoreError) -> Bool {
    if given.sender != new.sender,
      try view.member(new.sender) < view.member(given.sender)
    {
      new.sender = given.sender
    }
    new.localTime = StoredMessage.earlier(new.localTime, given.localTime)
    guard !new.traits.marks.contains(.retracted), !given.traits.marks.contains(.retracted) else {
      return false
    }
    if let reply = given.replyTo {
      let isGreatest = !StoreDefect.lastReplyWins.isPlanted
      new.replyTo = isGreatest ? new.replyTo.map { max($0, reply) } ?? reply : reply
    }
    return try transaction.messageFacts.mergeReceivedVersion(
      given.version, isComposed: given.flags.contains(.composed), into: &new, named: id,
      in: conversation)
  }

  func acknowledge(
    _ id: MessageID, in conversation: ConversationID, serverTimestamp: Timestamp,
    sequence: Int64?, revision: Int64, serverName: MessageID?
  ) throws(StoreError) -> Bool {
    try id.validate()
    try conversation.validate()
    try serverName?.validate()
    try serverTimestamp.validate()
    let open = try transaction.conversation(conversation) {
      ConversationDetails(id: conversation)
    }
    transaction.noteHeard(serverTimestamp.microseconds)
    if let sequence { try transaction.sequences.note(sequence: sequence, in: open) }
    let facts = PlaceFacts(
      serverTimestamp.microseconds, sequence, revision: max(0, revision))
    if let serverName, serverName != id {
      return try transaction.identities.acknowledge(id, as: serverName, facts, in: open)
    }
    switch try view.ids.entry(of: id, in: open.number) {
    case .deleted?:
      return false
    case .here(let position)?:
      try acknowledge(at: position, facts, in: open)
      return true
    case .alias(let own)?:
      try transaction.waitingMessages.noteWaiting(own, in: open.number) { $0.merge(facts) }
      return false
    case nil:
      try transaction.waitingMessages.noteWaiting(id, in: open.number) { $0.merge(facts) }
      return false
    }
  }

  /// Merges the server's statement of a message's place into a stored message.
  func acknowledge(
    at position: MessagePosition, _ given: PlaceFacts?, in conversation: OpenConversation
  ) throws(StoreError) {
    let old = try flushed().messages.message(at: position, in: conversation.number)
    var new = old
    var facts = PlaceFacts(of: old, at: position.place)
    facts.merge(given)
    new.raise(.sent)
    facts.keep(in: &new)
    let place = facts.place(of: new, from: position.place)
    guard place != position.place || new != old else { return }
    try move(old, from: position, new, to: place, in: conversation)
  }
}

extension Transaction {
  package var receivedMessages: ReceivedMessages { ReceivedMessages(transaction: self) }
}
