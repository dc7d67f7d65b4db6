import MsgStore
import PageFile
import Testing

/// What comes before the message it is about waits for it.
struct WaitingTests {
  private func counts(_ store: MessageStore) throws -> [Int] {
    try store.read { chat in
      let counts = try chat.waitingFacts
      return [counts.waiting, counts.dropped]
    }
  }

  @Test func everythingWaitsForItsMessage() throws {
    let directory = MemoryDirectory()
    var store = try memoryStore(directory)
    try store.write { chat in
      let isNews = try chat.receiveEdit(of: "m", in: "room", text: "new", at: time(9))
      #expect(isNews)
      #expect(try chat.receive(Reaction("👍", from: "ann", at: time(8)), to: "m", in: "room"))
      #expect(try chat.setStatus(.delivered, of: "m", in: "room", at: time(7)))
      #expect(try !chat.acknowledge("m", in: "room", serverTimestamp: time(4), sequence: 1))
      #expect(try chat.message("m", in: "room") == nil)
      #expect(try chat.thread("room").tail(5).isEmpty)
    }
    #expect(try counts(store) == [1, 0])
    try store.close()
    store = try memoryStore(directory)
    try store.expectSound()
    try store.write { try $0.insert(message("m", at: 5, text: "old")) }
    let stored = try #require(try store.message("m"))
    #expect(stored.text == "new" && stored.editedAt == time(9) && stored.reactions.count == 1)
    #expect(stored.status == .delivered && stored.deliveredAt == time(7))
    #expect(stored.serverTimestamp == time(4) && stored.sequence == 1)
    #expect(try store.history("m") == ["old"])
    #expect(try counts(store) == [0, 0])
    try store.expectSound()
  }

  @Test func whatHasWaitedLongestMakesRoomAndIsCounted() throws {
    let store = try TestClock().store { $0.maximumWaitingCount = 3 }
    try store.write { chat in
      for number in 0..<5 {
        try chat.receiveEdit(
          of: MessageID("m\(number)"), in: "room", text: "edit \(number)", at: time(9))
        // More about one that waits already takes no more room.
        try chat.setStatus(.read, of: MessageID("m\(number)"), in: "room")
      }
    }
    #expect(try counts(store) == [3, 2])
    try store.write { chat in
      for number in 0..<5 {
        try chat.insert(message(MessageID("m\(number)"), at: Int64(number), text: "first"))
      }
    }
    let texts = try store.read { try $0.thread("room").tail(9).map(\.text) }
    #expect(texts == ["first", "first", "edit 2", "edit 3", "edit 4"])
    #expect(try counts(store) == [0, 2])
    try store.expectSound()
  }

  @Test func namesThatWaitGoWithWhatMakesRoom() throws {
    let store = try TestClock().store { $0.maximumWaitingCount = 2 }
    try store.write { chat in
      for number in 0..<4 {
        try chat.acknowledge(
          MessageID("c\(number)"), in: "room", serverTimestamp: time(5),
          as: MessageID("s\(number)"))
      }
    }
    #expect(try counts(store) == [2, 2])
    try store.expectSound()
    try store.write { chat in
      try chat.insert(message("s0", at: 5))
      try chat.insert(message("s3", at: 5))
    }
    #expect(try store.tail == ["s0", "c3"])
    try store.expectSound()
  }

  /// Acknowledged, the message turns out to be one that went with its conversation.
  @Test func whatWaitsUnderAnotherNameGoesWithADeletedConversation() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.send(own("m"))
      try chat.receiveConversationDeletion("room", at: time(100))
      try chat.acknowledge("n", in: "room", serverTimestamp: time(60), as: "s")
      try chat.acknowledge("m", in: "room", serverTimestamp: time(50), as: "s")
    }
    #expect(try store.tail == [])
    #expect(try counts(store) == [0, 0])
    try store.expectSound()
  }

  @Test func namesBeyondTheLimitLeadNowhere() throws {
    let store = try memoryStore()
    let names = (10..<40).map { MessageID("s\($0)") }
    try store.write { chat in
      for name in names {
        try chat.acknowledge("m", in: "room", serverTimestamp: time(5), as: name)
      }
    }
    #expect(try counts(store) == [1, 0])
    try store.expectSound()
    try store.write { try $0.insert(message("m", at: 5)) }
    #expect(try store.tail == ["m"])
    try store.expectSound()
    // Others that wait under names for which there is no room.
    try store.write { chat in
      for index in 0..<3 {
        let (id, name) = (MessageID("n\(index)"), MessageID("t\(index)"))
        try chat.acknowledge(id, in: "room", serverTimestamp: time(5), as: name)
        try chat.acknowledge("m", in: "room", serverTimestamp: time(5), as: name)
      }
    }
    #expect(try counts(store) == [0, 0])
    try store.expectSound()
  }

  @Test func aNameToldTheOtherWayRoundIsNoNews() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.acknowledge("m", in: "room", serverTimestamp: time(5), as: "s")
      try chat.acknowledge("s", in: "room", serverTimestamp: time(5), as: "m")
      try chat.insert(message("m", at: 5))
      #expect(try chat.message("s", in: "room")?.id == "m")
      #expect(try chat.message("m", in: "room")?.position.id == "s")
    }
    try store.expectSound()
  }
}
