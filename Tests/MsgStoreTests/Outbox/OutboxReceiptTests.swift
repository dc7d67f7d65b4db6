import MsgStore
import PageFile
import Testing

/// What takes in what is older: receipts, titles, pictures.
struct OutboxReceiptTests {
  private func filled(
    _ clock: TestClock = TestClock(), _ form: PendingReceipt.Form = .mark,
    _ change: (inout OutboxOptions) -> Void = { _ in }
  ) throws -> MessageStore {
    let store = try clock.outboxStore {
      $0.receiptForm = form
      change(&$0)
    }
    try store.write {
      try $0.putConversation("room", participants: ["me", "you", "ann"])
      for index in 1...9 { try $0.insert(message(MessageID("r\(index)"), at: Int64(index))) }
    }
    return store
  }

  private func mark(_ store: MessageStore, _ index: Int64) throws {
    try store.write { _ = try $0.markRead("room", upTo: MessageID("r\(index)")) }
  }

  @Test func aNewerReceiptTakesInTheOlder() throws {
    let store = try filled()
    for index in 1...5 as ClosedRange<Int64> { try mark(store, index) }
    #expect(try store.waiting == ["readReceipt queued"])
    #expect(try store.drain() == ["read r5"])
    #expect(try store.pendingRooms(.read) == [])
    try store.expectSound()
  }

  @Test func aReceiptIsHandedOutInTheWriteThatMarks() throws {
    let store = try filled()
    let item = try store.write {
      _ = try $0.markRead("room")
      return try $0.outbox.next(for: "w")
    }
    #expect(item?.name == "read r9")
    try store.expectSound()
  }

  @Test func whatIsMarkedMeanwhileIsToldUnderAnotherToken() throws {
    let store = try filled()
    try mark(store, 3)
    let item = try store.take()
    try mark(store, 6)
    #expect(try store.waiting == ["readReceipt running"])
    #expect(try store.next() == nil)
    try store.done(item)
    #expect(try store.waiting == ["readReceipt queued"])
    let next = try store.take()
    #expect(next.name == "read r6" && next.token != item.token && next.attempt == 1)
    #expect(try !store.done(item))
    #expect(try store.waiting == ["readReceipt running"])
    try store.done(next)
    #expect(try store.waiting == [] && store.pendingRooms(.read) == [])
    try store.expectSound()
  }

  @Test func aLateAnswerLeavesTheWorkToWhoHasItNow() throws {
    let clock = TestClock(0)
    let store = try filled(clock)
    try mark(store, 3)
    let lost = try store.take("a")
    clock.advance(60)
    try mark(store, 6)
    let item = try store.take("b")
    #expect(item.name == "read r6" && item.token != lost.token)
    try store.done(lost)
    #expect(try store.waiting == ["readReceipt running"])
    #expect(try store.next("c") == nil, "nobody else has it")
    #expect(try store.done(item))
    #expect(try store.waiting == [])
    try store.expectSound()
  }

  @Test func theTokenOfAReceiptIsTheSameForTheSameContent() throws {
    let clock = TestClock(0)
    let store = try filled(clock)
    try mark(store, 3)
    let item = try store.take()
    try store.fail(item)
    clock.advance(1)
    let same = try store.take()
    #expect(same.token == item.token && same.attempt == 2)
    try store.fail(same)
    try mark(store, 4)
    clock.advance(10)
    let other = try store.take()
    #expect(other.token != item.token && other.name == "read r4")
    try store.expectSound()
  }

  @Test func aReceiptThatWasRefusedIsTriedAgainWhenItSaysSomethingElse() throws {
    let store = try filled()
    try mark(store, 3)
    let item = try store.take()
    try store.fail(item, .invalid)
    try store.write { try $0.insert(message("r10", at: 10)) }
    #expect(try store.waiting == ["readReceipt failed"])
    try mark(store, 4)
    #expect(try store.waiting == ["readReceipt queued"])
    let next = try store.take()
    #expect(next.name == "read r4" && next.token != item.token)
    try store.done(next)
    #expect(try store.waiting == [])
    try store.expectSound()
  }

  @Test func whatIsMarkedMeanwhileGoesWhereTheLastLeaseExpires() throws {
    let clock = TestClock(0)
    let store = try filled(clock) { ($0.maximumAttemptCount, $0.maximumAge) = (1, .seconds(30)) }
    try mark(store, 3)
    let item = try store.take()
    try mark(store, 4)
    clock.advance(60)
    let next = try store.take()
    #expect(next.name == "read r4" && next.token != item.token && next.attempt == 1)
    clock.advance(60)
    #expect(try store.next() == nil)
    #expect(try store.waiting == ["readReceipt failed"])
    try store.expectSound()
  }

  @Test func namesAreToldInBatches() throws {
    let store = try filled(TestClock(), .ids(maximumCount: 4))
    try store.write { _ = try $0.markRead("room") }
    var ids: [MessageID] = []
    var tokens: Set<OutboxToken> = []
    while let item = try store.next() {
      guard case .receipt(let receipt) = item.task else { break }
      ids += receipt.ids
      tokens.insert(item.token)
      try store.done(item)
    }
    #expect(ids == (1...9).map { MessageID("r\($0)") } && tokens.count == 3)
    #expect(try store.waiting == [])
    try store.expectSound()
  }

