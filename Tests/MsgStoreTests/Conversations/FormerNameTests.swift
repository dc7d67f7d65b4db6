import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// A conversation that was found by a name it had before says what it is called now.
struct FormerNameTests {
  private func renamed(_ directory: MemoryDirectory = MemoryDirectory()) throws -> MessageStore {
    let store = try memoryStore(directory)
    try store.write { chat in
      _ = try chat.createGroup("mine", participants: ["ann"])
      try chat.insert(chatMessage("m", in: "mine", at: 5))
      try chat.insert(chatMessage("n", in: "other", at: 6))
      try chat.renameConversation("mine", to: "server")
    }
    return store
  }

  @Test func messagesHaveTheNameThatTheConversationHasNow() throws {
    let store = try renamed()
    try store.write { chat in
      for name in ["mine", "server"] as [ConversationID] {
        #expect(try chat.thread(name).tail(1).first?.conversation == "server")
        #expect(try chat.message("m", in: name)?.conversation == "server")
      }
      #expect(try chat.send(Message(in: "mine", from: "me", text: "x")).conversation == "server")
      try chat.markRead("mine")
    }
    try store.read { chat in
      for name in ["mine", "server"] as [ConversationID] {
        let thread = try chat.thread(name)
        #expect(try thread.around("m", count: 1).first?.conversation == "server")
        #expect(try thread.at(time(5), count: 1).first?.conversation == "server")
        #expect(try chat.message("m", in: name)?.conversation == "server")
        let pending = try chat.pendingReceipts(in: name, .read, as: .mark)
        #expect(pending.map(\.conversation) == ["server"])
      }
      #expect(try chat.message("n", in: "other")?.conversation == "other")
    }
    try store.expectSound()
  }

  @Test func aFormerNameThatIsTakenAgainIsTheNameAndTheOtherIsNot() throws {
    let store = try renamed()
    try store.write { chat in
      try chat.renameConversation("server", to: "mine")
      for name in ["mine", "server"] as [ConversationID] {
        #expect(try chat.message("m", in: name)?.conversation == "mine")
      }
    }
    try store.expectSound()
  }

  @Test func theNamesOfMergedAndDeletedConversationsStayWhatTheyAre() throws {
    let store = try renamed()
    try store.write { chat in
      try chat.renameConversation("other", to: "server")
      for name in ["mine", "other", "server"] as [ConversationID] {
        #expect(try chat.thread(name).tail(2).map(\.conversation) == ["server", "server"])
      }
    }
    try store.expectSound()
    try store.write { chat in
      try chat.deleteConversation("other")
      try chat.insert(chatMessage("new", in: "mine", at: 9_000_000_000))
      for name in ["mine", "other", "server"] as [ConversationID] {
        #expect(try chat.thread(name).tail(2).map(\.conversation) == ["server"])
      }
    }
    try store.expectSound()
  }

  @Test func aCheckFindsANameThatSaysWronglyWhetherItIsInUse() throws {
    for (name, value) in [("mine", [1, 0, 0, 0]), ("server", [1, 0, 0, 0, 1])] as [(_, [UInt8])] {
      let directory = MemoryDirectory()
      let store = try renamed(directory)
      try store.expectSound()
      try store.close()
      let database = try Database(in: directory, name: "store", options: DatabaseOptions())
      let transaction = try database.beginWrite()
      try transaction.source.enter()
      let key = NameKey.conversation(name)
      _ = try Bytes.with(value) {
        try BTree(transaction.source, Schema.names).insert(key.bytes, $0)
      }
      transaction.source.leave()
      _ = try transaction.commit(.full)
      try database.close()
      let findings = try memoryStore(directory).check()
      #expect(findings.contains { "\($0)".contains("wrong in-use flag") })
    }
  }
}
