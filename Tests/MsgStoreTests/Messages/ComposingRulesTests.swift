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

  // MARK: Conversations without the local member

  private func refuse(
    _ id: ConversationID, _ act: (borrowing StoreWriter) throws -> Void, in store: MessageStore,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    let hasCommitted = try store.commits { chat throws in
      #expect(
        throws: StoreError.conversation(.notAMember, id), sourceLocation: location
      ) { try act(chat) }
    }
    #expect(!hasCommitted, sourceLocation: location)
  }

  @Test func aListOfParticipantsWithoutTheLocalMemberIsNotTheirs() throws {
    let store = try strictStore()
    try store.write { chat throws in
      #expect(try chat.putConversation("room", participants: ["ann", "you"]))
      try chat.insert(message("theirs", at: 5))
      try chat.insert(message("mine", at: 6, from: "me"))
    }
    #expect(
      try !store.commits { try $0.putConversation("room", participants: ["ann", "you"]) })
    #expect(try store.read { try $0.conversation("room")?.isMember } == false)
    try refuse("room", { try $0.send(own("m")) }, in: store)
    try refuse("room", { try $0.edit("mine", in: "room", text: "x") }, in: store)
    try refuse("room", { try $0.react("👍", to: "theirs", in: "room") }, in: store)
    try refuse("room", { try $0.setTitle("x", of: "room") }, in: store)
    try refuse("room", { try $0.markRead("room") }, in: store)
    try refuse("room", { try $0.markRead("room", upTo: "theirs") }, in: store)
    try refuse("room", { try $0.markRead(["theirs"], in: "room") }, in: store)
    try store.write { try $0.markDelivered("room") }
    try store.read { chat throws in
      #expect(try chat.outbox.counts().total == 0)
      #expect(try chat.thread("room").tail(9).ids == ["theirs", "mine"])
      #expect(try chat.conversation("room")?.participants == ["ann", "you"])
    }
    try store.expectSound()

    // Whoever is added belongs, and has marks to tell.
    try store.write { chat throws in
      try chat.putConversation("room", participants: ["ann", "you", "me"])
      try chat.markRead("room")
      try chat.send(own("m"))
    }
    let kinds = try store.read { try $0.outbox.entries(count: 9).entries.map(\.kind) }
    #expect(Set(kinds) == [.readReceipt, .deliveredReceipt, .send])
    try store.expectSound()
  }

  @Test func aNameWithoutMembersKeepsReceiptsAsMessagesOftenComeBeforeMembers() throws {
    let store = try strictStore()
    try store.write { chat throws in
      try chat.putConversation("room", participants: [], title: "Room")
      try chat.insert(message("theirs", at: 5))
      try chat.markRead("room")
    }
    #expect(try store.read { try $0.outbox.counts().total } == 1)
    // As soon as it is known that the receipt is not the local member's to tell, it goes.
    var members = ReceivedConversation("room", at: time(10))
    members.members = [.init("ann"), .init("you")]
    members.hasAllMembers = true
    try store.write { try $0.receive(members) }
    #expect(try store.read { try $0.outbox.counts().total } == 0)
    try store.expectSound()
  }

  @Test func whoHasLeftMayReadToTheEnd() throws {
    let store = try strictStore()
    try store.write { chat throws in
      try chat.putConversation("room", participants: ["me", "you", "ann"])
      try chat.insert(message("theirs", at: 5))
      try chat.leave("room")
    }
    #expect(try store.write { try $0.markRead("room") })
    #expect(try store.read { try $0.conversation("room")?.unreadCount } == 0)
    #expect(try store.entries().map(\.kind) == [.leaveConversation])
    try store.expectSound()
  }
}
