/// A message as an application would have it at hand before writing it to another store.
struct PeerDraft {
  var message: PeerMessage
  var isUnread: Bool
  var preview: String

  init(_ message: ChatMessage) {
    self.message = PeerMessage(message)
    isUnread = message.sender != localMember
    let byteCount = ConversationPreview.byteCount(of: message.text)
    preview = String(decoding: message.text.utf8.prefix(byteCount), as: UTF8.self)
  }
}
