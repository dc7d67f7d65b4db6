/// The space that one conversation takes.
public struct ConversationSizes: Sendable, Hashable {
  /// The number of messages.
  public internal(set) var messageCount = 0
  /// The bytes stored for messages: keys and records, or packed segments of many messages.
  public internal(set) var messageByteCount = 0
  /// The bytes stored beside messages: their ids, earlier versions, reactions, attachments,
  /// receipts, known sequence numbers, and sync positions.
  public internal(set) var otherByteCount = 0
  /// The bytes of the texts of the messages in UTF-8, as they are when unpacked.
  public internal(set) var textByteCount = 0
  /// The number of attachments, including those of messages that are not here yet.
  public internal(set) var attachmentCount = 0
  /// The bytes of all attachments whose size is known; their files are not in the store.
  public internal(set) var attachmentByteCount: Int64 = 0

  /// The bytes stored for the conversation.
  ///
  /// Pages have free space, branches above them, and share the beginnings of keys. So the sum over
  /// all conversations is near the size of a compacted data file, but not equal to it.
  public var storedByteCount: Int { messageByteCount + otherByteCount }
}
