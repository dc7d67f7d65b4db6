/// The owner of a client's own fields.
public enum FieldOwner: Sendable, Hashable {
  /// A message, by any of its names.
  case message(MessageID, in: ConversationID)
}
