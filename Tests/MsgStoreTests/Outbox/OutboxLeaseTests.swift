import MsgStore
import PageFile
import Testing

/// Work is handed out under a lease, and comes back when its holder is not heard of.
struct OutboxLeaseTests {
  private func store(_ clock: TestClock, _ count: Int = 1) throws -> MessageStore {
    let store = try clock.outboxStore()
    try store.write {
      for index in 0..<count { try $0.send(own(MessageID("m\(index)"))) }
    }
    return store
  }

  @Test func nobodyElseGetsItBeforeTheLeaseExpires() throws {
    let clock = TestClock(1_000_000)
    let store = try store(clock)
    let item = try store.take("a")
    #expect(item.owner == "a" && item.attempt == 1 && item.expiry == time(61_000_000))
    #expect(try store.message("m0")?.status == .sending)
    #expect(try store.entries()[0].state == .running(owner: "a", expiry: item.expiry))
    #expect(try store.nextTime() == item.expiry)
    clock.set(60_999_999)
    #expect(try store.next("b") == nil)
    clock.set(61_000_000)
    let other = try store.take("b")
    #expect(other.id == item.id && other.token == item.token && other.attempt == 2)
    #expect(other.owner == "b" && other.expiry == time(121_000_000))
    try store.expectSound()
  }

  @Test func aLeaseIsAsLongAsAskedForWithinBounds() throws {
    let clock = TestClock(0)
    let store = try store(clock)
    var now: Int64 = 0
    for (asked, given) in [
      (Duration.zero, 1000), (.seconds(-9), 1000), (.milliseconds(5), 5000),
      (.seconds(1_000_000), 86_400_000_000), (.seconds(Int64.max), 86_400_000_000),
    ] as [(Duration, Int64)] {
      let item = try store.take(lease: asked)
      #expect(item.expiry.microseconds - now == given)
      now += given
      clock.set(now)
    }
  }

