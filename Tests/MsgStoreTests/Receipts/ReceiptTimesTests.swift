import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// The times that received receipts give to own messages.
struct ReceiptTimesTests {
  private func direct(_ count: Int, with you: MemberID = "you") throws -> MessageStore {
    let store = try memoryStore()
    try store.write { chat in
      try chat.putConversation("room", participants: ["me", you])
      for number in 0..<count {
        try chat.insert(message(MessageID("m\(number)"), at: Int64(number * 10), from: "me"))
      }
    }
    return store
  }

  private func message(_ id: MessageID, of store: MessageStore) throws -> Message {
    let single = try #require(try store.read { try $0.message(id, in: "room") })
    let inSlice = try store.read { chat in
      try #require(try chat.thread("room").tail(100).first { $0.id == id })
    }
    #expect(single == inSlice)
    #expect(single.readAt == inSlice.readAt && single.deliveredAt == inSlice.deliveredAt)
    return single
  }

  private func message(_ id: MessageID, at moment: Int64, from sender: MemberID) -> Message {
    chatMessage(id, in: "room", at: moment, from: sender)
  }

  @Test func aMarkWithATimeSaysWhenItsMessagesWereRead() throws {
    let store = try direct(4)
    try store.write { try $0.receive(receipt("you", .delivered, upTo: "m2", at: 100)) }
    #expect(try message("m2", of: store).status == .delivered)
    #expect(try message("m2", of: store).deliveredAt == time(100))
    #expect(try message("m2", of: store).readAt == nil)
    try store.write { chat in
      try chat.receive(receipt("you", .read, upTo: "m2", at: 130))
      try chat.receive(receipt("you", .read, upTo: "m1", at: 120))
    }
    for (id, readAt) in [("m0", 120), ("m1", 120), ("m2", 130)] as [(MessageID, Int64)] {
      let message = try message(id, of: store)
      #expect(message.status == .read && message.readAt == time(readAt))
      #expect(message.deliveredAt == time(100))
    }
    let last = try message("m3", of: store)
    #expect(last.status == .sent && last.readAt == nil && last.deliveredAt == nil)
    try store.expectSound()
  }

  @Test func aReadMessageWasDeliveredAtThatTimeAtTheLatest() throws {
    let store = try direct(1)
    try store.write { try $0.receive(receipt("you", .read, upTo: "m0", at: 50)) }
    #expect(try message("m0", of: store).deliveredAt == time(50))
  }

  @Test func timesOfStatusesAndOfReceiptsAreJoinedToTheEarliest() throws {
    let store = try direct(3)
    try store.write { chat in
      try chat.setStatus(.read, of: "m0", in: "room", at: time(90))
      try chat.setStatus(.read, of: "m1", in: "room", at: time(20))
      try chat.setStatus(.read, of: "m2", in: "room")
      try chat.receive(receipt("you", .read, upTo: "m2", at: 60))
    }
    #expect(try message("m0", of: store).readAt == time(60))
    #expect(try message("m1", of: store).readAt == time(20))
    #expect(try message("m2", of: store).readAt == time(60))
  }

  @Test func inAGroupTheTimeComesWithTheStatus() throws {
    let store = try groupStore()
    try store.write { chat in
      for number in 0..<3 {
        try chat.insert(message(MessageID("m\(number)"), at: Int64(number * 10), from: "me"))
      }
      try chat.receive(receipt("you", .read, upTo: "m1", at: 70))
      try chat.receive(receipt("ann", .read, ["m1"], at: 60))
      try chat.receive(receipt("bob", .delivered, upTo: "m2", at: 80))
      // The local member's reading on another device says nothing.
      try chat.receive(receipt("me", .read, upTo: "m2", at: 1))
    }
    let delivered = try message("m1", of: store)
    #expect(delivered.status == .delivered)
    #expect(delivered.deliveredAt == time(60) && delivered.readAt == nil)
    #expect(try message("m0", of: store).deliveredAt == nil)
    try store.write { try $0.receive(receipt("bob", .read, ["m1"])) }
    let read = try message("m1", of: store)
    #expect(read.status == .read && read.readAt == time(60) && read.deliveredAt == time(60))
    try store.expectSound()
  }

