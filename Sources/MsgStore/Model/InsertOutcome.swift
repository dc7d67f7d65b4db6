/// What storing a message did.
public enum InsertOutcome: Sendable, Hashable {
  /// The message is new and was stored.
  case inserted
  /// A message with this id was there already. Nothing was changed.
  case duplicate
  /// A pending message with this id was there, and the given one was the server's copy of it: the
  /// stored one moved to the place the server gave it.
  case acknowledged
  /// A message with this id was there, and the given one said something new about it.
  case merged
  /// It was deleted here before, or with its conversation, and stays so. Nothing was stored.
  case deleted
}

/// What became of a batch of messages of which some may be malformed.
public struct BatchOutcome: Sendable, Hashable {
  /// A message that was refused.
  public struct Refusal: Sendable, Hashable {
    /// Which of the batch it is, from 0.
    public let index: Int
    /// Its id.
    public let id: MessageID
    /// Why.
    public let reason: StoreError
  }

  /// What storing each of the others did, in their order.
  public internal(set) var outcomes: [InsertOutcome] = []
  /// Those that were refused.
  public internal(set) var refusals: [Refusal] = []
}
