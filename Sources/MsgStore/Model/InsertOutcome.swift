/// What an insert did.
public enum InsertOutcome: Sendable, Hashable {
  /// The message is new and was stored.
  case inserted
  /// A message with this id was there already. Nothing was changed.
  case duplicate
  /// A pending message with this id was there, and the given one was the server's copy of it: the
  /// stored one moved to the place the server gave it.
  case acknowledged
}
