/// How a message came here.
///
/// It decides whether the message can be unread.
public enum Arrival: Sendable, Hashable {
  /// It was just written or just sent to us.
  case live
  /// It was fetched while paging back or importing. It never counts as unread.
  case history
}
