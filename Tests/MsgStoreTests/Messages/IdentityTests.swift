import MsgStore
import Testing

/// One id is one message; where messages lie.
struct IdentityTests {
  @Test func theSameIDAgainIsOneMessage() throws {
    let store = try memoryStore()
    try store.write { chat in
      let outcome = try chat.insert(message("m", at: 5))
      #expect(outcome == .inserted)
      #expect(try chat.insert(message("m", at: 5)) == .duplicate)
      #expect(try chat.insert(message("m", at: 5, 3)) == .merged)
      #expect(try chat.insert(message("m", at: 5, 3)) == .duplicate)
      #expect(try chat.conversation("room")?.messageCount == 1)
      #expect(try chat.conversation("room")?.unreadCount == 1)
    }
    let before = store.statistics.lastCommit
    try store.write { try $0.insert(message("m", at: 5, 3)) }
    #expect(store.statistics.lastCommit == before)
    try store.expectSound()
  }

  @Test func theServersCopyOfAPendingMessageAcknowledgesIt() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.send(own("m", "mine", at: 90))
      try chat.insert(message("n", at: 50))
      try chat.setStatus(.failed, of: "m", in: "room")
      let copy = message("m", at: 40, 2, from: "me", text: "mine")
      #expect(try chat.insert(copy) == .acknowledged)
      #expect(try chat.thread("room").tail(5).ids == ["m", "n"])
      #expect(try chat.message("m", in: "room")?.status == .sent)
    }
    try store.expectSound()
  }

  @Test func aCorrectedTimeOrSequenceMovesTheMessage() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(contentsOf: [
        message("a", at: 10), message("b", at: 20), message("c", at: 30),
      ])
      try chat.acknowledge("a", in: "room", serverTimestamp: time(25), revision: 1)
      #expect(try chat.thread("room").tail(5).ids == ["b", "a", "c"])
      // What an earlier revision said is no news any more.
      try chat.acknowledge("a", in: "room", serverTimestamp: time(1))
      #expect(try chat.thread("room").tail(5).ids == ["b", "a", "c"])
      try chat.acknowledge("a", in: "room", serverTimestamp: time(40), sequence: 4, revision: 2)
      #expect(try chat.thread("room").tail(5).ids == ["b", "c", "a"])
      try chat.acknowledge("c", in: "room", serverTimestamp: time(40), sequence: 5, revision: 1)
      #expect(try chat.thread("room").tail(5).ids == ["b", "a", "c"])
      try chat.acknowledge("c", in: "room", serverTimestamp: time(40), sequence: 3, revision: 2)
      #expect(try chat.thread("room").tail(5).ids == ["b", "c", "a"])
      #expect(try chat.conversation("room")?.preview?.messageID == "a")
    }
    try store.expectSound()
  }

  @Test func equalTimesWithoutSequencesGoByTheBytesOfTheID() throws {
    let ids: [MessageID] = ["b", "B", "a", "é", "e\u{301}", "aa", "-", "\u{10FFFF}"]
    let sorted = ids.sorted { $0.string.utf8.lexicographicallyPrecedes($1.string.utf8) }
    for order in [ids, ids.reversed(), sorted] {
      let store = try memoryStore()
      try store.write { chat in for id in order { try chat.insert(message(id, at: 5)) } }
      #expect(try store.tail == sorted.map(\.string))
      #expect(try store.preview?.messageID == sorted.last)
    }
  }

  @Test func aStreamPositionAsTheSequenceDecidesAtEqualTimes() throws {
    let store = try memoryStore()
    try store.write { chat in
      for (index, id) in ["z", "y", "x"].enumerated() {
        try chat.insert(message(MessageID(id), at: 5, Int64(index)))
      }
    }
    #expect(try store.tail == ["z", "y", "x"])
  }

  @Test func bothNamesOfAMessageLeadToIt() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.send(own("c"))
      #expect(try chat.acknowledge("c", in: "room", serverTimestamp: time(5), as: "s"))
      #expect(try chat.insert(message("s", at: 5, from: "me", text: "mine")) == .merged)
      #expect(try chat.insert(message("s", at: 5, from: "me", text: "mine")) == .duplicate)
      try chat.receive(Reaction("👍", from: "you", at: time(6)), to: "s", in: "room")
      #expect(try chat.message("s", in: "room")?.id == "c")
      #expect(try chat.message("c", in: "room")?.reactions.count == 1)
      #expect(try chat.thread("room").tail(5).ids == ["c"])
      #expect(try chat.delete("s", in: "room"))
      #expect(try chat.insert(message("c", at: 5, from: "me")) == .deleted)
    }
    try store.expectSound()
  }

  @Test func ofABatchTheMalformedFailAloneAndAreNamed() throws {
    let store = try memoryStore()
    let bad = message("bad", at: 2, text: String(repeating: "x", count: 1 << 20 + 1))
    let nameless = message("", at: 3)
    let batch = [message("a", at: 1), bad, nameless, message("b", at: 4), message("a", at: 1)]
    let result = try store.write { try $0.insertSkippingInvalid(contentsOf: batch) }
    #expect(result.outcomes == [.inserted, .inserted, .duplicate])
    #expect(result.refusals.map(\.index) == [1, 2] && result.refusals.map(\.id) == ["bad", ""])
    #expect(
      result.refusals.first?.reason
        == .input(.tooLong(.text, byteCount: 1 << 20 + 1, limit: 1 << 20)))
    #expect(try store.tail == ["a", "b"])
    #expect(throws: StoreError.self) {
      try store.write { try $0.insert(contentsOf: [message("c", at: 9), bad]) }
    }
    #expect(try store.tail == ["a", "b"])
    try store.expectSound()
  }

  @Test func aMessageOfAnUnknownConversationAndSenderMakesAStub() throws {
    let store = try memoryStore()
    try store.write { try $0.insert(message("m", at: 1, from: "stranger")) }
    let room = try #require(try store.read { try $0.conversation("room") })
    #expect(room.messageCount == 1 && room.participants.isEmpty && room.unreadCount == 1)
  }
}
