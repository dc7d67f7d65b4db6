/// One thing that the server has to be told.
///
/// It is read from the store when it is handed out, so it says what holds then. Whether the server
/// has had it before is told by the token of its `OutboxItem`, which is the same on every attempt.
public enum OutboxTask: Sendable, Hashable {
  /// A message, with the text it was first written with: its edits follow as tasks of their own.
  ///
  /// All its uploads are done. What the server says of it is told by `acknowledge`.
  case send(Message)
  /// A new text of a message; `at` is the time that `confirmEdit` and `refuseEdit` name it by.
  case edit(MessageID, text: String, mentions: [MemberID], at: Timestamp)
  /// A message is taken back.
  case unsend(MessageID)
  /// A reaction to a message, or that it was taken away.
  case react(emoji: String, to: MessageID, isRemoved: Bool)
  /// What was read or delivered here.
  case receipt(PendingReceipt)
  /// A conversation that was made here; `renameConversation` takes the server's name for it.
  case createConversation(Conversation)
  /// A conversation that was deleted here.
  case deleteConversation
  /// The local member has left a group.
  case leaveConversation
  /// Members have joined a group, or were made to leave it.
  case changeMembers(added: [MemberID], removed: [MemberID])
  /// The title of a conversation, or that it has none any more.
  case setTitle(String?)
  /// The reference of a conversation's picture, or that it has none any more.
  case setAvatar(String?)
  /// The bytes of an attachment; how many of them are there already is in its `upload`.
  case upload(AttachmentState)
  /// Something of the client's own, by the name and the bytes that it was entered with.
  case client(name: String, payload: [UInt8])
}

/// What kind of thing waits to go out.
public enum OutboxKind: UInt8, Sendable, Hashable, CaseIterable {
  /// A message.
  case send = 1
  /// A new text of a message.
  case edit = 2
  /// A message is taken back.
  case unsend = 3
  /// A reaction, or that it was taken away.
  case react = 4
  /// What was read.
  case readReceipt = 5
  /// What was delivered.
  case deliveredReceipt = 6
  /// A conversation that was made here.
  case createConversation = 7
  /// A conversation that was deleted here.
  case deleteConversation = 8
  /// A group that was left.
  case leaveConversation = 9
  /// Members of a group that have come or gone.
  case changeMembers = 10
  /// A conversation's title.
  case setTitle = 11
  /// A conversation's picture.
  case setAvatar = 12
  /// The bytes of an attachment.
  case upload = 13
  /// Something of the client's own.
  case client = 14
}