  @Test func aLeaseIsRenewedAsLongAsNobodyElseHasIt() throws {
    let clock = TestClock(0)
    let store = try store(clock)
    let item = try store.take("a")
    clock.advance(50)
    let longer = try #require(
      try store.write { try $0.outbox.renew(item, lease: .seconds(100)) })
    #expect(longer.expiry == time(150_000_000) && longer.token == item.token)
    clock.advance(60)
    #expect(try store.next("b") == nil)
    // It has expired, and nobody has taken it: it is still the holder's.
    clock.set(200_000_000)
    #expect(try store.write { try $0.outbox.renew(longer) } != nil)
    clock.set(300_000_000)
    _ = try store.take("b")
    #expect(try store.write { try $0.outbox.renew(longer) } == nil)
    #expect(try store.entries()[0].state == .running(owner: "b", expiry: time(360_000_000)))
  }

  @Test func whoHasLostItMayOnlySayThatItIsDone() throws {
    let clock = TestClock(0)
    let store = try store(clock)
    let lost = try store.take("a")
    clock.advance(60)
    let item = try store.take("b")
    #expect(try !store.fail(lost, .invalid))
    #expect(try !store.write { try $0.outbox.returnWork(lost) })
    #expect(try store.write { try $0.outbox.renew(lost) } == nil)
    #expect(try store.waiting == ["send m0 running"])
    #expect(try store.done(lost), "the server has it, whoever says so")
    #expect(try store.waiting == [] && store.message("m0")?.status == .sent)
    #expect(try !store.done(item) && !store.fail(item) && !store.done(lost))
    try store.expectSound()
  }

  @Test func doneIsBelievedAfterTheLeaseHasExpired() throws {
    let clock = TestClock(0)
    let store = try store(clock)
    let item = try store.take()
    clock.advance(1000)
    #expect(try store.done(item))
    #expect(try store.waiting == [])
    try store.expectSound()
  }

  @Test func lateDoneIsBelievedWhateverWasDecidedMeanwhile() throws {
    let clock = TestClock(0)
    let store = try store(clock)
    let item = try store.take()
    try store.fail(item, .timeOut)
    try store.write { _ = try $0.outbox.hold(item.id) }
    #expect(try store.done(item))
    #expect(try store.waiting == [] && store.message("m0")?.status == .sent)
    try store.expectSound()
  }

  @Test(arguments: [OutboxKind.setTitle, .setAvatar])
  func aLateAnswerAboutAnOlderStateDoesNotEndTheNewerOne(_ kind: OutboxKind) throws {
    let clock = TestClock(0)
    let store = try clock.outboxStore()
    func set(_ text: String) throws {
      try store.write { chat throws in
        if kind == .setTitle {
          try chat.setTitle(text, of: "room")
        } else {
          try chat.setAvatar(text, of: "room")
        }
      }
    }
    try store.write { _ = try $0.insert(message("r", at: 1)) }
    try set("old")
    let first = try store.take()
    try store.fail(first, .timeOut)
    try set("new")
    #expect(try !store.done(first, serverTime: time(9)))
    #expect(try store.counts().total == 1)
    clock.advance(10)
    let second = try store.take()
    #expect(second.name.hasSuffix("new") && second.id == first.id && second.token != first.token)
    #expect(try store.done(second))
    #expect(try store.waiting == [])
    try store.expectSound()
  }

  @Test func whatWasGivenBackGoesAtOnceAndCountsAsNoAttempt() throws {
    let clock = TestClock(0)
    let store = try store(clock)
    let item = try store.take("a")
    #expect(try store.write { try $0.outbox.returnWork(item) })
    #expect(try store.waiting == ["send m0 queued"] && store.message("m0")?.status == .pending)
    #expect(try !store.write { try $0.outbox.returnWork(item) })
    let again = try store.take("b")
    #expect(again.attempt == 1 && again.token == item.token)
    #expect(try !store.fail(item))
    try store.expectSound()
  }

  @Test func anOwnerThatStartsAnewGivesBackAllThatItHad() throws {
    let clock = TestClock(0)
    let store = try clock.outboxStore()
    try store.write {
      for room in ["a", "b", "c"] as [ConversationID] {
        try $0.send(own("m", in: room))
      }
    }
    let items = [try store.take("one"), try store.take("two"), try store.take("one")]
    #expect(try store.write { try $0.outbox.reclaimWork(of: "nobody") } == 0)
    #expect(try store.write { try $0.outbox.reclaimWork(of: "one") } == 2)
    #expect(try store.counts() == OutboxCounts(queued: 2, running: 1))
    let again = [try store.take("one"), try store.take("one")]
    #expect(again.map(\.token) == [items[0].token, items[2].token])
    #expect(again.allSatisfy { $0.attempt == 2 }, "it may have been begun")
    try store.expectSound()
  }

  @Test func theClockMayBeSetBack() throws {
    let day: Int64 = 86_400_000_000
    let clock = TestClock(10 * day)
    let store = try store(clock)
    let item = try store.take("a")
    clock.set(10 * day - 1000)
    #expect(try store.next("b") == nil)
    // No lease is as long as that.
    clock.set(8 * day)
    #expect(try store.take("b").token == item.token)
    clock.set(20 * day)
    #expect(try store.take("c").attempt == 3)
    try store.expectSound()
  }

  @Test func atTheEndOfTimeNothingTraps() throws {
    for moment in [Int64.min, -1, .max] {
      let clock = TestClock(moment)
      let store = try clock.outboxStore { $0.maximumAge = .seconds(1) }
      try store.write {
        try $0.send(own("m", "mine", at: 5))
        _ = try $0.outbox.enter("x")
      }
      // What is to be tried again now is due at once: some rounds of that.
      for _ in 0..<4 {
        if let item = try store.next() { try store.fail(item, .other, retryAt: time(moment)) }
      }
      clock.set(~moment)
      while let item = try store.next() { try store.done(item) }
      try store.expectSound()
    }
  }

  @Test func theTokenIsTheSameOnEveryAttempt() throws {
    let clock = TestClock(0)
    let store = try clock.outboxStore()
    try store.write {
      try $0.insert(message("r", at: 1))
      _ = try $0.createGroup("g", participants: ["you", "ann"], title: "T")
      try $0.send(ownWithFiles("m", ["f"]))
      _ = try $0.react("👍", to: "r", in: "room")
      _ = try $0.markRead("room")
      _ = try $0.outbox.enter("x")
    }
    var tokens: [OutboxEntry.ID: OutboxToken] = [:]
    for entry in try store.entries() { tokens[entry.id] = entry.token }
    #expect(Set(tokens.values).count == 6)
    for attempt in 0..<200 where try store.counts().total > 0 {
      while let item = try store.next() {
        #expect(tokens[item.id] == item.token)
        if attempt % 4 == 3 { try store.done(item) } else { try store.fail(item, .timeOut) }
      }
      clock.advance(400)
    }
    #expect(try store.waiting == [])
    try store.expectSound()
  }

  @Test func tokensAreWrittenAndRead() throws {
    let store = try store(TestClock())
    let token = try store.entries()[0].token
    #expect("\(token)".count == 32 && OutboxToken("\(token)") == token)
    for text in ["", "+123456789abcdef0123456789abcdef", "\(token)0", "g".padding32] {
      #expect(OutboxToken(text) == nil)
    }
  }
}

extension String {
  fileprivate var padding32: String { self + String(repeating: "0", count: 31) }
}
