import MsgStore

/// From the server to the store.
extension ChatClient {
  /// Takes in all that is new, some at a time.
  ///
  /// What the server tells may come twice, and in any order, and has the same end in the store. So
  /// this needs no memory of its own but how far it has come, which is kept in the same commit.
  ///
  /// - Returns: false when the server could not be reached.
  func takeNews() async throws -> Bool {
    let newsKey = newsKey
    while true {
      let bytes = try await store.read { chat in try chat.syncPosition(for: newsKey) }
      let count = bytes.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
      guard
        case .news(let news, let next)? =
          try? await transport.ask(Request(from: member, .news(after: count)))
      else { return false }
      if news.isEmpty, next == count { return true }
      // Relaxed: a power cut may take it, and then it is fetched again.
      try await store.write(.relaxed) { chat in
        var rooms: Set<ConversationID> = []
        for item in news {
          try Self.take(item, chat)
          if case .message(let message) = item { rooms.insert(message.room) }
        }
        // The senders see that it has come. This enters receipts, one for each conversation.
        for room in rooms { try chat.markDelivered(room) }
        try chat.setSyncPosition(Array("\(next)".utf8), for: newsKey)
      }
    }
  }

  private static func take(_ news: News, _ chat: borrowing StoreWriter) throws {
    switch news {
    case .room(let room):
      try chat.receive(room.received)
      // Numbers begin at 1. Who joins late thus knows that the first ones are missing.
      if try chat.conversation(room.id) != nil { try chat.declareAbsent(0...0, in: room.id) }
    case .profile(let profile): try chat.receive(profile.profile)
    case .roomDeleted(let id, let time):
      try chat.receiveConversationDeletion(id, at: Timestamp(microseconds: time))
    case .message(let message): try chat.insert(message.message)
    case .edit(let id, let room, let text, let mentions, let time):
      try chat.receiveEdit(
        of: id, in: room, text: text, mentions: mentions, at: Timestamp(microseconds: time))
    case .retract(let id, let room, let time):
      try chat.receiveRetraction(of: id, in: room, at: Timestamp(microseconds: time))
    case .reaction(let emoji, let member, let id, let room, let isRemoved, let time):
      try chat.receive(
        Reaction(emoji, from: member, at: Timestamp(microseconds: time)), isRemoved: isRemoved,
        to: id, in: room)
    case .receipt(let receipt, let member, let time):
      for received in receipt.received(of: member, at: time) { try chat.receive(received) }
    }
  }
}
