/// A rule for the part of a conversation's history that a store keeps.
///
/// A message is pruned once it is older than the days, or once there are as many newer ones as the
/// count: whichever comes first. `Retention.everything` prunes nothing.
///
///     try chat.setRetention(Retention(days: 90))
///     try chat.setRetention(Retention(messageCount: 20_000), of: "busy channel")
///
/// Pruning removes messages from this store alone; nothing is told to the server. Spared are
///
///  - messages that the server has not acknowledged, and those with anything in the outbox;
///  - unread messages: the first one that the local member has not read, and everything after it;
///    and earlier ones that came late and are unread;
///  - the message that a draft answers;
///  - pinned and starred messages, see ``MessageTag``.
///
/// A spared message stands as an island: slices end beside it with
/// ``SliceBoundary/pruned(beyond:)``. It goes once nothing spares it any more. The sequence numbers
/// of pruned messages count as known, so that no gap opens. A message that is received again after
/// it was pruned, or comes late to a place among the pruned ones, is stored, and goes with the next
/// pruning.
///
/// Days are counted back from the time of the newest acknowledged message of the store, or from the
/// clock if that is earlier. So a device whose clock is ahead prunes nothing too early.
///
/// The store prunes in steps, each with a commit of its own of a bounded size: after a rule was
/// set, after ``StoreWriter/prune()``, and, while the store is written to, once a day.
public struct Retention: Sendable, Equatable {
  /// The number of days that messages are kept, 1 to 36,500; nil without limit.
  public var days: Int?
  /// The number of newest messages of a conversation that are kept, 1 to a thousand million; nil
  /// without limit.
  public var messageCount: Int?

  /// Creates a rule; by default one that keeps everything.
  public init(days: Int? = nil, messageCount: Int? = nil) {
    self.days = days
    self.messageCount = messageCount
  }

  /// The rule that keeps everything.
  public static let everything = Retention()

  package static let maximumDays = 36_500
  package static let maximumMessageCount = 1_000_000_000

  package func validate() throws(StoreError) {
    try days?.validate(.retentionDays, in: 1...Self.maximumDays)
    try messageCount?.validate(.retentionMessages, in: 1...Self.maximumMessageCount)
  }
}
