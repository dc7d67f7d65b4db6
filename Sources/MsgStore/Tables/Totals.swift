/// The unread counts of the whole store: the sums over its conversations, in words, so that a badge
/// costs no lookup.
///
/// See docs/message-format.md, U-6.
package struct Totals: Equatable {
  var unread = 0
  var unreadMuted = 0
  var mentions = 0
  var mentionsMuted = 0

  package init() {}

  /// Creates the contribution of one conversation.
  ///
  /// A hidden conversation contributes nothing, as it has no messages.
  package init(_ summary: ConversationSummary) {
    if summary.marks.contains(.muted), !StoreDefect.mutedCountedAlike.isPlanted {
      unreadMuted = summary.unreadCount
      mentionsMuted = summary.mentionCount
    } else {
      unread = summary.unreadCount
      mentions = summary.mentionCount
    }
  }

  init(unread: Int, unreadMuted: Int, mentions: Int, mentionsMuted: Int) {
    self.unread = unread
    self.unreadMuted = unreadMuted
    self.mentions = mentions
    self.mentionsMuted = mentionsMuted
  }

  /// Returns the sums, none of which goes below zero.
  func adding(_ change: Totals) -> Totals {
    Totals(
      unread: Self.sum(unread, change.unread),
      unreadMuted: Self.sum(unreadMuted, change.unreadMuted),
      mentions: Self.sum(mentions, change.mentions),
      mentionsMuted: Self.sum(mentionsMuted, change.mentionsMuted))
  }

  static func sum(_ count: Int, _ change: Int) -> Int {
    let (sum, isOverflow) = count.addingReportingOverflow(change)
    return isOverflow ? 0 : max(0, sum)
  }
}

/// The change of the totals by a transaction.
///
/// It wraps, since the counts of a damaged store may have any value.
package struct TotalsChange {
  package init() {}

  package private(set) var change = Totals()

  package mutating func replace(_ old: Totals, with new: Totals) {
    guard old != new else { return }
    if new.unread < old.unread, StoreDefect.totalsKept.isPlanted { return }
    change.unread &+= new.unread &- old.unread
    change.unreadMuted &+= new.unreadMuted &- old.unreadMuted
    change.mentions &+= new.mentions &- old.mentions
    change.mentionsMuted &+= new.mentionsMuted &- old.mentionsMuted
  }

  mutating func take() -> Totals {
    defer { change = Totals() }
    return change
  }
}

extension StoreView {
  /// Returns the stored totals.
  package func totals() -> Totals {
    Totals(
      unread: source.count(.unread), unreadMuted: source.count(.unreadMuted),
      mentions: source.count(.mentions), mentionsMuted: source.count(.mentionsMuted))
  }
}
