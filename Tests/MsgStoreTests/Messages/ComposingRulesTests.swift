import MsgStore
import Testing

/// Rules for composing that depend on the conversation and on the age of a message.
@Suite struct ComposingRulesTests {
  private func strictStore(
    _ change: (inout StoreOptions) -> Void = { _ in }
  ) throws -> MessageStore {
    try TestClock().store {
      $0.createsConversationsOnSend = false
      change(&$0)
    }
  }

  // MARK: Conversations that are not there

  @Test func sendingToAConversationThatIsNotThereIsRefusedAndLeavesNothing() throws {
    let store = try strictStore()
    #expect(
      try !store.commits { chat throws in
        #expect(throws: StoreError.conversation(.notFound, "room")) { try chat.send(own("m")) }
      })
    #expect(throws: StoreError.conversation(.notFound, "room")) { try store.send(own("m")) }
    try store.read { chat throws in
      #expect(try chat.conversation("room") == nil)
      #expect(try chat.outbox.counts().total == 0)
    }
    try store.expectSound()
  }

  @Test func aConversationKnownFromAReceivedMessageIsThere() throws {
    let store = try strictStore()
    try store.write { chat throws in
      try chat.insert(message("theirs", at: 5))
      try chat.send(own("m"))
    }
    #expect(try store.tail == ["theirs", "m"])
    try store.expectSound()
  }

  @Test func aDeletedConversationIsNotThere() throws {
    let store = try strictStore()
    try store.write { chat throws in
      try chat.insert(message("theirs", at: 5))
      _ = try chat.deleteConversation("room")
      #expect(throws: StoreError.conversation(.notFound, "room")) { try chat.send(own("m")) }
    }
    #expect(try store.read { try $0.conversation("room") } == nil)
    try store.expectSound()
  }

  @Test func byAnOptionSendingMakesTheConversation() throws {
    #expect(!StoreOptions().createsConversationsOnSend)
    let store = try strictStore { $0.createsConversationsOnSend = true }
    try store.write { try $0.send(own("m")) }
    #expect(try store.read { try $0.conversation("room")?.kind } == .unknown)
    #expect(try store.tail == ["m"])
    try store.expectSound()
  }
}
