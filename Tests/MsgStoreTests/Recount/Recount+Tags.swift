import MsgStore
import MsgStoreTools

extension Recount {
  /// The messages with each tag, as a client reads them.
  mutating func compareTags(_ room: RoomRecount, _ chat: borrowing StoreSnapshot) throws {
    let id = room.conversation.id
    for tag in MessageTag.allCases {
      let expected = room.messages.filter { room.has(tag, $0) }.map(\.id)
      let tagged = try chat.thread(id).tagged(tag)
      // Those of an older store are entered in steps.
      guard tagged.isComplete else { continue }
      expect(try tagged.tail(100_000).map(\.id), expected, "\(id): \(tag)")
      expect(try tagged.count, expected.count, "\(id): number of \(tag)")
    }
  }
}

extension RoomRecount {
  /// Rule F-17.
  fileprivate func has(_ tag: MessageTag, _ message: ExportedMessage) -> Bool {
    if message.isRetracted || message.isHidden { return false }
    let kinds = Set(message.facts.attachments.map(\.attachment.kind))
    switch tag {
    case .image: return kinds.contains(.image)
    case .video: return kinds.contains(.video)
    case .audio: return kinds.contains(.audio)
    case .file: return !kinds.isDisjoint(with: [.document, .other])
    case .link:
      let text = message.text.lowercased()
      return text.contains("http://") || text.contains("https://")
    case .mention: return localMember.map(message.mentions.contains) ?? false
    }
  }
}
