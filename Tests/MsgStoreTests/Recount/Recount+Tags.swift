import MsgStore
import MsgStoreTools

extension Recount {
  /// The messages with each tag, as a client reads them.
  mutating func compareTags(_ room: RoomRecount, _ chat: borrowing StoreSnapshot) throws {
    let id = room.conversation.id
    for tag in MessageTag.builtIn + [.own("a"), .own("b")] {
      let expected = room.messages.filter { room.has(tag, $0) }.map(\.id)
      let tagged = try chat.thread(id).tagged(tag)
      expect(try tagged.tail(100_000).map(\.id), expected, "\(id): \(tag)")
      expect(try tagged.count, expected.count, "\(id): number of \(tag)")
    }
    for message in room.messages {
      guard let shown = try chat.message(message.id, in: id) else { continue }
      let tags = message.isRetracted || message.isHidden ? [] : message.setTags
      expect(Set(shown.tags), tags, "\(id): tags of \"\(message.id)\"")
    }
  }

  /// The pinned and the starred messages of all conversations.
  mutating func compareTagged(_ rooms: [RoomRecount], _ chat: borrowing StoreSnapshot) throws {
    for tag in [MessageTag.pinned, .starred] {
      let expected = rooms.flatMap { room in
        room.messages.filter { room.has(tag, $0) }.map {
          [room.conversation.id.string, $0.id.string]
        }
      }
      let tagged = try chat.tagged(tag)
      let slice = try tagged.newest(100_000)
      expect(
        Set(slice.map { [$0.conversation.string, $0.id.string] }), Set(expected), "all \(tag)")
      expect(slice.count, expected.count, "number of all \(tag)")
      let times = slice.map { $0.serverTimestamp ?? $0.localTime ?? Timestamp(microseconds: 0) }
      expect(times, times.sorted(), "order of all \(tag)")
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
        || message.setTags.contains(.link)
    case .mention: return localMember.map(message.mentions.contains) ?? false
    case .pinned, .starred, .own: return message.setTags.contains(tag)
    }
  }
}

extension ExportedMessage {
  fileprivate var setTags: Set<MessageTag> {
    Set(facts.tags.filter { !$0.isRemoved }.map(\.tag))
  }
}
