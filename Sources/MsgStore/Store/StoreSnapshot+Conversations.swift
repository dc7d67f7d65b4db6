import PageFile

/// Reading conversations: one, the two lists, what a list does not show.
///
/// All functions throw `storage` and `corruptRecord`.
extension StoreSnapshot {
  /// A conversation as lists show it, or nil when it is not there.
  ///
  /// Names that it had before lead to it as well. Costs a few lookups, however many take part;
  /// `participations(in:)` names them all.
  public func conversation(_ id: ConversationID) throws(StoreError) -> Conversation? {
    try view.within { () throws(StoreError) in try view.list.conversation(id) }
  }

  /// The list of conversations: pinned ones first, then by newest activity; those without messages
  /// under the time they were made.
  ///
  /// Archived ones are not in it. Costs about a microsecond for 20.
  ///
  /// - Parameters:
  ///   - count: How many at most, 1 or more.
  ///   - position: Where to read on: `older` of the slice before.
  /// - Throws: Also `invalidCount`.
  public func conversations(
    count: Int, after position: ConversationPosition? = nil
  ) throws(StoreError) -> ConversationSlice {
    try view.within { () throws(StoreError) in
      try view.list.conversations(count: count, after: position, isArchived: false)
    }
  }

  /// The list of archived conversations, by newest activity; see `conversations(count:after:)`.
  public func archivedConversations(
    count: Int, after position: ConversationPosition? = nil
  ) throws(StoreError) -> ConversationSlice {
    try view.within { () throws(StoreError) in
      try view.list.conversations(count: count, after: position, isArchived: true)
    }
  }

  /// Everybody who takes part in a conversation or did, in the order in which they came.
  ///
  /// Empty when it is not there. Costs as much as there are: some 0.7 µs each.
  public func participations(in id: ConversationID) throws(StoreError) -> [Participation] {
    try view.within { () throws(StoreError) in try view.list.participations(id) }
  }

  /// What has been begun to write in a conversation, or nil.
  public func draft(of id: ConversationID) throws(StoreError) -> Draft? {
    try view.within { () throws(StoreError) in try view.list.draft(id) }
  }

  /// What the whole store has unread.
  ///
  /// Four lookups, however many conversations there are.
  public var unreadTotals: UnreadTotals {
    get throws(StoreError) {
      try view.within { () throws(StoreError) in UnreadTotals(try view.list.shownTotals()) }
    }
  }

  /// All conversations, also deleted ones that nothing newer has brought back, in the order in which
  /// they came to this store: the order that gives them the same numbers again when they are put into
  /// a new one.
  package func forEachConversation(_ body: (Conversation) throws -> Void) throws {
    try view.list.forEachConversation(body)
  }
}

extension UnreadTotals {
  init(_ totals: Totals) {
    self.init(
      messages: totals.unread, mutedMessages: totals.unreadMuted, mentions: totals.mentions,
      mutedMentions: totals.mentionsMuted)
  }
}
