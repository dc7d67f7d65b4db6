import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Messages that expire: hidden by the clock, let go by the first step, and erased once the time of
/// the server has passed, too.
struct ExpiryTests {
  private let clock = TestClock(1000)

  /// Ten messages, of which every other one expires at 2000, and the last one, too.
  private func fill(_ store: MessageStore) throws {
    try store.write { chat throws in
      for index in 1...10 as ClosedRange<Int64> {
        let end: Int64? = index % 2 == 0 ? 2000 : index == 1 ? 5000 : nil
        try chat.insert(
          expiring(
            MessageID("m\(index)"), at: 100 + index, index, until: end, text: "text \(index)"))
      }
    }
  }

  private let left = ["m1", "m3", "m5", "m7", "m9"]

  @Test(arguments: [true, false]) func messagesAreHiddenFromTheirTimeOn(packs: Bool) throws {
    let store = try expiringStore(clock, packs: packs)
    try fill(store)
    clock.set(1999)
    #expect(try store.shownIDs() == (1...10).map { "m\($0)" })
    #expect(try store.read { try $0.message("m2", in: "room")?.expiresAt } == time(2000))
    clock.set(2000)
    // Nothing has been written since.
    #expect(try store.shownIDs() == left)
    try store.read { chat throws in
      #expect(try chat.message("m2", in: "room") == nil)
      #expect(try chat.message("m2") == nil)
      #expect(try chat.message(sequence: 2, in: "room") == nil)
      #expect(try chat.thread("room").around("m5", count: 3).ids == ["m3", "m5", "m7"])
      #expect(try chat.thread("room").tail(2).ids == ["m7", "m9"])
      #expect(try chat.thread("room").at(time(102), count: 1).ids == ["m3"])
      #expect(throws: StoreError.message(.notFound, "m2", in: "room")) {
        try chat.thread("room").around("m2", count: 3)
      }
      // Their numbers are known, so that the slice has no gap.
      let slice = try chat.thread("room").tail(20)
      #expect(slice.older == .end && slice.newer == .end)
    }
    try store.expectSound()
  }

  @Test func aSnapshotReadsTheClockOnce() throws {
    let store = try expiringStore(clock)
    try fill(store)
    try store.read { chat throws in
      clock.set(3000)
      #expect(try chat.thread("room").tail(20).count == 10)
      #expect(try chat.message("m2", in: "room") != nil)
    }
    #expect(try store.shownIDs() == left)
  }

  @Test func aWriterReadsWithoutThemAndWritesToThem() throws {
    let store = try expiringStore(clock)
    try fill(store)
    clock.set(2500)
    try store.write { chat throws in
      #expect(try chat.thread("room").tail(20).ids == left)
      #expect(try chat.message("m2", in: "room") == nil)
      // A message that has expired before it came is there, and hidden.
      try chat.insert(expiring("m11", at: 120, 11, until: 2400))
      #expect(try chat.message("m11", in: "room") == nil)
      let copy = expiring("m2", at: 102, 2, until: 2000, text: "text 2")
      #expect(try chat.insert(copy) == .duplicate)
    }
    try store.finishWork()
    try store.expectSound()
  }

  @Test(arguments: [true, false]) func countersAndListsFollowWithTheStep(packs: Bool) throws {
    let store = try expiringStore(clock, packs: packs)
    try fill(store)
    try store.write { chat throws in
      try chat.insert(chatMessage("o1", in: "other", at: 109))
    }
    func unread() throws -> Int? { try store.read { try $0.conversation("room")?.unreadCount } }
    func list() throws -> [String] {
      try store.read { try $0.conversations(count: 9).map(\.id.string) }
    }
    #expect(try unread() == 10)
    #expect(try list() == ["room", "other"])
    clock.set(2000)
    // The preview never shows what is hidden, even before the step.
    #expect(try store.read { try $0.conversation("room")?.preview?.text } == "text 9")
    try store.finishWork()
    #expect(try unread() == 5)
    try store.read { chat throws in
      let room = try #require(try chat.conversation("room"))
      #expect(room.messageCount == 5)
      #expect(room.preview?.text == "text 9")
      #expect(room.lastActivity == time(109))
      #expect(try chat.unreadTotals.messages == 6)
    }
    try store.write { chat in try chat.insert(chatMessage("o2", in: "other", at: 110)) }
    #expect(try list() == ["other", "room"])
    try store.expectSound()
    clock.set(5000)
    try store.finishWork()
    #expect(try unread() == 4)
    try store.expectSound()
  }

  @Test func aThreadOfWhichAllHasExpiredIsEmpty() throws {
    let store = try expiringStore(clock)
    try store.write { chat throws in
      for index in 1...5 as ClosedRange<Int64> {
        try chat.insert(expiring(MessageID("m\(index)"), at: index, until: 2000))
      }
    }
    clock.set(2000)
    for _ in 0..<2 {
      try store.read { chat throws in
        let room = try #require(try chat.conversation("room"))
        #expect(room.preview == nil)
        #expect(try chat.thread("room").tail(5).isEmpty)
        #expect(try chat.thread("room").firstUnread(count: 5).isEmpty)
        #expect(try chat.search(SearchQuery("hello")).isEmpty)
      }
      try store.finishWork()
    }
    #expect(try store.read { try $0.conversation("room")?.unreadCount } == 0)
    try store.expectSound()
  }

  @Test(arguments: [true, false]) func onlyTheServersTimeErases(packs: Bool) throws {
    let store = try expiringStore(clock, packs: packs)
    try fill(store)
    clock.set(1_000_000)
    try store.finishWork()
    // The clock was ahead.
    clock.set(1500)
    #expect(try store.shownIDs() == (1...10).map { "m\($0)" })
    try store.finishWork()
    #expect(try store.read { try $0.conversation("room")?.unreadCount } == 10)
    #expect(try store.read { try $0.conversation("room")?.preview?.text } == "text 10")
    try store.expectSound()
    clock.set(2100)
    try store.finishWork()
    try store.write { chat in try chat.insert(message("m11", at: 1999, 11)) }
    try store.finishWork()
    clock.set(1500)
    #expect(try store.shownIDs().count == 11, "the server's time has not come")
    clock.set(2100)
    try store.write { chat in try chat.insert(message("m12", at: 2000, 12)) }
    try store.finishWork()
    clock.set(1500)
    #expect(try store.shownIDs() == left + ["m11", "m12"])
    try store.expectSound()
  }

  @Test func anAcknowledgementTellsTheServersTime() throws {
    let store = try expiringStore(clock)
    try fill(store)
    try store.write { chat in try chat.send(message("p", at: nil, from: "me")) }
    clock.set(2100)
    try store.finishWork()
    try store.write { chat in
      try chat.acknowledge("p", in: "room", serverTimestamp: time(2050), sequence: 11)
    }
    try store.finishWork()
    clock.set(1500)
    #expect(try store.shownIDs() == left + ["p"])
    try store.expectSound()
  }

  @Test func aMessageFromTheFutureErasesNothingLater() throws {
    let store = try expiringStore(clock)
    try fill(store)
    clock.set(2001)
    try store.write { chat throws in
      // It counts for what the clock says now, and the message at 5000 is still to come.
      try chat.insert(message("far", at: 9_000_000_000, 11))
    }
    clock.set(6000)
    try store.finishWork()
    clock.set(1500)
    #expect(try store.shownIDs() == left + ["far"])
    try store.expectSound()
  }

  @Test func aStoreMayEraseByItsClock() throws {
    let store = try expiringStore(clock) { $0.erasesExpiredByClock = true }
    try fill(store)
    clock.set(2000)
    try store.finishWork()
    clock.set(1500)
    #expect(try store.shownIDs() == left)
    try store.expectSound()
  }

  @Test func theIDStaysAsATombstone() throws {
    let store = try expiringStore(clock)
    try fill(store)
    clock.set(2100)
    try store.write { chat in try chat.insert(message("m11", at: 2050, 11)) }
    try store.finishWork()
    clock.set(100)
    #expect(try store.refuses(expiring("m2", at: 102, 2, until: nil)))
    try store.write { chat throws in
      try chat.receiveEdit(of: "m2", in: "room", text: "again", at: time(3))
    }
    #expect(try store.shownIDs() == left + ["m11"])
    try store.expectSound()
  }

  @Test func ofSeveralTimesTheEarliestCounts() throws {
    let store = try expiringStore(clock)
    try store.write { chat throws in
      try chat.insert(expiring("a", at: 1, until: 3000))
      try chat.insert(expiring("a", at: 1, until: 2000))
      try chat.insert(expiring("a", at: 1, until: 4000))
      try chat.receiveExpiry(of: "a", in: "room", at: time(5000))
      // A time that comes before its message waits for it.
      try chat.receiveExpiry(of: "b", in: "room", at: time(1500))
      try chat.insert(expiring("b", at: 2, until: 4000))
      #expect(try chat.receiveExpiry(of: "a", in: "room", at: time(1800)))
      #expect(try !chat.receiveExpiry(of: "a", in: "room", at: time(1900)))
    }
    #expect(try store.read { try $0.message("a", in: "room")?.expiresAt } == time(1800))
    #expect(try store.read { try $0.nextExpiry } == time(1500))
    clock.set(1500)
    #expect(try store.shownIDs() == ["a"])
    #expect(try store.read { try $0.nextExpiry } == time(1800))
    clock.set(1800)
    #expect(try store.shownIDs() == [])
    #expect(try store.read { try $0.nextExpiry } == nil)
    try store.finishWork()
    try store.expectSound()
  }

  @Test func implausibleTimesAreRefused() throws {
    let store = try expiringStore(clock)
    let far = Timestamp(microseconds: .max)
    #expect(throws: StoreError.input(.implausibleTime(far))) {
      try store.write { chat in try chat.insert(expiring("a", at: 1, until: .max)) }
    }
    #expect(throws: StoreError.input(.implausibleTime(far))) {
      try store.write { chat in try chat.receiveExpiry(of: "a", in: "room", at: far) }
    }
    #expect(try store.read { try $0.nextExpiry } == nil)
  }
}
