import PageFile

/// Times of what the local member does, until the server gives it one.
///
/// A register keeps the later of two facts, and what the server says has the server's time. This
/// device's clock may be a year ahead, and would win against everything for a year; or behind, and lose
/// against what the act was to replace. So it has no say: an act is just later than the newest server
/// time that the conversation knows, and what the server says of anything later counts more. When the
/// server tells the time at which it took the act, that is merged as any fact. See
/// docs/message-format.md, C-21.
extension Conversations {
  /// The newest server time of a message here, or up to which messages were deleted; nil where there
  /// is none.
  ///
  /// Two lookups.
  func newestServerTime(in conversation: OpenConversation) throws(StoreError) -> Int64? {
    let newest = try flushed().messages.lastPosition(upTo: .firstPending, in: conversation.number)
    return [newest?.place.time, conversation.summary.deletedUpTo].compactMap { $0 }.max()
  }

  /// The time of an act: later than what it replaces, and than all that is known.
  package static func provisionalTime(after known: Int64?...) -> Int64 {
    let newest = known.compactMap { $0 }.max() ?? 0
    return newest == .max ? .max : max(newest, 0) + 1
  }
}

extension ConversationDetails {
  /// The newest time of a register.
  var newestTime: Int64? {
    [title.time, avatar.time, pinnedAt, mutedAt, archivedAt].compactMap { $0 }.max()
  }
}
