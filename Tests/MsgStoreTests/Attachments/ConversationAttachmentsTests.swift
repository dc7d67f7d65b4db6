import MsgStore
import Testing

/// What becomes of attachments when conversations are deleted and merged.
struct ConversationAttachmentsTests {
  private func carrier(
    _ id: MessageID, in conversation: ConversationID, at time: Int64
  ) -> Message {
    var message = Message(
      id: id, in: conversation, from: "you", text: "",
      serverTimestamp: Timestamp(microseconds: time))
    message.attachments = [
      MessageAttachment(
        id: "a", kind: .image, remoteURL: "u\(id)", contentHash: Array(id.string.utf8))
    ]
    return message
  }

  private func filled() throws -> MessageStore {
    let store = try memoryStore()
    try store.write { writer in
      for (name, ids) in [("old", ["m", "n"]), ("new", ["n", "o"])] {
        let conversation = ConversationID(name)
        for (index, id) in ids.enumerated() {
          try writer.insert(carrier(MessageID(id), in: conversation, at: Int64(index)))
          try writer.setTransfer(
            .download, to: .running(doneByteCount: 3), of: "a", message: MessageID(id),
            in: conversation)
        }
      }
      // One that waits for its message.
      try writer.receive(
        MessageAttachment(id: "a", kind: .image, remoteURL: "u", contentHash: [1]), of: "w",
        in: "old")
    }
    return store
  }

  @Test func attachmentsAreNotFoundOnceTheirConversationIsDeleted() throws {
    let store = try filled()
    try store.write { _ = try $0.deleteConversation("old") }
    try store.read { (reader: borrowing StoreSnapshot) throws in
      #expect(try reader.runningTransfers().map(\.conversation) == ["new", "new"])
      #expect(try reader.attachment(withContentHash: Array("m".utf8)) == nil)
      #expect(try reader.attachment(withContentHash: Array("n".utf8))?.conversation == "new")
    }
    try store.finishWork()
    try store.expectSound()
  }

  @Test func attachmentsFollowTheirConversationToAnotherOne() throws {
    let store = try filled()
    try store.write { _ = try $0.renameConversation("old", to: "new") }
    try store.finishWork()
    try store.write {
      try $0.insert(carrier("w", in: "old", at: 9))
      #expect(try $0.attachment(withContentHash: Array("m".utf8))?.conversation == "new")
    }
    try store.read {
      let running = try $0.runningTransfers()
      #expect(Set(running.map(\.message)) == ["m", "n", "o"])
      #expect(running.allSatisfy { $0.conversation == "new" })
      #expect(running.allSatisfy { $0.download == .running(doneByteCount: 3) })
    }
    try store.expectSound()
  }
}
