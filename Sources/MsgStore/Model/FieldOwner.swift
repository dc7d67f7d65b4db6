/// The owner of a client's own fields.
public enum FieldOwner: Sendable, Hashable {
  /// A message, by any of its names.
  case message(MessageID, in: ConversationID)
  /// A conversation, by any of its names.
  case conversation(ConversationID)
  /// A member, who need not take part in any conversation.
  case member(MemberID)
}
