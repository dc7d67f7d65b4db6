import MsgStore
import PageFile
import Testing

/// Releasing and retrying much goes in steps, oldest first, and ends as if it had been done at once.
struct LongReleaseTests {
  private static let stepCount = 20
  private static let count = 90
  private let clock = TestClock(0)

  private func open(
    _ directory: MemoryDirectory, _ maximumEntryCount: Int = Self.stepCount
  ) throws -> MessageStore {
    let clock = clock
    var options = StoreOptions(localMember: "me", clock: { clock.now }).makingConversations
    options.worksInBackground = false
    options.outbox.chance = { 1 }
    options.steps.maximumEntryCount = maximumEntryCount
    return try MessageStore(in: directory, name: "store", options: options)
  }

  /// Two conversations with much that is held, some that has failed, and one that waits.
  private func crowded(_ directory: MemoryDirectory) throws {
    let store = try open(directory, .max)
    try store.write { chat in
      for index in 0..<5 {
        try chat.send(own(MessageID("f\(index)"), in: "a"))
        let item = try #require(try chat.outbox.next(for: "w"))
        try chat.outbox.fail(item, because: SendFailure(.invalid))
      }
      try chat.send(own("w", in: "c"))
      let item = try #require(try chat.outbox.next(for: "w"))
      try chat.outbox.fail(item, because: SendFailure(.noConnection))
      try chat.outbox.setHoldsNewEntries(true)
      for index in 0..<Self.count {
        try chat.send(own(MessageID("m\(index)"), in: index % 2 == 0 ? "a" : "b"))
      }
    }
    try store.expectSound()
    try store.close()
  }

  private func step(_ directory: MemoryDirectory, _ store: MessageStore) throws -> MessageStore {
    let copy = directory.copy()
    try store.close()
    for name in ["store", "store-wal0", "store-wal1"] { directory[name] = copy[name] }
    let next = try open(directory)
    let before = try next.counts()
    try next.write(.relaxed) { try $0.doWork() }
    let after = try next.counts()
    #expect(after.queued - before.queued <= Self.stepCount)
    #expect(after.total >= before.total)
    try next.expectSound()
    return next
  }

  private func finish(
    _ directory: MemoryDirectory, _ first: MessageStore
  ) throws -> (store: MessageStore, stepCount: Int) {
    var (store, count) = (first, 0)
    while try store.read({ try $0.hasWork }) {
      store = try step(directory, store)
      count += 1
      try #require(count < 100)
    }
    return (store, count)
  }

  @Test func everythingIsSentInStepsAsInOneGo() throws {
    let (directory, other) = (MemoryDirectory(), MemoryDirectory())
    for files in [directory, other] { try crowded(files) }
    let whole = try open(other, .max)
    let count = try whole.write { try $0.outbox.releaseAndRetryAll() }
    #expect(count == Self.count + 6)

    let first = try open(directory)
    #expect(try first.write { try $0.outbox.releaseAndRetryAll() } == count)
    #expect(try !first.read { try $0.outbox.holdsNewEntries })
    #expect(try first.counts().queued <= Self.stepCount)
    try first.expectSound()
    let (store, stepCount) = try finish(directory, first)
    #expect(stepCount >= (count - 1) / Self.stepCount)
    #expect(try store.waiting == whole.waiting)
    #expect(try store.read { try $0.message("m7", in: "b")?.status } == .pending)
    #expect(try store.drain() == whole.drain())
    try store.expectSound()
  }

  /// What is entered while it is under way goes behind what was released, though that is not all done.
  @Test func whatIsEnteredLaterGoesBehind() throws {
    let directory = MemoryDirectory()
    try crowded(directory)
    let store = try open(directory)
    try store.write { chat in
      _ = try chat.outbox.releaseAndRetryAll()
      try chat.send(own("late", in: "a"))
      try chat.send(own("later", in: "d"))
    }
    #expect(try store.read { try $0.message("late", in: "a")?.status } == .pending)
    var names: [String] = []
    while try store.nextTime() != nil {
      guard let item = try store.next() else { continue }
      names.append(item.name)
      try store.done(item)
    }
    let expected =
      (0..<5).map { "send f\($0)" } + ["send w"] + (0..<Self.count).map { "send m\($0)" }
    #expect(names == expected + ["send late", "send later"])
    #expect(try !store.read { try $0.hasWork })
    try store.expectSound()
  }

  @Test func holdingAgainStopsWhatHasNotGone() throws {
    let directory = MemoryDirectory()
    try crowded(directory)
    let store = try open(directory)
    try store.write { _ = try $0.outbox.releaseAndRetryAll() }
    let held = try store.counts().held
    #expect(held > 60)
    #expect(try store.write { try $0.outbox.setHoldsNewEntries(true) })
    try store.finishWork()
    #expect(try store.counts().held == held)
    try store.expectSound()
    #expect(try store.write { try $0.outbox.releaseAndRetryAll() } == held)
    try store.finishWork()
    #expect(try store.counts() == OutboxCounts(queued: Self.count + 6))
    try store.expectSound()
  }

  /// What is held, or fails, after it was asked for stays so.
  @Test func whatIsDecidedLaterHolds() throws {
    let directory = MemoryDirectory()
    try crowded(directory)
    let first = try open(directory)
    let last = try first.entryID(.send, MessageID("m\(Self.count - 1)"))
    let other = try first.entryID(.send, MessageID("m\(Self.count - 2)"))
    try first.write { _ = try $0.outbox.releaseAndRetryAll() }
    try first.write { (chat) throws in
      #expect(try !chat.outbox.hold(last), "it is held still")
      #expect(try chat.outbox.release(other) && chat.outbox.hold(other))
    }
    try first.expectSound()
    let (store, _) = try finish(directory, first)
    #expect(try store.counts() == OutboxCounts(queued: Self.count + 4, held: 2))
    #expect(try store.write { try $0.outbox.releaseAndRetryAll() } == 2)
    #expect(try !store.read { try $0.hasWork })
    #expect(try store.counts() == OutboxCounts(queued: Self.count + 6))
  }

