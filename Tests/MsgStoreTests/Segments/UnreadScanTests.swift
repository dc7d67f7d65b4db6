import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Unread messages of a long thread are counted by the segment.
struct UnreadScanTests {
  private func sender(_ index: Int) -> MemberID { index % 3 == 0 ? "me" : "you" }

  private func isMentioned(_ index: Int) -> Bool { index % 7 == 0 }

  /// Messages of both members, a minute apart, some of which mention the local one.
  private func filled(_ count: Int, _ localMember: MemberID? = "me") throws -> MessageStore {
    let store = try memoryStore(localMember: localMember, packing: PackingSizes())
    try store.write { chat in
      try chat.insert(
        contentsOf: (0..<count).map { index in
          var new = message(
            MessageID("m\(index)"), at: Int64(index) * 60_000_000, from: sender(index))
          if isMentioned(index) { new.mentions = ["me"] }
          return new
        })
    }
    return store
  }

  private func expected(_ range: Range<Int>) -> UnreadCount {
    let unread = range.filter { sender($0) == "you" }
    return UnreadCount(messages: unread.count, mentions: unread.filter(isMentioned).count)
  }

  private func counts(_ store: MessageStore) throws -> UnreadCount {
    try store.read { chat in
      let room = try #require(try chat.conversation("room"))
      return UnreadCount(messages: room.unreadCount, mentions: room.unreadMentionCount)
    }
  }

  private func position(_ index: Int, _ store: MessageStore) throws -> MessagePosition {
    try store.read { chat in
      try #require(try chat.message(MessageID("m\(index)"), in: "room")).position
    }
  }

  @Test func aSegmentIsOneStep() throws {
    let store = try filled(4000)
    let (middle, end) = (try position(1000, store), try position(3000, store))
    let (behind, between) = try store.read { chat in
      try chat.within { (view) throws(StoreError) in
        let summary = try view.conversations.summary(1)
        return (
          try sum(UnreadScan(view, 1, summary, after: middle)),
          try sum(UnreadScan(view, 1, summary, from: middle, through: end))
        )
      }
    }
    #expect(behind.count == expected(1001..<4000))
    #expect(between.count == expected(1000..<3001))
    // The rest of one segment, the others as a whole, and the newest messages.
    #expect(behind.stepCount < 600 && between.stepCount < 600)
  }

  private func sum(
    _ scan: consuming UnreadScan
  ) throws(StoreError) -> (count: UnreadCount, stepCount: Int) {
    var count = UnreadCount()
    while let next = try scan.next() { count = count + next }
    return (count, scan.stepCount)
  }

  @Test func marksInAnyPlaceLeaveWhatIsBehindThem() throws {
    let store = try filled(2000)
    // Records beside their segments, and late messages below a mark.
    try store.write { chat in
      for index in stride(from: 5, to: 2000, by: 331) {
        try chat.receiveEdit(
          of: MessageID("m\(index)"), in: "room", text: "edited", at: time(1 << 50))
      }
    }
    #expect(try counts(store) == expected(0..<2000))
    for index in [3, 700, 701, 1300, 1999] {
      let mark = try position(index, store)
      #expect(try store.write { try $0.markRead("room", upTo: mark) })
      #expect(try counts(store) == expected(index + 1..<2000), "up to \(index)")
      try store.expectSound()
    }
  }

  @Test func segmentsFromBeforeTheLocalMemberWasKnownAreUnpacked() throws {
    let files = MemoryDirectory()
    let anonymous = try memoryStore(files, localMember: nil, packing: PackingSizes())
    try anonymous.write { chat in
      try chat.insert(
        contentsOf: (0..<600).map {
          message(MessageID("m\($0)"), at: Int64($0), from: sender($0))
        })
    }
    try anonymous.close()
    let store = try memoryStore(files, packing: PackingSizes())
    while try store.read({ try $0.hasWork }) { try store.write { try $0.doWork() } }
    let before = try counts(store).messages
    let mark = try position(299, store)
    #expect(try store.write { try $0.markRead("room", upTo: mark) } == (before > 0))
    try store.expectSound()
  }
}
