import PageFile

/// Provisional times of local acts, used until the server states a time.
///
/// A register keeps the later of two facts, and facts from the server have the server's time. The
/// clock of this device may be a year ahead, and would then win against everything for a year; or
/// it may be behind, and lose against the value that the act was to replace. So the clock is not
/// used: an act is just later than the newest server time known in the conversation, and anything
/// later from the server wins. When the server tells at what time it took the act, that time is
/// merged like any fact. See docs/message-format.md, C-21.
extension Conversations {
  /// Returns the newest server time of a message here, or the time up to which messages were
  /// deleted, whichever is later; nil if there is neither.
  ///
  /// Costs two lookups, but mostly none; see `Summaries.knownNewest`.
  func newestServerTime(in conversation: OpenConversation) throws(StoreError) -> Int64? {
    var newest = try transaction.summaries.knownNewest(in: conversation)
    if newest == nil {
      newest = try flushed().messages.lastPosition(upTo: .firstPending, in: conversation.number)
    }
    return [newest?.place.time, conversation.summary.deletedUpTo].compactMap { $0 }.max()
  }

  /// Returns the time of an act: later than the value it replaces and than all known times.
  ///
  /// Nothing is later than the last plausible time, which a restore still takes.
  package static func provisionalTime(after known: Int64?...) -> Int64 {
    let newest = known.compactMap { $0 }.max() ?? 0
    let last = Timestamp.plausibleRange.upperBound.microseconds
    return newest >= last ? newest : max(newest, 0) + 1
  }
}

extension ConversationDetails {
  /// The newest time of any register.
  var newestTime: Int64? {
    [title.time, avatar.time, pinnedAt, mutedAt, archivedAt, markedUnreadAt]
      .compactMap { $0 }.max()
  }
}
