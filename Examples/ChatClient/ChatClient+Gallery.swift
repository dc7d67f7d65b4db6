public import MsgStore

/// The pictures of a conversation.
extension ChatClient {
  /// The newest pictures with their names and the state of their transfers, newest first.
  ///
  /// - Parameters:
  ///   - room: The conversation.
  ///   - count: The number of messages with pictures, 1 or more.
  public func gallery(in room: ConversationID, count: Int) throws -> [AttachmentState] {
    try store.read { chat in
      try chat.thread(room).tagged(.image).tail(count).reversed().flatMap { message in
        try chat.attachments(of: message.id, in: room).filter { $0.attachment.kind == .image }
      }
    }
  }
}
