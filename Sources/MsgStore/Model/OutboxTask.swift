/// One thing to tell the server.
///
/// The task is read from the store when it is leased, so it reflects the state at that time. The
/// token of its `OutboxItem`, which is the same on every attempt, lets the server recognise a
/// repetition.
///
/// The contents are kept in boxes, so that a task is one word to hand on.
public indirect enum OutboxTask: Sendable, Hashable {
  /// A message with its original text; its edits follow as tasks of their own.
  ///
  /// All its uploads are done. Pass the server's answer to `acknowledge`.
  case send(Message)
  /// A new text of a message; `at` is the time that `edit` returned.
  case edit(MessageID, text: String, mentions: [MemberID], at: Timestamp)
  /// The retraction of a message.
  case retract(MessageID)
  /// A reaction to a message, or its removal.
  case react(emoji: String, to: MessageID, isRemoved: Bool)
  /// A read or delivery receipt of the local member.
  case receipt(PendingReceipt)
  /// A conversation created here.
  ///
  /// Pass the server's id for it to `renameConversation`.
  case createConversation(Conversation)
  /// The deletion of a conversation.
  case deleteConversation
  /// The local member's leaving of a group.
  case leaveConversation
  /// Members added to or removed from a group.
  case changeMembers(added: [MemberID], removed: [MemberID])
  /// The title of a conversation; nil removes it.
  case setTitle(String?)
  /// The reference of a conversation's picture; nil removes it.
  case setAvatar(String?)
  /// The bytes of an attachment; its `upload` holds the number of bytes already transferred.
  case upload(AttachmentState)
  /// The client's own work, with the name and the payload given when it was entered.
  case client(name: String, payload: [UInt8])
  /// A value of the client's own field, its removal, or a kind, which is a field without a name.
  ///
  /// The value is whole, also where messages leave it out. Its time is the store's until
  /// ``OutboxWriter/complete(_:serverTime:serverName:)`` states the server's.
  case setOwnField(OwnField, of: FieldOwner)
}

/// The kind of an outbox entry.
public enum OutboxKind: UInt8, Sendable, Hashable, CaseIterable {
  /// A message.
  case send = 1
  /// A new text of a message.
  case edit = 2
  /// The retraction of a message.
  case retract = 3
  /// A reaction or its removal.
  case react = 4
  /// A read receipt.
  case readReceipt = 5
  /// A delivery receipt.
  case deliveredReceipt = 6
  /// A conversation created here.
  case createConversation = 7
  /// The deletion of a conversation.
  case deleteConversation = 8
  /// The leaving of a group.
  case leaveConversation = 9
  /// Members added to or removed from a group.
  case changeMembers = 10
  /// A conversation's title.
  case setTitle = 11
  /// A conversation's picture.
  case setAvatar = 12
  /// The bytes of an attachment.
  case upload = 13
  /// The client's own work.
  case client = 14
  /// A client's own field of a message, or its kind.
  case setMessageField = 18
  /// A client's own field of a conversation, or its kind.
  case setConversationField = 19
  /// A client's own field of a member, or its kind.
  case setMemberField = 20
}
