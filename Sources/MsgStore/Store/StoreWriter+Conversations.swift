/// Making conversations and finding them.
extension StoreWriter {
  /// Makes a conversation, or gives one that is there these participants and this title; who takes
  /// part and is not among them leaves.
  ///
  /// - Parameters:
  ///   - id: Its name.
  ///   - participants: Who takes part, at most 10,000; who is given twice counts once.
  ///   - title: At most 64 KiB of UTF-8.
  ///   - kind: What kind it is. nil: what is stored, else direct for two and a group for others.
  /// - Returns: Whether anything changed.
  /// - Throws: `invalidIdentifier`, `tooManyParticipants`, `titleTooLong`.
  @discardableResult
  public func putConversation(
    _ id: ConversationID, participants: [MemberID], title: String? = nil,
    kind: ConversationKind? = nil
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.conversationActs.putConversation(
        id, participants: participants, title: title, kind: kind))
  }

  /// The direct conversation with somebody, or for three and more the oldest group with exactly these
  /// participants; a new one when there is none.
  ///
  /// Their order does not matter, and the local member takes part without being named. One that was
  /// deleted comes back, without its messages.
  ///
  /// - Throws: `invalidIdentifier`, `tooManyParticipants`, `noParticipants`, `onlyOneself`.
  public func conversation(with participants: [MemberID]) throws(StoreError) -> Conversation {
    try transaction.perform(try transaction.conversationActs.conversation(with: participants))
  }

  /// Makes a group, also where there is one with the same participants.
  ///
  /// - Parameters:
  ///   - id: Its name; a new one by default.
  ///   - participants: Who takes part beside the local member.
  ///   - title: At most 64 KiB of UTF-8.
  ///   - avatar: The reference of its picture, at most 64 KiB of UTF-8.
  /// - Throws: `invalidIdentifier`, `tooManyParticipants`, `titleTooLong`, `avatarTooLong`,
  ///   `conversationExists`.
  public func createGroup(
    _ id: ConversationID? = nil, participants: [MemberID], title: String? = nil,
    avatar: String? = nil
  ) throws(StoreError) -> Conversation {
    try transaction.perform(
      try transaction.conversationActs.createGroup(
        id, participants: participants, title: title, avatar: avatar))
  }

  /// Takes in what the server says of a conversation, which is made if it is not there.
  ///
  /// - Returns: Whether anything changed.
  /// - Throws: `invalidIdentifier`; `titleTooLong`, `avatarTooLong` and `textTooLong` above 1 MiB.
  @discardableResult
  public func receive(_ conversation: ReceivedConversation) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.receivedConversations.receiveConversation(conversation))
  }
}

/// What the local member changes about conversations.
///
/// All return whether anything changed, and throw `conversationNotFound`. What is for all who take part
/// throws `notAMember` when the local member does not.
extension StoreWriter {
  /// Gives a conversation a title of at most 64 KiB, or takes it away.
  ///
  /// - Throws: `titleTooLong`, `notAMember`.
  @discardableResult
  public func setTitle(_ title: String?, of id: ConversationID) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.conversationActs.setTitle(title, of: id))
  }

  /// Gives a conversation a picture by its reference of at most 64 KiB, or takes it away.
  ///
  /// - Throws: `avatarTooLong`, `notAMember`.
  @discardableResult
  public func setAvatar(_ avatar: String?, of id: ConversationID) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.conversationActs.setAvatar(avatar, of: id))
  }

  /// Has members join a group.
  ///
  /// - Throws: `invalidIdentifier`, `tooManyParticipants`, `notAMember`, `directConversation`.
  @discardableResult
  public func addParticipants(
    _ participants: [MemberID], to id: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.conversationActs.addParticipants(participants, to: id))
  }

  /// Has members leave a group.
  ///
  /// - Throws: `invalidIdentifier`, `tooManyParticipants`, `notAMember`, `directConversation`.
  @discardableResult
  public func removeParticipants(
    _ participants: [MemberID], from id: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.conversationActs.removeParticipants(participants, from: id))
  }

  /// Has the local member leave a group, which stays and can be read.
  ///
  /// - Throws: `directConversation`, `noLocalMember`.
  @discardableResult
  public func leave(_ id: ConversationID) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.conversationActs.leave(id))
  }

  /// Keeps a conversation on top of the list, or does not any more.
  @discardableResult
  public func setPinned(_ isPinned: Bool, of id: ConversationID) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.conversationActs.set(.pinned, \.pinnedAt, to: isPinned, of: id))
  }

  /// Counts what a conversation has unread apart, or does not any more.
  @discardableResult
  public func setMuted(_ isMuted: Bool, of id: ConversationID) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.conversationActs.set(.muted, \.mutedAt, to: isMuted, of: id))
  }

  /// Moves a conversation to the list of archived ones, where it stays whatever comes, or back.
  @discardableResult
  public func setArchived(_ isArchived: Bool, of id: ConversationID) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.conversationActs.set(.archived, \.archivedAt, to: isArchived, of: id))
  }

  /// Keeps what has been begun to write in a conversation.
  ///
  /// - Parameters:
  ///   - text: At most 1 MiB of UTF-8; nil, or an empty one without a reply, gives it up.
  ///   - replyTo: The message that it is to answer.
  ///   - id: The conversation.
  /// - Throws: `textTooLong`, `invalidIdentifier`.
  @discardableResult
  public func setDraft(
    _ text: String?, replyTo: MessageID? = nil, in id: ConversationID
  ) throws(StoreError) -> Bool {
    try transaction.perform(
      try transaction.conversationActs.setDraft(text, replyTo: replyTo, in: id))
  }
}

/// Reading, as in a snapshot.
extension StoreWriter {
  /// A conversation, see `StoreSnapshot.conversation(_:)`.
  public func conversation(_ id: ConversationID) throws(StoreError) -> Conversation? {
    try transaction.read { (view) throws(StoreError) in try view.list.conversation(id) }
  }

  /// The list of conversations, see `StoreSnapshot.conversations(count:after:)`.
  public func conversations(
    count: Int, after position: ConversationPosition? = nil
  ) throws(StoreError) -> ConversationSlice {
    try transaction.read { (view) throws(StoreError) in
      try view.list.conversations(count: count, after: position, isArchived: false)
    }
  }

  /// The list of archived conversations, see `StoreSnapshot.archivedConversations(count:after:)`.
  public func archivedConversations(
    count: Int, after position: ConversationPosition? = nil
  ) throws(StoreError) -> ConversationSlice {
    try transaction.read { (view) throws(StoreError) in
      try view.list.conversations(count: count, after: position, isArchived: true)
    }
  }

  /// Who takes part in a conversation or did, see `StoreSnapshot.participations(in:)`.
  public func participations(in id: ConversationID) throws(StoreError) -> [Participation] {
    try transaction.read { (view) throws(StoreError) in try view.list.participations(id) }
  }

  /// What has been begun to write in a conversation, or nil.
  public func draft(of id: ConversationID) throws(StoreError) -> Draft? {
    try transaction.read { (view) throws(StoreError) in try view.list.draft(id) }
  }

  /// What the whole store has unread, see `StoreSnapshot.unreadTotals`.
  public var unreadTotals: UnreadTotals {
    get throws(StoreError) {
      try transaction.read { (view) throws(StoreError) in UnreadTotals(try view.list.shownTotals())
      }
    }
  }
}
