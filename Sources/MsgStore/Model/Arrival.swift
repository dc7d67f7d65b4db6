/// The way a message reached this store.
///
/// It decides whether the message can be unread.
public enum Arrival: Sendable, Hashable {
  /// Written or received just now.
  case live
  /// Fetched while paging back or importing; never counts as unread.
  case history
}
