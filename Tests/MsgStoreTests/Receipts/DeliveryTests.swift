import MsgStore
import PageFile
import Testing

/// How far a message has come, and who has read it.
struct DeliveryTests {
  private func sent(_ count: Int) throws -> MessageStore {
    let store = try groupStore()
    try store.write { chat in
      for number in 0..<count {
        try chat.insert(message(MessageID("m\(number)"), at: Int64(number * 10), from: "me"))
      }
    }
    return store
  }

  @Test func aMessageIsReadWhenEveryRecipientHasReadIt() throws {
    let store = try sent(5)
    try store.write { chat in
      try chat.receive(receipt("you", .read, upTo: "m3", at: 100))
      try chat.receive(receipt("ann", .delivered, upTo: "m4", at: 90))
      try chat.receive(receipt("ann", .read, upTo: "m2", at: 110))
    }
    let delivery = try #require(try store.delivery("m2"))
    #expect(delivery.status == .sent && !delivery.isReadByAll)
    #expect(delivery.recipientCount == 3)
    #expect(delivery.deliveredCount == 2 && delivery.readCount == 2)
    try store.write { try $0.receive(receipt("bob", .delivered, upTo: "m3")) }
    #expect(try store.delivery("m2")?.status == .delivered)
    #expect(try store.status("m2") == .delivered)
    #expect(try store.status("m3") == .delivered)
    #expect(try store.status("m4") == .sent)
    try store.write { try $0.receive(receipt("bob", .read, upTo: "m1")) }
    #expect(try store.delivery("m1")?.isReadByAll == true)
    #expect(
      try store.read { try $0.thread("room").tail(5).map(\.status) }
        == [.read, .read, .delivered, .delivered, .sent])
    try store.expectSound()
  }

  @Test func exactReceiptsCountBesideMarks() throws {
    let store = try sent(3)
    try store.write { chat in
      try chat.receive(receipt("you", .read, upTo: "m2"))
      try chat.receive(receipt("ann", .read, ["m1", "m1"], at: 50))
      try chat.receive(receipt("bob", .delivered, ["m1"], at: 40))
    }
    #expect(try store.delivery("m1")?.readCount == 2)
    #expect(try store.status("m1") == .delivered && store.status("m0") == .sent)
    #expect(try !store.write { try $0.receive(receipt("ann", .read, ["m1"], at: 60)) })
    try store.write { try $0.receive(receipt("bob", .read, ["m1"])) }
    #expect(try store.status("m1") == .read && store.delivery("m1")?.isReadByAll == true)
    #expect(try store.status("m2") == .sent)
    try store.expectSound()
  }

  @Test func whoHasReadAMessageIsKnownWithTheEarliestTimes() throws {
    let store = try sent(5)
    try store.write { chat in
      try chat.receive(receipt("ann", .read, upTo: "m4", at: 200))
      try chat.receive(receipt("ann", .read, upTo: "m1", at: 120))
      try chat.receive(receipt("ann", .delivered, upTo: "m4", at: 150))
      try chat.receive(receipt("bob", .delivered, ["m1"], at: 70))
      try chat.receive(receipt("you", .read, upTo: "m1"))
      try chat.receive(receipt("eve", .read, upTo: "m1", at: 130))
      try chat.receive(receipt("me", .read, upTo: "m4", at: 10))
    }
    let readers = try store.readers("m1")
    #expect(readers.map(\.member) == ["ann", "bob", "eve", "you"])
    #expect(readers.map(\.isRead) == [true, false, true, true])
    #expect(readers.map(\.readAt) == [time(120), nil, time(130), nil])
    #expect(readers.map(\.deliveredAt) == [time(120), time(70), time(130), nil])
    #expect(try store.readers("m2").map(\.readAt) == [time(200)])
    #expect(try store.readers("m2").map(\.deliveredAt) == [time(150)])
    #expect(try store.readers("none").isEmpty)
    try store.expectSound()
  }

  @Test func theSendersOwnReceiptCountsForNothing() throws {
    let store = try groupStore()
    try store.write { chat in
      try chat.insert(message("theirs", at: 10, from: "ann"))
      try chat.receive(receipt("ann", .read, upTo: "theirs"))
      try chat.receive(receipt("ann", .read, ["theirs"]))
    }
    #expect(try store.readers("theirs").isEmpty)
    let delivery = try #require(try store.delivery("theirs"))
    #expect(delivery.recipientCount == 3 && delivery.readCount == 0)
    // The local member's own reading counts also before the server knows of it.
    try store.write { try $0.markRead("room") }
    #expect(try store.delivery("theirs")?.readCount == 1)
    #expect(try store.readers("theirs").map(\.member) == ["me"])
    #expect(try store.readers("theirs").first?.readAt == time(1_000_000))
    try store.expectSound()
  }

  @Test func receiptsOfUnknownMembersAndConversationsAreKept() throws {
    let store = try memoryStore()
    let receipt = receipt("stranger", .read, upTo: "m1", at: 5)
    #expect(try store.write { try $0.receive(receipt) })
    #expect(try !store.write { try $0.receive(receipt) })
    try store.write { try $0.insert(message("m1", at: 10, from: "me")) }
    #expect(try store.readers("m1").map(\.member) == ["stranger"])
    #expect(try store.delivery("m1")?.recipientCount == 0 && store.status("m1") == .sent)
    try store.write { try $0.putConversation("room", participants: ["me", "stranger"]) }
    #expect(try store.status("m1") == .read)
    try store.expectSound()
    #expect(throws: StoreError.input(.identifier(what: "member id", byteCount: 0))) {
      try store.write { try $0.receive(MsgStoreTests.receipt("", .read, upTo: "m1")) }
    }
  }

  @Test func whoLeavesIsNotWaitedForAndWhoComesIs() throws {
    let store = try sent(2)
    try store.write { chat in
      try chat.receive(receipt("you", .read, upTo: "m1"))
      try chat.receive(receipt("ann", .read, upTo: "m1"))
    }
    #expect(try store.status("m1") == .sent)
    try store.write { try $0.putConversation("room", participants: ["me", "you", "ann"]) }
    #expect(try store.status("m1") == .read)
    // Whoever comes later is not waited for with what was sent before, only with what follows.
    try store.write { chat in
      try chat.putConversation("room", participants: ["me", "you", "ann", "eve"])
      try chat.insert(message("m9", at: 9_000_000, from: "me"))
      try chat.receive(receipt("you", .read, upTo: "m9"))
      try chat.receive(receipt("ann", .read, upTo: "m9"))
    }
    #expect(try store.status("m1") == .read)
    #expect(try store.status("m9") == .sent)
    try store.write { try $0.receive(receipt("eve", .read, upTo: "m9")) }
    #expect(try store.status("m9") == .read)
    try store.expectSound()
  }

  @Test func aLargeGroupThatMovesOnCostsOneRound() throws {
    let store = try memoryStore()
    let members = (0..<1000).map { MemberID("member\($0)") }
    try store.write { chat in
      try chat.putConversation("room", participants: ["me"] + members)
      for number in 0..<3 {
        try chat.insert(message(MessageID("m\(number)"), at: Int64(number), from: "me"))
      }
    }
    let clock = ContinuousClock()
    let duration = try clock.measure {
      for id in ["m0", "m1"] as [MessageID] {
        try store.write(.relaxed) { chat in
          for member in members { try chat.receive(receipt(member, .read, upTo: id)) }
        }
        #expect(try store.status(id) == .read)
      }
    }
    #expect(duration < .seconds(10))
    #expect(try store.status("m2") == .sent)
    try store.expectSound()
  }
}
