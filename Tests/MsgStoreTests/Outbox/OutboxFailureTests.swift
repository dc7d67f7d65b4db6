import MsgStore
import PageFile
import Testing

/// Attempts that fail: what is tried again and when, what is not, and who has to wait.
struct OutboxFailureTests {
  private func store(
    _ clock: TestClock, _ change: (inout OutboxOptions) -> Void = { _ in }
  ) throws -> MessageStore {
    let store = try clock.outboxStore(.init(), change)
    try store.write {
      try $0.send(own("m"))
      try $0.send(own("n"))
      try $0.send(own("other", in: "hall"))
    }
    return store
  }

  @Test func theNetworkIsNeverGivenUpAndTheWaitsGrowToFiveMinutes() throws {
    let clock = TestClock(0)
    let store = try store(clock)
    var waits: [Int64] = []
    for attempt in 1...40 {
      let item = try store.take()
      #expect(item.name == "send m" && item.attempt == attempt)
      let kinds = [FailureKind.noConnection, .timeOut, .other]
      try store.fail(item, kinds[attempt % 3])
      let entry = try store.entries()[0]
      guard case .waiting(let until) = entry.state else { return #expect(Bool(false)) }
      #expect(entry.failure?.kind == kinds[attempt % 3] && entry.attemptCount == attempt)
      waits.append((until.microseconds - clock.now.microseconds) / 1000)
      // The others of the conversation wait too, those of another do not.
      if attempt == 1 { #expect(try store.drain() == ["send other"]) }
      clock.set(until.microseconds - 1)
      #expect(try store.next() == nil && store.nextTime() == until)
      clock.set(until.microseconds)
    }
    #expect(
      Array(waits.prefix(10)) == [
        1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000,
      ])
    #expect(waits.dropFirst(9).allSatisfy { $0 == 300_000 })
    #expect(try store.drain() == ["send m", "send n"])
    try store.expectSound()
  }

  @Test func halfOfTheWaitIsChance() throws {
    for (chance, expected) in [(0.0, 500_000), (0.5, 750_000), (1, 1_000_000), (7, 1_000_000)]
      as [(Double, Int64)]
    {
      let clock = TestClock(0)
      let store = try store(clock) { $0.chance = { chance } }
      try store.fail(try store.take())
      #expect(try store.entries()[0].state == .waiting(until: time(expected)))
    }
    var waits: Set<Int64> = []
    let clock = TestClock(0)
    let store = try clock.store()
    try store.write { for index in 0..<50 { _ = try $0.outbox.enter("x", in: nil); _ = index } }
    for _ in 0..<20 {
      try store.fail(try store.take())
      guard case .waiting(let until) = try store.entries()[0].state else { break }
      #expect((500_000...1_000_000).contains(until.microseconds - clock.now.microseconds))
      waits.insert(until.microseconds - clock.now.microseconds)
      try store.write { _ = try $0.outbox.retryAll() }
    }
    #expect(waits.count > 10)
  }

  @Test func theServerMaySayWhenToAskAgain() throws {
    let clock = TestClock(50_000_000)
    let store = try store(clock)
    try store.fail(try store.take(), .other, retryAt: time(90_000_000))
    #expect(try store.entries()[0].state == .waiting(until: time(90_000_000)))
    #expect(try store.message("m")?.status == .retrying)
    #expect(try store.message("m")?.retryAt == time(90_000_000))
    clock.set(90_000_000)
    // At once, when that is past; within a day, when it is far.
    try store.fail(try store.take(), .other, retryAt: time(3))
    try store.fail(try store.take(), .other, retryAt: time(.max))
    #expect(try store.entries()[0].state == .waiting(until: time(90_000_000 + 86_400_000_000)))
  }

  private static let hour: Int64 = 3_600_000_000

  /// A store whose clock was set back by an hour after an attempt of each conversation has failed.
  ///
  /// A lease of the longest kind ends later than the waits.
  private func setBack(_ clock: TestClock, retryAt: Timestamp?) throws -> MessageStore {
    clock.set(9 * Self.hour)
    let store = try store(clock)
    for _ in 0..<2 { try store.fail(try store.take(), .timeOut, retryAt: retryAt) }
    try store.write { try $0.send(own("x", in: "cellar")) }
    #expect(try store.take("upload", lease: .seconds(3 * 3600)).name == "send x")
    clock.set(9 * Self.hour - 290_000_000)
    #expect(try store.next() == nil)
    clock.set(8 * Self.hour)
    return store
  }

  /// No own pause is longer than five minutes; what the server asks for may be as long as a day.
  @Test func aPauseEndsWhenTheClockIsSetBack() throws {
    let clock = TestClock()
    let store = try setBack(clock, retryAt: nil)
    #expect(try store.drain() == ["send m", "send n", "send other"])
    try store.expectSound()
    let wanted = time(9 * Self.hour + 1_000_000)
    let other = try setBack(clock, retryAt: wanted)
    #expect(try other.next() == nil)
    clock.set(wanted.microseconds)
    #expect(try other.drain() == ["send m", "send n", "send other"])
    try other.expectSound()
  }

  @Test func aLoopIsGivenWhatWaitedWhenTheClockWasSetBack() async throws {
    let store = try setBack(TestClock(), retryAt: nil)
    var iterator = store.work(for: "worker").makeAsyncIterator()
    #expect(try await iterator.next()?.name == "send m")
    #expect(try await iterator.next()?.name == "send other")
  }

  @Test func aRefusalFailsAtOnceAndStepsAside() throws {
    for kind in [FailureKind.permission, .notFound, .invalid] {
      let clock = TestClock()
      let store = try store(clock)
      try store.write { _ = try $0.edit("m", in: "room", text: "better") }
      let item = try store.take()
      let failure = SendFailure(kind, code: 403, text: "no")
      try store.write { try $0.outbox.fail(item, because: failure) }
      #expect(try store.entries()[0].failure == failure)
      #expect(try store.message("m")?.status == .failed)
      #expect(try store.message("m")?.failure == failure)
      #expect(try store.drain() == ["send n", "send other"])
      #expect(try store.waiting == ["send m failed", "edit m queued, blocked"])
      #expect(try store.nextTime() == nil)
      // It comes back when somebody wants it to.
      #expect(try store.write { try $0.outbox.retry(item.id) })
      #expect(try store.message("m")?.status == .pending)
      #expect(try store.drain() == ["send m", "edit m: better"])
      try store.expectSound()
    }
  }

  @Test func aRefusedUploadTakesItsMessageAside() throws {
    let store = try TestClock().outboxStore()
    try store.write {
      try $0.send(ownWithFiles("m", ["f", "g"]))
      try $0.send(own("n"))
    }
    let item = try store.take()
    try store.fail(item, .invalid)
    #expect(try store.drain() == ["upload g", "send n"])
    #expect(try store.waiting == ["upload m failed", "send m queued, blocked"])
    let upload = try store.read { try $0.attachments(of: "m", in: "room").first?.upload }
    guard case .failed(let failure, _) = upload else { return #expect(Bool(false)) }
    #expect(failure.kind == .invalid)
    // Trying the message again tries its uploads again.
    let send = try store.entryID(.send, "m")
    #expect(try store.write { try $0.outbox.retry(send) })
    #expect(try store.drain() == ["upload f", "send m"])
    try store.expectSound()
  }

  @Test func refusedEditsAreShownWithTheirMessage() throws {
    let store = try TestClock(100).outboxStore()
    try store.write {
      try $0.insert(message("m", at: 1, from: "me"))
      _ = try $0.edit("m", in: "room", text: "better")
    }
    let item = try store.take()
    try store.fail(item, .permission)
    #expect(try store.message("m")?.failure?.kind == .permission)
    #expect(try store.message("m")?.text == "better", "as it is until somebody decides")
    try store.write { try $0.outbox.remove(item.id) }
    #expect(try store.message("m")?.text == "hello")
    #expect(try store.waiting == [])
    try store.expectSound()
  }

  @Test func attemptsMayBeLimited() throws {
    let clock = TestClock(0)
    let store = try store(clock) { $0.maximumAttemptCount = 3 }
    let hall = try store.entryID(.send, "other")
    try store.write { try $0.outbox.remove(hall) }
    try store.fail(try store.take())
    clock.advance(10)
    // One of which nothing was heard counts too.
    _ = try store.take()
    clock.advance(60)
    let item = try store.take()
    #expect(item.attempt == 3)
    try store.fail(item)
    #expect(try store.waiting[0] == "send m failed")
    #expect(try store.take().name == "send n")
    // Somebody retries: the count begins anew.
    try store.write { _ = try $0.outbox.retry(item.id) }
    try store.fail(try store.take())
    #expect(try store.waiting[0] == "send m waiting")
    try store.expectSound()
  }

  @Test func ofAllAttemptsNothingMayHaveBeenHeard() throws {
    let clock = TestClock(0)
    let store = try store(clock) { $0.maximumAttemptCount = 2 }
    let hall = try store.entryID(.send, "other")
    try store.write { try $0.outbox.remove(hall) }
    for _ in 0..<2 {
      #expect(try store.take().name == "send m")
      clock.advance(60)
    }
    #expect(try store.take().name == "send n")
    #expect(try store.waiting[0] == "send m failed")
    #expect(try store.entries()[0].failure?.kind == .other)
    try store.expectSound()
  }

  @Test func theAgeMayBeLimited() throws {
    let clock = TestClock(0)
    let store = try store(clock) { $0.maximumAge = .seconds(100) }
    try store.fail(try store.take(), .timeOut)
    clock.advance(101)
    #expect(try store.next() == nil)
    #expect(try store.counts() == OutboxCounts(failed: 3))
    #expect(try store.entries()[0].failure?.kind == .timeOut)
    #expect(try store.message("n")?.status == .failed)
    #expect(try store.write { try $0.outbox.releaseAndRetryAll() } == 3)
    #expect(try store.drain().count == 3, "the age begins anew")
    try store.expectSound()
  }

  @Test func withTheConnectionEverythingGoesAtOnce() throws {
    let clock = TestClock(0)
    let store = try store(clock)
    try store.fail(try store.take())
    try store.fail(try store.take(), .invalid)
    #expect(try store.write { try $0.outbox.retryAll(in: "hall") } == 0)
    #expect(try store.write { try $0.outbox.retryAll(in: "room") } == 1)
    #expect(try store.write { try $0.outbox.retryAll(includesFailed: true) } == 1)
    #expect(try store.drain().count == 3)
    try store.expectSound()
  }
}
