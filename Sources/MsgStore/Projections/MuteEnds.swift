/// Keeps the entries of the expiry tree for mutes that end, and the marks that follow from them.
///
/// The mark of such a mute is set until the counters have let its entry go, so that totals change
/// with it. See docs/message-format.md, C-24 and F-29.
///
/// Costs nothing for a conversation without such a mute, else two changes of the tree.
extension Expiries {
  /// Updates the entry of a conversation whose details have changed.
  func muteEndChanged(from old: Int64?, to new: Int64?, of conversation: UInt32) throws(StoreError)
  {
    if old == new { return }
    // The new one first: the border goes with the last entry.
    if let new {
      try change(ExpiryKey(muteOf: conversation, until: new), by: 1)
    }
    if let old {
      try change(ExpiryKey(muteOf: conversation, until: old), by: -1)
    }
  }

  /// Moves the entry of a conversation to another number.
  func moveMuteEnd(_ end: Int64?, from number: UInt32, to new: UInt32) throws(StoreError) {
    guard let end, !StoreDefect.movedMuteKept.isPlanted else { return }
    try change(ExpiryKey(muteOf: new, until: end), by: 1)
    try change(ExpiryKey(muteOf: number, until: end), by: -1)
  }

  /// Sets or clears the mark of a mute with an end; marks of others stay.
  func markMute(
    _ marks: inout ConversationSummary.Flags, by details: ConversationDetails, of number: UInt32
  ) throws(StoreError) {
    guard let end = details.mutedUntil else { return }
    let entry = ExpiryKey(muteOf: number, until: end)
    let isBehind = try reached?.isBehind(entry) ?? false
    if details.hasMuteEnded || isBehind, !StoreDefect.muteEndUncounted.isPlanted {
      marks.remove(.muted)
    } else {
      marks.insert(.muted)
    }
  }

  /// Returns true if a conversation is muted by the clock.
  func isMuted(_ conversation: OpenConversation) throws(StoreError) -> Bool {
    let marks = conversation.summary.marks
    if view.expiry.isUnused { return marks.contains(.muted) }
    let details = try view.conversations.details(conversation.number)
    return try transaction.shown().isMuted(details, marks)
  }
}
