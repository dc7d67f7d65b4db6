import MsgStore

extension MsgStoreEngine: ReplyEngine {
  func keepReplies() {}

  func replies(to key: MessageKey, count: Int) throws -> Reading {
    let answered = MessageID(key.id)
    return try read(key.conversation) { store, id in
      try store.read { try $0.replies(to: answered, in: id).newest(count) }
    }
  }
}
