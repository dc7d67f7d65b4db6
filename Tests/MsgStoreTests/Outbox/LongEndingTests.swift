import MsgStore
import PageFile
import Testing

/// What is given up because it is too old goes in steps, and keeps nobody waiting.
struct LongEndingTests {
  private static let stepCount = 20
  private static let count = 90
  private static let day: Int64 = 86_400_000_000
  private let clock = TestClock(0)

  /// A store with much that is too old in one conversation, and something young in another.
  private func crowded(
    textByteCount: Int = 10, _ change: (inout StepSizes) -> Void
  ) throws -> MessageStore {
    clock.set(1_000_000)
    let clock = clock
    var options = StoreOptions(localMember: "me", clock: { clock.now }).makingConversations
    options.worksInBackground = false
    options.outbox.maximumAge = .seconds(3 * 86_400)
    change(&options.steps)
    let store = try MessageStore(
      in: MemoryDirectory(), name: "store", options: options)
    let text = noise(textByteCount)
    try store.write { chat in
      for index in 0..<Self.count { try chat.send(own(MessageID("m\(index)"), in: "room", text)) }
    }
    clock.set(4 * Self.day)
    try store.write { try $0.send(own("young", in: "other")) }
    return store
  }

  @Test func whatIsTooOldIsGivenUpInStepsAndOthersGoMeanwhile() throws {
    let store = try crowded { $0.maximumEntryCount = Self.stepCount }
    let item = try store.take()
    #expect(item.name == "send young")
    #expect(try store.counts() == OutboxCounts(queued: 70, running: 1, failed: 20))
    try store.expectSound()
    #expect(try store.next() == nil)
    #expect(try store.nextTime().map { $0 <= clock.now } == true)
    try store.done(item)
    for failed in [60, 80, 90] {
      #expect(try store.next() == nil)
      #expect(try store.counts() == OutboxCounts(queued: Self.count - failed, failed: failed))
      try store.expectSound()
    }
    #expect(try store.nextTime() == nil)
    #expect(try store.message("m0")?.status == .failed)
  }

  @Test func largeMessagesAreGivenUpInSmallerSteps() throws {
    let store = try crowded(textByteCount: 9_000) { $0.maximumChangedByteCount = 100_000 }
    #expect(try store.take().name == "send young")
    let first = try store.counts().failed
    #expect(first > 0 && first < 10)
    var count = 0
    while try store.counts().failed < Self.count {
      #expect(try store.next() == nil)
      count += 1
      try #require(count < Self.count)
    }
    #expect(count >= Self.count / 10)
    try store.expectSound()
  }

  /// A run is a step, too: each message that is handed out is written anew.
  @Test func aRunOfLargeMessagesIsShorter() throws {
    let clock = clock
    var options = StoreOptions(localMember: "me", clock: { clock.now }).makingConversations
    options.worksInBackground = false
    options.steps.maximumChangedByteCount = 100_000
    let store = try MessageStore(in: MemoryDirectory(), name: "store", options: options)
    let text = noise(9_000)
    try store.write { chat in
      for index in 0..<20 { try chat.send(own(MessageID("m\(index)"), text)) }
    }
    let run = try store.write { try $0.outbox.next(for: "w", maximumCount: 20) }
    #expect(run.count > 1 && run.count < 10)
    #expect(run.map(\.name) == (0..<run.count).map { "send m\($0)" })
    try store.expectSound()
  }
}

/// Returns a text that hardly gets smaller by compression.
func noise(_ count: Int) -> String {
  var random = SeededGenerator(seed: 7)
  return String(decoding: random.bytes(count).map { 33 + $0 % 90 }, as: UTF8.self)
}