  @Test func aClientThatConfirmsReceiptsItselfSettlesThem() throws {
    let store = try filled()
    try mark(store, 3)
    let item = try store.take()
    for receipt in try store.pending(.read, as: .mark) {
      try store.write { _ = try $0.confirm(receipt) }
    }
    #expect(try store.waiting == [])
    #expect(try !store.done(item))
    try mark(store, 5)
    let next = try store.take()
    // Another device has told the server.
    try store.write {
      _ = try $0.receive(
        ReceivedReceipt(in: "room", of: "me", .read, .upTo("r9"), time: nil))
    }
    #expect(try store.waiting == [])
    #expect(try !store.fail(next))
    try store.expectSound()
  }

  @Test func receiptsAreNotHeldByTheSwitch() throws {
    let store = try filled()
    try store.write {
      try $0.outbox.setHoldsNewEntries(true)
      _ = try $0.markRead("room")
      _ = try $0.markDelivered("room")
      _ = try $0.setTitle("T", of: "room")
    }
    #expect(try store.drain().sorted() == ["delivered r9", "read r9"])
    #expect(try store.waiting == ["setTitle T held"])
  }

  @Test func theNewestTitleIsTold() throws {
    let store = try filled()
    try store.write {
      _ = try $0.setTitle("A", of: "room")
      _ = try $0.setAvatar("a", of: "room")
      _ = try $0.setTitle("B", of: "room")
      _ = try $0.setAvatar("b", of: "room")
      _ = try $0.setTitle("C", of: "room")
    }
    #expect(try store.waiting == ["setTitle C queued", "setAvatar b queued"])
    #expect(try store.drain() == ["title C", "avatar b"])
  }

  @Test func aTitleThatChangesWhileOneIsOnItsWayFollowsIt() throws {
    let clock = TestClock(0)
    let store = try filled(clock)
    try store.write { _ = try $0.setTitle("A", of: "room") }
    let item = try store.take()
    try store.write { _ = try $0.setTitle("B", of: "room") }
    try store.write { _ = try $0.setTitle(nil, of: "room") }
    #expect(try store.counts() == OutboxCounts(queued: 1, running: 1))
    try store.done(item)
    let next = try store.take()
    #expect(next.name == "title -" && next.token != item.token)
    // The older of two that wait tells nothing that the newer does not.
    try store.write { _ = try $0.setTitle("C", of: "room") }
    try store.fail(next, .timeOut)
    clock.advance(1)
    #expect(try store.drain() == ["title C"])
    #expect(try store.waiting == [])
    try store.expectSound()
  }

  @Test func aTitleThatMayHaveLeftIsToldUnderAnotherTokenWhenItIsAnother() throws {
    let clock = TestClock(0)
    let store = try filled(clock)
    try store.write { _ = try $0.setTitle("A", of: "room") }
    let item = try store.take()
    try store.fail(item, .timeOut)
    try store.write { _ = try $0.setTitle("B", of: "room") }
    clock.advance(1)
    let next = try store.take()
    #expect(next.id == item.id && next.name == "title B" && next.token != item.token)
    try store.fail(next, .invalid)
    try store.write { _ = try $0.setTitle("C", of: "room") }
    #expect(try store.drain() == ["title C"])
    try store.expectSound()
  }

  @Test func aTitleToBeLookedAtIsNotToldByAnOlderOne() throws {
    let clock = TestClock(0)
    let store = try filled(clock)
    try store.write { _ = try $0.setTitle("A", of: "room") }
    let item = try store.take()
    try store.write {
      try $0.outbox.setHoldsNewEntries(true)
      _ = try $0.setTitle("B", of: "room")
    }
    try store.fail(item, .timeOut)
    clock.advance(1)
    #expect(try store.drain() == [])
    #expect(try store.waiting == ["setTitle B held"])
    try store.write { _ = try $0.outbox.releaseAndRetryAll() }
    #expect(try store.drain() == ["title B"])
    // The same where the older is not under way.
    try store.write {
      _ = try $0.setTitle("C", of: "room")
      try $0.outbox.setHoldsNewEntries(true)
      _ = try $0.setTitle("D", of: "room")
    }
    #expect(try store.waiting == ["setTitle D held"])
    try store.expectSound()
  }

  @Test func aLateSecondAnswerLeavesWhatWasReadSince() throws {
    let clock = TestClock(0)
    let store = try filled(clock)
    try mark(store, 9)
    let first = try store.take("a")
    clock.advance(60)
    let second = try store.take("b")
    #expect(try store.done(first))
    // It comes late, below the mark, and is read by its name.
    try store.write {
      try $0.insert(message("late", at: 4))
      _ = try $0.markRead(["late"], in: "room")
    }
    #expect(try store.waiting == ["readReceipt queued"])
    #expect(try !store.done(second))
    try store.expectSound()
    guard case .receipt(let receipt) = try store.take().task else {
      Issue.record("no receipt")
      return
    }
    #expect(receipt.ids == ["late"])
  }
}
