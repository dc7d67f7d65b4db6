import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Expiring messages, and a mute that ends, against a dictionary of their times, under a clock that
/// goes both ways.
struct ExpiryModelTests {
  /// What a naive store knows.
  private struct Naive {
    /// The earliest time at which each message expires, also of those that are not here.
    var ends: [Int: Int64] = [:]
    var here: Set<Int> = []
    var erased: Set<Int> = []
    /// The latest server time, which counts for no more than the clock did when it came.
    var heard = Int64.min
    /// The end of the mute of their conversation, unless it is over for good.
    var muteEnd: Int64?

    func isMuted(at now: Int64) -> Bool { muteEnd.map { $0 > now } ?? false }

    func shown(at now: Int64) -> [String] {
      here.subtracting(erased).sorted().filter { (ends[$0] ?? .max) > now }.map { "m\($0)" }
    }

    /// The next time at which a message that is here expires, or the mute ends.
    func next(after now: Int64) -> Timestamp? {
      (here.subtracting(erased).map { ends[$0] } + [muteEnd]).compactMap { $0 }
        .filter { $0 > now }.min().map { Timestamp(microseconds: $0) }
    }

    mutating func join(_ end: Int64?, of index: Int) {
      if let end { ends[index] = min(end, ends[index] ?? .max) }
    }
  }

  @Test(arguments: seeds(8, debugCount: 3)) func aStoreHidesAndErasesAsTheirTimesSay(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let directory = MemoryDirectory()
    let clock = TestClock(1500)
    let (packs, step) = (random.chance(70), Int.random(in: 1...9, using: &random))
    func open() throws -> MessageStore {
      try expiringStore(clock, in: directory, packs: packs) {
        $0.steps = StepSizes(maximumSweepCount: step)
      }
    }
    var store = try open()
    var naive = Naive()
    var newsCount = Int64(0)
    for round in 0..<150 {
      let comment: Comment = "seed \(seed), round \(round)"
      switch Int.random(in: 0..<100, using: &random) {
      case ..<40:
        try store.write(.relaxed) { chat throws in
          for _ in 0..<Int.random(in: 1..<8, using: &random) {
            let index = Int.random(in: 10..<70, using: &random)
            let end: Int64? = random.chance(60) ? .random(in: 1000...3000, using: &random) : nil
            // Several share one moment.
            let received = expiring(
              MessageID("m\(index)"), at: Int64(index / 4), until: end)
            let isErased = naive.erased.contains(index)
            #expect(try (chat.insert(received) == .deleted) == isErased, comment)
            if isErased { continue }
            naive.here.insert(index)
            naive.join(end, of: index)
          }
        }
      case ..<45:
        let muteEnd = Int64.random(in: 1000...3000, using: &random)
        try store.write { chat in
          try chat.receive(
            ReceivedConversation("room", at: time(Int64(round + 1))) {
              $0.isMuted = true
              $0.mutedUntil = time(muteEnd)
            })
        }
        naive.muteEnd = muteEnd
      case ..<52:
        let index = Int.random(in: 10..<70, using: &random)
        let end = Int64.random(in: 1000...3000, using: &random)
        try store.write { chat in
          try chat.receiveExpiry(of: MessageID("m\(index)"), in: "room", at: time(end))
        }
        naive.join(end, of: index)
      case ..<65:
        clock.set(.random(in: 1000...3000, using: &random))
      case ..<75:
        try store.write { try $0.doWork() }
        try noteErased(&naive, store, clock, comment)
      case ..<90:
        let isHeard = random.chance(60)
        if isHeard {
          newsCount += 1
          let news = Int64.random(in: 1000...3000, using: &random)
          try store.write { chat throws in
            try chat.insert(chatMessage(MessageID("n\(newsCount)"), in: "elsewhere", at: news))
          }
          naive.heard = max(naive.heard, min(news, clock.now.microseconds))
        }
        try store.finishWork()
        try noteErased(&naive, store, clock, comment)
        let shown = naive.shown(at: clock.now.microseconds)
        let summary = try store.read { try $0.conversation("room") }
        #expect((summary?.unreadCount ?? 0) == shown.count, comment)
        #expect(summary?.preview?.messageID.string == shown.last, comment)
        let muted = try store.read { try $0.unreadTotals.mutedMessages }
        let isMuted = naive.isMuted(at: clock.now.microseconds)
        #expect(muted == (isMuted ? shown.count : 0), comment)
      default:
        try store.expectSound()
        try store.close()
        store = try open()
      }
      #expect(try store.shownIDs() == naive.shown(at: clock.now.microseconds), comment)
      let isMuted = try store.read { try $0.conversation("room")?.isMuted }
      #expect((isMuted ?? false) == naive.isMuted(at: clock.now.microseconds), comment)
      #expect(
        try store.read { try $0.nextExpiry } == naive.next(after: clock.now.microseconds), comment)
    }
    // In the end everything with a time goes.
    clock.set(4000)
    try store.write { try $0.insert(chatMessage("last", in: "elsewhere", at: 3500)) }
    try store.finishWork()
    clock.set(0)
    #expect(try store.shownIDs() == naive.shown(at: 4000), "seed \(seed)")
    #expect(try store.read { try $0.conversation("room")?.isMuted } != true, "seed \(seed)")
    try store.expectSound()
    try store.close()
  }

  /// Looks at a time before all others which messages have been erased, and if they might be; and
  /// if the mute is over for good.
  private func noteErased(
    _ naive: inout Naive, _ store: MessageStore, _ clock: TestClock, _ comment: Comment
  ) throws {
    let now = clock.now
    clock.set(0)
    let left = Set(try store.shownIDs())
    let isMuted = try store.read { try $0.conversation("room")?.isMuted }
    clock.set(now.microseconds)
    for index in naive.here.subtracting(naive.erased) where !left.contains("m\(index)") {
      let end = naive.ends[index] ?? .max
      #expect(end <= naive.heard && end <= now.microseconds, comment)
      naive.erased.insert(index)
    }
    if let end = naive.muteEnd, isMuted == false {
      #expect(end <= naive.heard && end <= now.microseconds, comment)
      naive.muteEnd = nil
    }
  }
}