  @Test func oneConversationIsReleasedAndTheOthersGoOnMeanwhile() throws {
    let directory = MemoryDirectory()
    try crowded(directory)
    let first = try open(directory)
    try first.write { try $0.outbox.setHoldsNewEntries(false) }
    #expect(try first.write { try $0.outbox.releaseAll(in: "a") } == Self.count / 2)
    try first.write { chat in
      try chat.send(own("late", in: "a"))
      try chat.send(own("x", in: "b"))
    }
    try first.expectSound()
    #expect(try first.take().name == "send x")
    let (store, stepCount) = try finish(directory, first)
    #expect(stepCount >= 2)
    #expect(try store.counts("a") == OutboxCounts(queued: Self.count / 2 + 1, failed: 5))
    #expect(try store.counts("b").held == Self.count / 2)
    let names = try store.drain()
    #expect(names.first == "send m0" && names.last == "send late")
  }

  @Test func aRetryOfEverythingLeavesWhatIsHeld() throws {
    let directory = MemoryDirectory()
    try crowded(directory)
    let store = try open(directory, 2)
    #expect(try store.write { try $0.outbox.retryAll() } == 1)
    #expect(try store.write { try $0.outbox.retryAll(includesFailed: true) } == 5)
    try store.finishWork()
    #expect(try store.counts() == OutboxCounts(queued: 6, held: Self.count))
    try store.expectSound()
  }

  @Test func holdingAgainLeavesTheFailedOnesToTheirRetry() throws {
    let directory = MemoryDirectory()
    let store = try open(directory, 3)
    try store.write { chat in
      for index in 0..<9 {
        try chat.send(own(MessageID("f\(index)")))
        let item = try #require(try chat.outbox.next(for: "w"))
        try chat.outbox.fail(item, because: SendFailure(.invalid))
      }
      try chat.outbox.setHoldsNewEntries(true)
      for index in 0..<9 { try chat.send(own(MessageID("m\(index)"))) }
      #expect(try chat.outbox.releaseAndRetryAll() == 18)
      try chat.outbox.setHoldsNewEntries(true)
    }
    try store.expectSound()
    try store.finishWork()
    #expect(try store.counts() == OutboxCounts(queued: 9, held: 9))
    #expect(try store.drain() == (0..<9).map { "send f\($0)" })
    try store.expectSound()
  }

  @Test func whatIsScheduledIsNotCountedAsReleased() throws {
    let store = try open(MemoryDirectory(), 3)
    try store.write { chat in
      try chat.outbox.setHoldsNewEntries(true)
      for index in 0..<9 { try chat.send(own(MessageID("m\(index)"))) }
      try chat.outbox.setHoldsNewEntries(false)
      for room in ["room", "other"] as [ConversationID] {
        try chat.send(own(MessageID("s \(room)"), in: room), at: time(1_000_000_000))
      }
    }
    #expect(try store.write { try $0.outbox.releaseAll(in: "room") } == 9)
    #expect(try store.write { try $0.outbox.releaseAll() } == 6)
    try store.finishWork()
    #expect(try store.counts() == OutboxCounts(queued: 9, held: 2))
    try store.expectSound()
  }

  /// A conversation that is deleted, or becomes another, takes what was asked for with it.
  @Test(arguments: [true, false]) func aReleaseFollowsItsConversation(_ isDeleted: Bool) throws {
    let directory = MemoryDirectory()
    let first = try open(directory)
    try first.write { chat in
      try chat.insert(message("r", at: 1))
      try chat.send(own("sent"))
      while let item = try chat.outbox.next(for: "w") { try chat.outbox.complete(item) }
      try chat.outbox.setHoldsNewEntries(true)
      for index in 0..<50 { _ = try chat.outbox.enter("work \(index)", in: "room") }
      _ = try chat.retract("sent", in: "room")
      try chat.insert(chatMessage("o", in: "other", at: 1))
      _ = try chat.outbox.enter("other", in: "other")
      try chat.outbox.setHoldsNewEntries(false)
    }
    #expect(try first.write { try $0.outbox.releaseAll(in: "room") } == 51)
    try first.write { chat in
      if isDeleted {
        _ = try chat.deleteConversation("room")
      } else {
        try chat.renameConversation("room", to: "other")
      }
    }
    try first.expectSound()
    let (store, _) = try finish(directory, first)
    #expect(try store.counts().held == 1)
    #expect(try store.drain().count == (isDeleted ? 52 : 51))
    try store.expectSound()
  }

  @Test func recordsOfReleasesAreReadAsTheyWereWritten() {
    for states in UInt8(1)...7 {
      let release = OutboxRelease(
        .init(rawValue: states), of: UInt32(states), next: 7, end: .max)
      var buffer = ByteBuffer()
      release.append(to: &buffer)
      #expect(OutboxRelease(buffer.bytes) == release)
      let bytes = buffer.bytes.array()
      for count in 0..<bytes.count {
        var part = ByteBuffer()
        part.append(Array(bytes[..<count]))
        #expect(OutboxRelease(part.bytes) == nil)
      }
    }
  }
}
