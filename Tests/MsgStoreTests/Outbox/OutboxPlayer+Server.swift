import MsgStore
import PageFile
import Testing

/// What comes from elsewhere.
extension OutboxPlayer {
  func receive() throws {
    guard let room = room() else { return }
    serial += 1
    let id = MessageID("r\(serial)")
    let choice = Int.random(in: 0..<10, using: &random)
    let time = newServerTime()
    let pending = model.messages.filter {
      $0.value.room == room && $0.value.serverTime == nil && !$0.value.isErased
    }.keys.sorted().randomElement(using: &random)
    try change { (model, chat) throws in
      let name = model.rooms[room].name
      switch choice {
      case 0..<4:
        try chat.insert(chatMessage(id, in: name, at: time))
        model.rooms[room].incoming.append(time)
        model.rooms[room].isVisible = true
      case 4..<8:
        _ = try chat.markRead(name)
        model.markRead(room)
      default:
        // The server's word of a message, by itself or as its echo.
        guard let pending else { return }
        if choice == 8 {
          _ = try chat.acknowledge(pending, in: name, serverTimestamp: .init(microseconds: time))
        } else {
          try chat.insert(chatMessage(pending, in: name, at: time, from: "me", text: "echo"))
        }
        model.messages[pending]?.serverTime = time
        model.isSent(pending)
      }
    }
  }

  func changeConversations() throws {
    guard let room = room() else { return }
    serial += 1
    let newName = ConversationID("server\(serial)")
    let time = newServerTime()
    let choice = Int.random(in: 0..<10, using: &random)
    let message = model.messages.filter { $0.value.room == room }.keys.sorted()
      .randomElement(using: &random)
    try change { (model, chat) throws in
      let name = model.rooms[room].name
      switch choice {
      case 0..<2:
        _ = try chat.deleteConversation(name)
        model.deleteConversation(room)
      case 2..<4:
        guard model.index(room, .create) == nil, model.index(room, .read) == nil else { return }
        _ = try chat.receiveConversationDeletion(name, at: .init(microseconds: time))
        model.deleteElsewhere(room)
      case 4..<7:
        _ = try chat.renameConversation(name, to: newName)
        model.rooms[room].name = newName
        model.entries.removeAll { $0.room == room && $0.kind == .create }
      default:
        guard let message else { return }
        _ = try chat.delete(message, in: name)
        model.deleteMessage(message)
      }
    }
  }
}
