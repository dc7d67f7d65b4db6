/// The result of storing a message.
public enum InsertOutcome: Sendable, Equatable {
  /// The message was new and has been stored.
  case inserted
  /// A message with this id already existed; nothing changed.
  case duplicate
  /// The message was the server's copy of a pending one, which moved to the place that the server
  /// gave it.
  case acknowledged
  /// A message with this id existed, and the given one added information to it.
  case merged
  /// The message, or its conversation, was deleted here earlier; nothing was stored.
  case deleted
}

/// The result of storing a batch of messages, some of which may be malformed.
public struct BatchOutcome: Sendable, Equatable {
  /// A rejected message.
  public struct Refusal: Sendable, Equatable {
    /// The index in the batch, from 0.
    public let index: Int
    /// The message's id.
    public let id: MessageID
    /// The reason for the rejection.
    public let reason: StoreError
  }

  /// The results of storing the accepted messages, in batch order.
  public internal(set) var outcomes: [InsertOutcome] = []
  /// The rejected messages.
  public internal(set) var refusals: [Refusal] = []
}
