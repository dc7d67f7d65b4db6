import MsgStore
import PageFile
import Testing

/// Counts that no list reaches are as good as "all".
struct RequestedCountTests {
  private static let large = [1 << 40, .max - 50, .max - 1, .max]

  private func filled() throws -> MessageStore {
    let store = try memoryStore()
    try store.write { chat throws in
      for index in 0..<5 {
        try chat.insert(chatMessage(MessageID("m\(index)"), in: "room", at: Int64(index)))
      }
      _ = try chat.send(own("mine", in: "room"))
    }
    return store
  }

  @Test(arguments: large) func outboxesAreReadWhole(count: Int) throws {
    let store = try filled()
    try store.read { chat throws in
      #expect(try chat.outbox.entries(in: "room", count: count).entries.count == 1)
      #expect(try chat.outbox.entries(count: count).entries.count == 1)
    }
    var iterator = store.liveOutbox(count: count, in: "room").makeAsyncIterator()
    let slice = try iterator.nextIfThere()
    #expect(slice?.entries.count == 1)
  }

  @Test(arguments: large) func liveValuesAreExtended(count: Int) throws {
    let store = try filled()
    let thread = store.thread("room")
    for live in [
      thread.live(newest: count), thread.live(around: "m2", count: count),
      thread.live(at: time(2), count: count), thread.live(firstUnread: count),
      thread.live(repliesTo: "m2", newest: count), thread.live(tagged: .image, newest: count),
    ] {
      live.loadOlder(.max)
      live.loadNewer(.max)
      live.loadOlder(.min)
      var iterator = live.makeAsyncIterator()
      let value = try iterator.nextIfThere()
      #expect(value != nil)
    }
    for live in [
      store.conversations.live(newest: count), store.conversations.live(newestArchived: count),
    ] {
      live.loadOlder(.max)
      var iterator = live.makeAsyncIterator()
      let value = try iterator.nextIfThere()
      #expect(value != nil)
    }
  }

  @Test func cachesAreClamped() throws {
    for (given, expected) in [
      (Int.min, 0), (-1, 0), (0, 0), (1, 1), (1 << 34, 1 << 34), (1 << 50, 1 << 34),
      (.max, 1 << 34),
    ] {
      var options = StoreOptions(localMember: "me", cacheByteCount: given)
      #expect(options.cacheByteCount == expected)
      options.cacheByteCount = given
      #expect(options.cacheByteCount == expected)
      var database = DatabaseOptions()
      database.cacheByteCount = given
      #expect(database.cacheByteCount == expected)
      let store = try MessageStore(in: MemoryDirectory(), name: "store", options: options)
      for index in 0..<3 {
        try store.write { try $0.insert(chatMessage(MessageID("m\(index)"), in: "room", at: 1)) }
      }
      #expect(try store.read { try $0.thread("room").tail(9).count } == 3)
      try store.close()
    }
  }
}
