/// Making and finding conversations.
extension StoreWriter {
  /// Makes a conversation, or sets the participants and the title of an existing one.
  ///
  /// Present participants that are not in the list leave. A list without the local member says that
  /// they do not take part, and nothing is told in their name; an empty list says nothing of them.
  ///
  /// - Parameters:
  ///   - id: The name of the conversation.
  ///   - participants: The participants, at most 10,000; duplicates count once.
  ///   - title: The title, at most 64 KiB of UTF-8.
  ///   - kind: The kind of conversation. With nil the stored kind stays; a new conversation is
  ///     direct for two and a group otherwise.
  /// - Returns: True if anything changed.
  /// - Throws: `input(.identifier)`, `input(.tooMany)`, `input(.tooLong)`.
  @discardableResult
  public func putConversation(
    _ id: ConversationID, participants: [MemberID], title: String? = nil,
    kind: ConversationKind? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.conversationActs.putConversation(
        id, participants: participants, title: title, kind: kind))
  }

  /// Returns the direct conversation with another member, or the oldest group with these
  /// participants.
  ///
  /// Three or more participants make a group. Creates a conversation unless one has exactly these
  /// participants. Their order does not matter, and the local member takes part without
  /// being listed. A deleted conversation comes back, without its messages.
  ///
  /// - Throws: `input(.identifier)`, `input(.tooMany)`, `input(.noParticipants)`,
  ///   `input(.onlyOneself)`.
  public func findOrCreateConversation(with participants: [MemberID]) throws(StoreError)
    -> Conversation
  {
    try transaction.perform(try transaction.conversationActs.conversation(with: participants))
  }

  /// Makes a group, even if there is one with the same participants.
  ///
  /// - Parameters:
  ///   - id: The name of the group; a new one by default.
  ///   - participants: The participants besides the local member.
  ///   - title: The title, at most 64 KiB of UTF-8.
  ///   - avatar: The reference of the group's picture, at most 64 KiB of UTF-8.
  /// - Throws: `input(.identifier)`, `input(.tooMany)`, `input(.tooLong)`,
  ///   `conversation(.exists)`.
  public func createGroup(
    _ id: ConversationID? = nil, participants: [MemberID], title: String? = nil,
    avatar: String? = nil
  ) throws(StoreError) -> Conversation {
    try transaction.perform(
      try transaction.conversationActs.createGroup(
        id, participants: participants, title: title, avatar: avatar))
  }

  /// Merges the server's facts about a conversation, which is made if it is not there.
  ///
  /// - Returns: True if anything changed.
  /// - Throws: `input(.identifier)`; `input(.tooLong)` above 1 MiB; `input(.implausibleTime)`.
  @discardableResult
  public func receive(_ conversation: ReceivedConversation) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.conversations.receiveConversation(conversation))
  }
}

/// Acts of the local member on conversations.
///
/// All return true if anything changed, and throw `conversation(.notFound)`. Changes that concern
/// all participants throw `conversation(.notAMember)` if the local member does not take part.
extension StoreWriter {
  /// Sets or removes the title of a conversation, at most 64 KiB.
  ///
  /// - Throws: `input(.tooLong)`, `conversation(.notAMember)`.
  @discardableResult
  public func setTitle(_ title: String?, of id: ConversationID) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.conversationActs.setTitle(title, of: id))
  }

  /// Sets or removes the reference of a conversation's picture, at most 64 KiB.
  ///
  /// - Throws: `input(.tooLong)`, `conversation(.notAMember)`.
  @discardableResult
  public func setAvatar(_ avatar: String?, of id: ConversationID) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.conversationActs.setAvatar(avatar, of: id))
  }

  /// Adds members to a group.
  ///
  /// - Throws: `input(.identifier)`, `input(.tooMany)`, `conversation(.notAMember)`,
  ///   `conversation(.direct)`.
  @discardableResult
  public func addParticipants(
    _ participants: [MemberID], to id: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.conversationActs.addParticipants(participants, to: id))
  }

  /// Removes members from a group.
  ///
  /// - Throws: `input(.identifier)`, `input(.tooMany)`, `conversation(.notAMember)`,
  ///   `conversation(.direct)`.
  @discardableResult
  public func removeParticipants(
    _ participants: [MemberID], from id: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.conversationActs.removeParticipants(participants, from: id))
  }

  /// Makes the local member leave a group, which stays readable.
  ///
  /// - Throws: `conversation(.direct)`, `noLocalMember`.
  @discardableResult
  public func leave(_ id: ConversationID) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.conversationActs.leave(id))
  }

  /// Pins a conversation to the top of the list, or unpins it.
  @discardableResult
  public func setPinned(_ isPinned: Bool, of id: ConversationID) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.conversationActs.set(.pinned, \.pinnedAt, to: isPinned, of: id))
  }

  /// Mutes a conversation, whose unread messages are then counted separately, or unmutes it.
  ///
  /// A mute with an end is over at that time by the clock: ``Conversation/isMuted`` is false in
  /// each snapshot from then on. ``StoreReading/unreadTotals`` follow with the first step of work
  /// after it, within a second in an open store, and listeners are told. A clock that is set back
  /// mutes the conversation again until a time heard from the server has passed the end, too. Costs
  /// a few lookups.
  ///
  /// - Parameters:
  ///   - isMuted: True to mute it, false to unmute it.
  ///   - id: The conversation.
  ///   - end: The time at which the mute ends, which may have passed; nil if it ends when it is
  ///     cleared. Unused if `isMuted` is false.
  /// - Returns: True if anything changed.
  /// - Throws: `conversation(.notFound)`, `input(.implausibleTime)`.
  @discardableResult
  public func setMuted(
    _ isMuted: Bool, of id: ConversationID, until end: Timestamp? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.conversationActs.setMuted(isMuted, until: end, of: id))
  }

  /// Marks a conversation as unread, or takes the mark back.
  ///
  /// The mark says that the local member means to come back to it; messages and counters stay as
  /// they are. `markRead(_:)` and `markRead(_:upTo:)` take it back as well.
  @discardableResult
  public func setMarkedUnread(
    _ isMarkedUnread: Bool, of id: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.conversationActs.set(
        .markedUnread, \.markedUnreadAt, to: isMarkedUnread, of: id))
  }

  /// Moves a conversation to the archived list, or back.
  ///
  /// It stays there whatever arrives, unless `StoreOptions.newMessagesLeaveArchive` is set.
  @discardableResult
  public func setArchived(_ isArchived: Bool, of id: ConversationID) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.conversationActs.set(.archived, \.archivedAt, to: isArchived, of: id))
  }

  /// Stores the draft of a conversation.
  ///
  /// - Parameters:
  ///   - text: The text, at most 1 MiB of UTF-8. Nil, or an empty text without a reply, discards
  ///     the draft.
  ///   - replyTo: The message that the draft answers.
  ///   - id: The conversation.
  /// - Throws: `input(.tooLong)`, `input(.identifier)`.
  @discardableResult
  public func setDraft(
    _ text: String?, replyTo: MessageID? = nil, in id: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.conversationActs.setDraft(text, replyTo: replyTo, in: id))
  }
}
