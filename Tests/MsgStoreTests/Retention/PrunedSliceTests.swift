import MsgStore
import Testing

/// Reading on where messages were pruned.
struct PrunedSliceTests {
  private static let day: Int64 = 24 * 3600 * 1_000_000

  @Test(arguments: [true, false]) func readingOnPassesSparedMessagesOfOneTime(
    packs: Bool
  ) throws {
    let store = try memoryStore(clock: 1000 * Self.day, packs: packs)
    try store.write { chat throws in
      for day in 951...1000 as ClosedRange<Int64> {
        try chat.insert(message(MessageID("d\(day)"), at: day * Self.day, day), as: .history)
      }
      for id in ["b", "d"] as [MessageID] {
        try chat.insert(message(id, at: 960 * Self.day + 1), as: .history)
      }
      try chat.markRead("room")
      // Unread, as they come below the mark.
      for id in ["a", "c", "e"] as [MessageID] {
        try chat.insert(message(id, at: 960 * Self.day + 1))
      }
    }
    try store.write { chat in try chat.setRetention(Retention(messageCount: 5)) }
    try store.finishWork()
    let expected = ["a", "c", "e", "d996", "d997", "d998", "d999", "d1000"]
    try store.read { chat throws in
      let all = try chat.thread("room").allMessages().map(\.id.string)
      #expect(all == expected)
      var position = MessagePosition.end
      var ids: [String] = []
      for _ in 0..<8 {
        let slice = try chat.thread("room").before(position, count: 1)
        ids = slice.ids + ids
        guard let next = slice.older.next else { break }
        #expect(next < position)
        position = next
      }
      #expect(ids == expected)
    }
  }

  @Test func noGapOpens() throws {
    let store = try memoryStore(clock: 1000 * Self.day, prunesByItself: false)
    try store.write { chat throws in
      for day in [940] + Array(951...1000 as ClosedRange<Int64>) {
        try chat.insert(message(MessageID("d\(day)"), at: day * Self.day, day), as: .history)
      }
    }
    let before = try store.read { try $0.gaps(in: "room", count: 9) }
    #expect(before == [941...950])
    try store.write { chat in try chat.setRetention(Retention(messageCount: 5)) }
    try store.finishWork()
    let after = try store.read { try $0.gaps(in: "room", count: 9) }
    #expect(after == before)
    let left = try store.read { try $0.conversation("room")?.messageCount }
    #expect(left == 5)
    try store.expectSound()
  }
}
