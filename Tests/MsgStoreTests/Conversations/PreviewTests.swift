import MsgStore
import PageFile
import Testing

/// What the list shows of a conversation's last message.
struct PreviewTests {
  private func store(_ directory: MemoryDirectory, skipDeleted: Bool) throws -> MessageStore {
    var options = StoreOptions(localMember: "me", clock: { Timestamp(microseconds: 1_000_000) })
      .makingConversations
    options.previewsSkipRetracted = skipDeleted
    return try MessageStore(in: directory, name: "store", options: options)
  }

  @Test(arguments: [false, true]) func aDeletedMessageOrTheOneBeforeIsShown(
    skipDeleted: Bool
  ) throws {
    let store = try store(MemoryDirectory(), skipDeleted: skipDeleted)
    try store.write { chat in
      try chat.insert(message("m1", at: 10, text: "first"))
      try chat.insert(message("m2", at: 20, text: "second"))
      try chat.insert(message("m3", at: 30, text: "third"))
      try chat.receiveRetraction(of: "m2", in: "room")
      try chat.receiveRetraction(of: "m3", in: "room")
    }
    let room = try #require(try store.read { try $0.conversation("room") })
    let preview = try #require(room.preview)
    #expect(preview.isRetracted == !skipDeleted)
    #expect(preview.messageID == (skipDeleted ? "m1" : "m3"))
    #expect(preview.text == (skipDeleted ? "first" : ""))
    #expect(room.lastActivity == time(30))
    try store.expectSound()
  }

  @Test func oneselfIsShownUnderOnesOwnNameWithWhatOthersHaveRead() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.putConversation("room", participants: ["me", "you"])
      try chat.insert(message("c1", at: nil, from: "me", local: 5))
      try chat.acknowledge("c1", in: "room", serverTimestamp: time(7), as: "s1")
    }
    func preview() throws -> ConversationPreview? {
      try store.read { try $0.conversation("room")?.preview }
    }
    #expect(try preview()?.messageID == "c1")
    #expect(try preview()?.status == .sent)
    try store.write { chat in
      try chat.receive(ReceivedReceipt(in: "room", of: "you", .read, .upTo("s1"), time: time(9)))
    }
    #expect(try preview()?.status == .read)
    #expect(try store.read { try $0.thread("room").tail(1).first?.status } == .read)
    try store.expectSound()
  }

  @Test func anAttachmentIsShownByItsKindAndName() throws {
    let store = try memoryStore()
    var picture = message("m1", at: 10, text: "look")
    picture.attachments = [
      MessageAttachment(id: "a", kind: .image, thumbnailURL: "thumb://1", fileName: "sea.jpg")
    ]
    try store.write { try $0.insert(picture) }
    let preview = try #require(try store.read { try $0.conversation("room")?.preview })
    #expect(preview.text == "look" && preview.attachment?.fileName == "sea.jpg")
    #expect(preview.attachment?.thumbnail == "thumb://1")
    try store.expectSound()
  }

  @Test func whoHasLeftComposesNothing() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.putConversation("room", participants: ["me", "you", "ann"])
      try chat.insert(message("m1", at: 10, from: "me"))
      try chat.leave("room")
    }
    #expect(throws: StoreError.conversation(.notAMember, "room")) {
      try store.write { try $0.send(Message(in: "room", from: "me", text: "still here?")) }
    }
    #expect(throws: StoreError.conversation(.notAMember, "room")) {
      try store.write { try $0.react("👍", to: "m1", in: "room") }
    }
    #expect(try store.read { try $0.thread("room").tail(5).count } == 1)
  }
}
