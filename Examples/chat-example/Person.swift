import ChatClient
import Foundation
import MsgStore

/// Somebody with a client, who does what a user does: look at the store, and write into it.
struct Person {
  let client: ChatClient
  let name: MemberID

  init(_ name: MemberID, store: String, socket: String) throws {
    self.name = name
    client = try ChatClient(
      path: store, member: name, transport: SocketTransport(path: socket),
      log: { FileHandle.standardOutput.write(Data("\(name): (\($0))\n".utf8)) })
  }

  /// Shows what happens, at once: another process writes beside this one.
  func tell(_ text: String) { FileHandle.standardOutput.write(Data("\(name): \(text)\n".utf8)) }

  /// Says something and shows it.
  @discardableResult
  func say(
    _ text: String, in room: ConversationID, attachments: [MessageAttachment] = []
  ) throws -> MessageID {
    tell(text)
    return try client.say(text, in: room, attachments: attachments).value.id
  }

  /// The newest message with a text, once it is there.
  func find(_ text: String, in room: ConversationID) throws -> Message? {
    try client.store.read { chat in
      guard try chat.conversation(room) != nil else { return nil }
      return try chat.thread(room).tail(50).last { $0.text == text }
    }
  }

  /// Lets the client do its work until somebody has said something, with the thread open on the
  /// screen: what comes is read.
  func wait(for text: String, in room: ConversationID) async throws {
    try await client.run { try look(at: room) && find(text, in: room) != nil }
  }

  /// Marks all as read; false while there is no such conversation.
  ///
  /// It enters a receipt for the others where there is something to tell.
  private func look(at room: ConversationID) throws -> Bool {
    try client.store.write { chat in
      guard try chat.conversation(room) != nil else { return false }
      try chat.markRead(room)
      return true
    }
  }

  /// Says the last word, and waits until the other has read it and everything is told.
  func leave(_ room: ConversationID, whenToldBy other: MemberID) async throws {
    let last = try say("bye, \(other)", in: room)
    try await wait(for: "bye, \(name)", in: room)
    try await client.run {
      try client.store.read { chat in
        // The other one tells everything before that last word was read.
        try chat.message(last, in: room)?.status == .read && chat.outbox.counts().total == 0
      }
    }
    try await client.store.close()
  }
}
