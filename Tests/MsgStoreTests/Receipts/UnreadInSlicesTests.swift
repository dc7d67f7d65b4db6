import MsgStore
import Testing

/// The messages of a slice that the local member has not read.
struct UnreadInSlicesTests {
  private func unread(_ store: MessageStore) throws -> [String] {
    try store.read { chat throws in
      let slice = try chat.thread("room").tail(100)
      let unread = try chat.unread(in: slice)
      #expect(unread.count == slice.count)
      let ids = zip(slice, unread).filter(\.1).map(\.0.id.string)
      // One by one, as if it had been passed over.
      for message in slice {
        let one = try chat.thread("room").around(message.id, count: 1)
        #expect(try chat.unread(in: one) == [ids.contains(message.id.string)])
      }
      let conversation = try #require(try chat.conversation("room"))
      #expect(conversation.unreadCount == ids.count)
      return ids
    }
  }

  @Test(arguments: [true, false]) func eachMessageIsReadOrNot(packs: Bool) throws {
    let store = try memoryStore(
      packs: packs, packing: PackingSizes(looseCount: 0, maximumSegmentByteCount: 300))
    try store.write { chat throws in
      for number in 1...30 as ClosedRange<Int64> {
        try chat.insert(
          message(MessageID("m\(number)"), at: number * 10, from: number % 5 == 0 ? "me" : "you"),
          as: number <= 3 ? .history : .live)
      }
    }
    let all = (4...30).filter { $0 % 5 != 0 }.map { "m\($0)" }
    #expect(try unread(store) == all)
    try store.write { try $0.markRead("room", upTo: "m20" as MessageID) }
    #expect(try unread(store) == all.filter { Int($0.dropFirst()) ?? 0 > 20 })
    try store.write { chat throws in
      // Below the mark, and unread all the same.
      try chat.insert(message("late", at: 55))
      try chat.markRead(["m22"], in: "room")
    }
    let left = ["m21"] + [23, 24, 26, 27, 28, 29].map { "m\($0)" }
    #expect(try unread(store) == ["late"] + left)
    try store.write { try $0.markRead("room") }
    #expect(try unread(store) == [])
    let slice = try store.read { chat in try chat.unread(in: try chat.thread("none").tail(3)) }
    #expect(slice == [])
  }

  @Test func withoutALocalMemberNothingIsUnread() throws {
    let store = try memoryStore(localMember: nil)
    try store.write { try $0.insert(message("m", at: 1)) }
    let unread = try store.read { try $0.unread(in: try $0.thread("room").tail(3)) }
    #expect(unread == [false])
  }

  @Test func aLiveThreadFollowsReading() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      for number in 1...3 as ClosedRange<Int64> {
        try chat.insert(message(MessageID("m\(number)"), at: number))
      }
    }
    var room = store.thread("room").live(newest: 2, countsReceipts: true).makeAsyncIterator()
    #expect(try room.nextIfThere()?.unread == [true, true])
    try store.write { _ = try $0.markRead("room", upTo: "m2" as MessageID) }
    let value = try #require(try room.nextIfThere())
    #expect(value.unread == [false, true])
    #expect(value.differences.changed == [0])
  }
}
