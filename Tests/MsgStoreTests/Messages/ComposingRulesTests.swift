import MsgStore
import Testing

/// Rules for composing that depend on the conversation and on the age of a message.
struct ComposingRulesTests {
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

  // MARK: The age of an edited message

  @Test func theAgeUpToWhichAMessageIsEditedIsAnOption() throws {
    #expect(StoreOptions().maximumEditAge == nil)
    for (limit, isAllowed) in [(Duration?.none, true), (.seconds(9), false), (.seconds(10), true)] {
      let store = try strictStore { $0.maximumEditAge = limit }
      try store.write { chat throws in
        try chat.insert(message("m", at: 1_000_000, from: "me"))
        try chat.insert(message("n", at: 11_000_000))
        try chat.send(own("pending"))
        #expect(try chat.edit("pending", in: "room", text: "other") != nil)
        // An edit that was received is kept at any age.
        #expect(try chat.receiveEdit(of: "m", in: "room", text: "received", at: time(2_000_000)))
        if isAllowed {
          #expect(try chat.edit("m", in: "room", text: "other") != nil)
        } else {
          #expect(throws: StoreError.message(.tooOldToEdit, "m", in: "room")) {
            try chat.edit("m", in: "room", text: "other")
          }
        }
      }
      try store.expectSound()
    }
  }

  // MARK: The order of messages of one time

  /// The server has no sequence numbers, and accepts all at one moment.
  @Test(arguments: seeds(3)) func sentMessagesKeepTheirOrderAtOneServerTime(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try strictStore()
    try store.write { try $0.putConversation("room", participants: ["me", "you"]) }
    var sent: [MessageID] = []
    for index in 0..<10 {
      // Ids for other times are made meanwhile, by an import for instance.
      _ = MessageID.pushID(at: time(Int64(index) * 1_000_000))
      sent.append(
        try store.write { try $0.send(Message(in: "room", from: "me", text: "\(index)")) }.id)
    }
    for id in sent.shuffled(using: &random) {
      try store.write { try $0.acknowledge(id, in: "room", serverTimestamp: time(7_000_000)) }
    }
    #expect(try store.tail == sent.map(\.string), "seed \(seed)")
    try store.expectSound()
  }

  @Test func aClockThatIsSetBackALittleBreaksNoOrder() {
    var random = SeededGenerator(seed: 7)
    var last = TimedChance(bitCount: 72)
    var ids: [MessageID] = []
    let start: Int64 = 1_704_067_200_000
    for time in [start, start - 1, start - 60_000, start + 1, start, start + 1] {
      ids.append(
        MessageID.pushID(last.nextAscending(at: Timestamp(milliseconds: time), using: &random)))
    }
    #expect(ids == ids.sorted() && Set(ids).count == ids.count)
    // After a clock that was wrong by more, the ids have true times again.
    let corrected = last.nextAscending(at: Timestamp(milliseconds: start - 60_000), using: &random)
    #expect(corrected.milliseconds == UInt64(start - 60_000))
  }
}
