import PageFile

/// Reads of conversations: single ones, the two lists, and details that a list does not show.
///
/// All functions throw `storage` and `corruptRecord`.
extension StoreReading where Self: ~Copyable {
  /// Returns a conversation as lists show it, or nil if it is not there.
  ///
  /// Former names find it as well. Costs a few lookups, whatever the number of participants;
  /// `participations(in:)` returns all of them.
  public func conversation(_ id: ConversationID) throws(StoreError) -> Conversation? {
    try access.read { (view) throws(StoreError) in try view.list.conversation(id) }
  }

  /// Returns a slice of the conversation list: pinned ones first, then by newest activity.
  ///
  /// Conversations without messages are ordered by the time they were made. Archived ones are not
  /// in this list. Costs about a microsecond for 20.
  ///
  /// - Parameters:
  ///   - count: The maximum number of conversations, 1 or more.
  ///   - position: The position to continue after: `older` of the previous slice.
  /// - Throws: Also `input(.count)`.
  public func conversations(
    count: Int, after position: ConversationPosition? = nil
  ) throws(StoreError) -> ConversationSlice {
    try access.read { (view) throws(StoreError) in
      try view.list.conversations(count: count, after: position, isArchived: false)
    }
  }

  /// Returns a slice of the archived conversations, by newest activity; see
  /// `conversations(count:after:)`.
  public func archivedConversations(
    count: Int, after position: ConversationPosition? = nil
  ) throws(StoreError) -> ConversationSlice {
    try access.read { (view) throws(StoreError) in
      try view.list.conversations(count: count, after: position, isArchived: true)
    }
  }

  /// Returns all present and former participants of a conversation, in the order in which they
  /// came.
  ///
  /// The result is empty if the conversation is not there. Costs about 0.7 µs for each participant.
  public func participations(in id: ConversationID) throws(StoreError) -> [Participation] {
    try access.read { (view) throws(StoreError) in try view.list.participations(id) }
  }

  /// Returns the draft of a conversation; nil without a draft.
  public func draft(of id: ConversationID) throws(StoreError) -> Draft? {
    try access.read { (view) throws(StoreError) in try view.list.draft(id) }
  }

  /// The unread totals of the whole store.
  ///
  /// Costs nothing but a copy of four numbers.
  public var unreadTotals: UnreadTotals {
    get throws(StoreError) {
      try access.read { (view) in UnreadTotals(view.list.shownTotals()) }
    }
  }
}

extension UnreadTotals {
  init(_ totals: Totals) {
    self.init(
      messages: totals.unread, mutedMessages: totals.unreadMuted, mentions: totals.mentions,
      mutedMentions: totals.mentionsMuted)
  }
}
