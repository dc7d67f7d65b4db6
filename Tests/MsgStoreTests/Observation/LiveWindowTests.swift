import MsgStore
import PageFile
import Testing

/// Live parts of a thread that grow, that begin at a time or at the first unread message, and that
/// count receipts.
@Suite(.timeLimit(.minutes(30))) struct LiveWindowTests {
  private func store(_ count: Int) throws -> MessageStore {
    let store = try memoryStore()
    try store.write { chat in
      for number in 0..<count {
        try chat.insert(message(MessageID("m\(number)"), at: Int64(number) * 10, Int64(number)))
      }
    }
    return store
  }

  private func ids(_ range: Range<Int>) -> [String] { range.map { "m\($0)" } }

  // MARK: Growing

  @Test func olderMessagesAreAddedBeforeThoseShown() throws {
    let store = try store(20)
    let live = store.thread("room").live(newest: 5)
    var room = live.makeAsyncIterator()
    #expect(try room.nextIfThere()?.slice.ids == ids(15..<20))
    live.loadOlder(5)
    let value = try #require(try room.nextIfThere())
    #expect(value.slice.ids == ids(10..<20))
    #expect(value.differences.inserted == Array(0..<5))
    #expect(value.differences.removed.isEmpty && value.differences.changed.isEmpty)
    #expect(value.differences.moved.isEmpty && value.differences.isOlderChanged)
    // The part keeps its length when a message arrives.
    try store.write { try $0.insert(message("m20", at: 200, 20)) }
    #expect(try room.nextIfThere()?.slice.ids == ids(11..<21))
    live.loadOlder(50)
    #expect(try room.nextIfThere()?.slice.ids == ids(0..<21))
    live.loadOlder(50)
    #expect(try room.nextIfThere() == nil, "there are no older messages")
  }

  @Test func aPartAroundAMessageGrowsOnBothSides() throws {
    let store = try store(20)
    let live = store.thread("room").live(around: "m10", count: 3)
    var room = live.makeAsyncIterator()
    #expect(try room.nextIfThere()?.slice.ids == ids(9..<12))
    live.loadOlder(2)
    #expect(try room.nextIfThere()?.slice.ids == ids(7..<12))
    live.loadNewer(4)
    let value = try #require(try room.nextIfThere())
    #expect(value.slice.ids == ids(7..<16))
    #expect(value.differences.inserted == Array(5..<9))
    live.loadNewer(100)
    live.loadOlder(100)
    #expect(try room.nextIfThere()?.slice.ids == ids(0..<20))
    try store.write { try $0.insert(message("m20", at: 200, 20)) }
    #expect(try room.nextIfThere()?.slice.last?.id == "m20")
  }

  @Test func allIteratorsOfASequenceShowTheLargerPart() throws {
    let store = try store(10)
    let live = store.thread("room").live(newest: 2)
    var (one, two) = (live.makeAsyncIterator(), live.makeAsyncIterator())
    #expect(try one.nextIfThere() != nil)
    live.loadOlder(2)
    #expect(try one.nextIfThere()?.slice.ids == ids(6..<10))
    #expect(try two.nextIfThere()?.slice.ids == ids(6..<10))
    var other = store.thread("room").live(newest: 2).makeAsyncIterator()
    #expect(try other.nextIfThere()?.slice.ids == ids(8..<10))
  }

  @Test func growingEndsAWait() async throws {
    let store = try store(10)
    let live = store.thread("room").live(newest: 2)
    var room = live.makeAsyncIterator()
    #expect(try await room.next()?.slice.ids == ids(8..<10))
    let task = Task {
      // Before or during the wait: neither is missed.
      live.loadOlder(3)
    }
    #expect(try await room.next()?.slice.ids == ids(5..<10))
    await task.value
  }

  @Test(arguments: [Int.min, -1, 0]) func fewerThanOneMessageAddsNothing(count: Int) throws {
    let store = try store(5)
    let live = store.thread("room").live(around: "m2", count: 1)
    var room = live.makeAsyncIterator()
    #expect(try room.nextIfThere() != nil)
    live.loadOlder(count)
    live.loadNewer(count)
    #expect(try room.nextIfThere() == nil)
  }

  @Test func asManyAsThereAreMayBeAskedForAnyNumberOfTimes() throws {
    let store = try store(5)
    let live = store.thread("room").live(around: "m2", count: 1)
    var room = live.makeAsyncIterator()
    for _ in 0..<3 {
      live.loadOlder(.max)
      live.loadNewer(.max)
    }
    #expect(try room.nextIfThere()?.slice.ids == ids(0..<5))
  }

  @Test func aListGrows() throws {
    let store = try memoryStore()
    try store.write { chat in
      for number in 0..<10 {
        try chat.insert(chatMessage("m", in: ConversationID("c\(number)"), at: Int64(number)))
      }
    }
    let live = store.conversations.live(newest: 3)
    var list = live.makeAsyncIterator()
    #expect(try list.nextIfThere()?.conversations.map(\.id) == ["c9", "c8", "c7"])
    live.loadOlder(2)
    let value = try #require(try list.nextIfThere())
    #expect(value.conversations.map(\.id) == ["c9", "c8", "c7", "c6", "c5"])
    #expect(value.differences.inserted == [3, 4])
  }

  // MARK: Beginnings

  @Test func aPartBeginsAtATime() throws {
    let store = try store(10)
    var room = store.thread("room").live(at: Timestamp(microseconds: 35), count: 3)
      .makeAsyncIterator()
    #expect(try room.nextIfThere()?.slice.ids == ids(3..<6))
    try store.write { try $0.insert(message("x", at: 36)) }
    #expect(try room.nextIfThere()?.slice.ids == ["m3", "x", "m4"])
    // A thread without messages has no message to stay at.
    var empty = store.thread("new").live(at: Timestamp(microseconds: 35), count: 3)
      .makeAsyncIterator()
    #expect(try empty.nextIfThere()?.slice.isEmpty == true)
    try store.write { try $0.insert(chatMessage("first", in: "new", at: 5)) }
    #expect(try empty.nextIfThere()?.slice.ids == ["first"])
  }

  @Test func aPartBeginsAtTheFirstUnreadMessageAndStaysThere() throws {
    let store = try store(10)
    _ = try store.write { try $0.markRead("room", upTo: "m5") }
    let live = store.thread("room").live(firstUnread: 3)
    var room = live.makeAsyncIterator()
    #expect(try room.nextIfThere()?.slice.ids == ids(5..<8))
    _ = try store.write { try $0.markRead("room") }
    #expect(try room.nextIfThere() == nil)
    live.loadNewer(2)
    #expect(try room.nextIfThere()?.slice.ids == ids(5..<10))
    // Nothing is unread: the newest messages, from then on.
    var newest = store.thread("room").live(firstUnread: 3).makeAsyncIterator()
    #expect(try newest.nextIfThere()?.slice.ids == ids(7..<10))
    try store.write { try $0.insert(message("m10", at: 100, 10)) }
    #expect(try newest.nextIfThere()?.slice.ids == ids(8..<11))
  }

  @Test(arguments: [0, -1, Int.min]) func aCountBelowOneIsRefused(count: Int) async throws {
    let store = try store(3)
    let thread = store.thread("room")
    for live in [
      thread.live(newest: count), thread.live(around: "m1", count: count),
      thread.live(at: Timestamp(microseconds: 5), count: count),
      thread.live(firstUnread: count),
    ] {
      live.loadOlder(10)
      var iterator = live.makeAsyncIterator()
      await #expect(throws: StoreError.input(.count(count))) { try await iterator.next() }
    }
  }

  // MARK: Receipts

  @Test func eachRecipientWhoReadsIsCounted() throws {
    let store = try groupStore()
    try store.write { chat in
      try chat.insert(message("own", at: 10, 1, from: "me"))
      try chat.insert(message("other", at: 20, 2, from: "you"))
    }
    var plain = store.thread("room").live(newest: 5).makeAsyncIterator()
    #expect(try plain.nextIfThere()?.deliveries == [])
    var room = store.thread("room").live(newest: 5, countsReceipts: true).makeAsyncIterator()
    let first = try #require(try room.nextIfThere())
    #expect(first.deliveries.map { $0?.recipientCount } == [3, nil])
    #expect(first.deliveries.first??.readCount == 0)
    for (count, member) in zip(1..., ["you", "ann", "bob"] as [MemberID]) {
      try store.write { try $0.receive(receipt(member, .read, upTo: "own")) }
      let value = try #require(try room.nextIfThere())
      #expect(value.deliveries.first??.readCount == count)
      #expect(value.differences.changed == [0])
      let single = try store.read { try $0.delivery(of: "own", in: "room") }
      #expect(value.deliveries.first == single)
    }
    // Somebody who leaves is no recipient any more.
    try store.write { try $0.removeParticipants(["bob"], from: "room") }
    #expect(try room.nextIfThere()?.deliveries.first??.recipientCount == 2)
  }
}