  @Test func receiptsThatCameBeforeTheirMessagesGiveTimesToo() throws {
    let store = try direct(0)
    try store.write { chat in
      try chat.receive(receipt("you", .read, upTo: "m0", at: 50))
      try chat.receive(receipt("you", .read, ["m1"], at: 55))
      try chat.insert(message("m0", at: 10, from: "me"))
      try chat.insert(message("m1", at: 20, from: "me"))
    }
    #expect(try message("m0", of: store).readAt == time(50))
    #expect(try message("m1", of: store).readAt == time(55))
  }

  @Test func otherRareFieldsStayBesideTheTimes() throws {
    let store = try direct(0)
    let long = MessageID(String(repeating: "l", count: 60))
    try store.write { chat in
      var mine = message("m0", at: 10, from: "me")
      mine.mentions = ["you"]
      mine.reactions = [Reaction("👍", from: "you", at: time(12))]
      try chat.insert(mine)
      var answer = message("m1", at: 20, from: "me")
      answer.replyTo = long
      try chat.insert(answer)
      try chat.insert(message("theirs", at: 30, from: "you"))
      try chat.receive(receipt("you", .read, upTo: "m1", at: 50))
    }
    let first = try message("m0", of: store)
    #expect(first.readAt == time(50) && first.mentions == ["you"] && first.reactions.count == 1)
    let second = try message("m1", of: store)
    #expect(second.readAt == time(50) && second.replyTo == long)
    #expect(try message("theirs", of: store).readAt == nil)
  }

  @Test func inAGroupOfManyReceiptsGiveNoTimes() throws {
    let store = try memoryStore()
    let others = (0..<40).map { MemberID("member-\($0)") }
    try store.write { chat in
      try chat.putConversation("room", participants: ["me"] + others)
      try chat.insert(message("m0", at: 10, from: "me"))
      try chat.insert(message("m1", at: 20, from: "me"))
      for other in others {
        try chat.receive(receipt(other, .read, upTo: "m0", at: 50))
        try chat.receive(receipt(other, .read, ["m1"], at: 60))
      }
    }
    for id in ["m0", "m1"] as [MessageID] {
      #expect(try message(id, of: store).status == .read)
      #expect(try message(id, of: store).readAt == nil)
    }
    #expect(try store.readers("m1").first?.readAt == time(60))
    try store.expectSound()
  }

  @Test func packedMessagesHaveTheTimesToo() throws {
    let store = try direct(600)
    try store.write { try $0.receive(receipt("you", .read, upTo: "m500", at: 9000)) }
    let slice = try store.read { try $0.thread("room").tail(600) }
    #expect(slice.count == 600)
    for (index, message) in slice.enumerated() {
      #expect(message.readAt == (index <= 500 ? time(9000) : nil))
      #expect((message.status == .read) == (message.readAt != nil))
    }
  }

  @Test func aLiveThreadTellsOfTimesOfMessagesThatWereReadAlready() throws {
    let store = try direct(12)
    try store.write { try $0.receive(receipt("you", .read, upTo: "m5")) }
    var room = store.thread("room").live(newest: 12).makeAsyncIterator()
    #expect(try room.nextIfThere()?.slice[2].readAt == nil)
    // Above the mark, with the first time that is known of those below it.
    try store.write { try $0.receive(receipt("you", .read, upTo: "m6", at: 500)) }
    #expect(try room.nextIfThere()?.slice[2].readAt == time(500))
    for number in 7..<12 {
      try store.write { chat in
        try chat.receive(receipt("you", .read, upTo: MessageID("m\(number)"), at: 480))
      }
      let fresh = try store.read { try $0.thread("room").tail(12) }
      #expect(try room.nextIfThere()?.slice.map(\.readAt) == fresh.map(\.readAt))
      #expect(fresh[2].readAt == time(480))
    }
  }

  @Test func exportsSayWhatWasToldAndRestoreTheSameTimes() throws {
    let store = try direct(3)
    try store.write { chat in
      try chat.receive(receipt("you", .read, upTo: "m1", at: 120))
      try chat.receive(receipt("you", .read, ["m2"], at: 130))
    }
    let lines = try store.lines()
    let line = String(decoding: lines, as: UTF8.self).split(separator: "\n")
      .first { $0.contains("\"kind\":\"message\"") && $0.contains("\"m0\"") }
    #expect(line?.contains("read_ms") == false)
    let copy = try MessageStore.restored(from: lines)
    #expect(try copy.lines() == lines)
    for id in ["m0", "m1", "m2"] as [MessageID] {
      #expect(try message(id, of: copy).readAt == message(id, of: store).readAt)
    }
    #expect(try message("m2", of: copy).readAt == time(130))
  }
}
