import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// The steps in which the history of a store is pruned.
struct PruningStepTests {
  private static let day: Int64 = 24 * 3600 * 1_000_000

  private func options(
    sweepCount: Int = 1000, clock: @escaping @Sendable () -> Int64 = { 1000 * day }
  ) -> StoreOptions {
    var options = StoreOptions(
      localMember: "me", clock: { Timestamp(microseconds: clock()) })
    options.worksInBackground = false
    options.steps = StepSizes(maximumSweepCount: sweepCount)
    options.packing = PackingSizes(looseCount: 3, maximumSegmentByteCount: 300)
    return options
  }

  private func fill(_ store: MessageStore) throws {
    try store.write { chat throws in
      for room in ["a", "b", "c", "d"] as [ConversationID] {
        for index in 1...60 as ClosedRange<Int64> {
          try chat.insert(
            chatMessage(
              MessageID("\(room.string)\(index)"), in: room, at: (940 + index) * Self.day),
            as: .history)
        }
        try chat.react("👍", to: MessageID("\(room.string)7"), in: room)
      }
      try chat.setRetention(Retention(messageCount: 10))
    }
  }

  private func left(_ store: MessageStore) throws -> [String] {
    try store.read { chat throws in
      try ["a", "b", "c", "d"].flatMap { room throws in
        try chat.thread(ConversationID(room)).allMessages().map(\.id.string)
      }
    }
  }

  private let expected = ["a", "b", "c", "d"].flatMap { room in
    ["\(room)7"] + (51...60).map { "\(room)\($0)" }
  }

  @Test func aStoreThatEndsAfterAnyStepGoesOn() throws {
    var directory = MemoryDirectory()
    var store = try MessageStore(in: directory, name: "store", options: options(sweepCount: 7))
    try fill(store)
    var stepCount = 0
    var isDone = false
    while !isDone {
      stepCount += 1
      let before = try left(store).count
      try store.write { chat in try chat.doWork() }
      isDone = try !store.read { try $0.hasWork }
      #expect(try before - left(store).count <= 14, "a step has removed too much")
      // The files as they are now, as a killed process leaves them.
      directory = directory.copy()
      store = try MessageStore(in: directory, name: "store", options: options(sweepCount: 7))
      try store.expectSound()
    }
    #expect(stepCount > 20)
    #expect(try left(store) == expected)
  }

  @Test func messagesThatComeBetweenTwoStepsCount() throws {
    let store = try MessageStore(
      in: MemoryDirectory(), name: "store", options: options(sweepCount: 5))
    try fill(store)
    for index in 0..<200 {
      try store.write(.relaxed) { chat throws in
        if index < 30 {
          // Old ones come in front of the walk and behind it.
          try chat.insert(
            chatMessage(
              MessageID("late\(index)"), in: "a", at: (941 + Int64(index * 7 % 60)) * Self.day + 5),
            as: .history)
        }
        try chat.doWork()
      }
    }
    let newest = try store.read { try $0.thread("a").tail(10).map(\.serverTimestamp) }
    #expect(newest.count == 10)
    #expect(newest.allSatisfy { ($0?.microseconds ?? 0) > 985 * Self.day })
    try store.finishWork()
    try store.expectSound()
  }

  @Test func aStoreInUsePrunesOnceADay() async throws {
    let now = Locked<Int64>(1000 * Self.day)
    var options = options(clock: { now.withLock { $0 } })
    options.worksInBackground = true
    let store = try MessageStore(in: MemoryDirectory(), name: "store", options: options)
    try fill(store)
    try await wait { try left(store) == expected }
    for index in 61...80 { try add(index, to: store) }
    #expect(try left(store).count { $0.hasPrefix("a") } == 31)
    now.withLock { $0 += Self.day + 1 }
    try add(81, to: store)
    try await wait { try left(store).count { $0.hasPrefix("a") } == 11 }
    try store.expectSound()
  }

  private func add(_ index: Int, to store: MessageStore) throws {
    try store.write { chat throws in
      try chat.insert(
        chatMessage(MessageID("a\(index)"), in: "a", at: (940 + Int64(index)) * Self.day),
        as: .history)
    }
  }

  @Test func copiesAndRestoredStoresHaveWhatTheStoreHas() throws {
    let directory = MemoryDirectory()
    let store = try MessageStore(in: directory, name: "store", options: options())
    try fill(store)
    let lines = try store.lines()
    let restored = try MessageStore.restored(from: lines).lines()
    func messages(_ lines: [UInt8]) -> [Substring] {
      String(decoding: lines, as: UTF8.self).split(separator: "\n")
        .filter { $0.contains(#""kind":"message""#) }
    }
    #expect(messages(restored).count == 240)
    #expect(messages(restored) == messages(lines))
  }

  /// A model that knows nothing of steps: what is left is what the rule says.
  @Test func theSameIsLeftWhateverTheStepsAre() throws {
    for seed in seeds(12, debugCount: 5) {
      var random = SeededGenerator(seed: seed)
      let rule = Retention(
        days: random.chance(50) ? Int.random(in: 1...80, using: &random) : nil,
        messageCount: random.chance(70) ? Int.random(in: 1...80, using: &random) : nil)
      let messages = (0..<150).map { index in
        (
          day: Int64.random(in: 900...1000, using: &random), index: index,
          isNeeded: random.chance(4)
        )
      }
      let isNumbered = random.chance(50)
      let ordered = messages.sorted { ($0.day, $0.index) < ($1.day, $1.index) }
      let newest = ordered.last?.day ?? 0
      let kept = ordered.enumerated().filter { offset, message in
        let isOld = rule.days.map { message.day < newest - Int64($0) } ?? false
        let isFar = rule.messageCount.map { ordered.count - offset > $0 } ?? false
        return message.isNeeded || !isOld && !isFar
      }.map { "m\(1000 + $0.element.index)" }
      for sweepCount in [1, 13, 1000] {
        let store = try MessageStore(
          in: MemoryDirectory(), name: "store", options: options(sweepCount: sweepCount))
        try store.write { chat throws in
          for (order, message) in ordered.enumerated().shuffled(using: &random) {
            var new = chatMessage(
              MessageID("m\(1000 + message.index)"), in: "a", at: message.day * Self.day)
            if isNumbered { new.sequence = Int64(order) }
            try chat.insert(new, as: .history)
          }
          for message in ordered where message.isNeeded {
            try chat.react("👍", to: MessageID("m\(1000 + message.index)"), in: "a")
          }
          try chat.setRetention(rule, of: "a")
        }
        try store.finishWork()
        try store.read { chat throws in
          #expect(
            try chat.thread("a").allMessages().map(\.id.string) == kept,
            "seed \(seed), \(sweepCount) a step")
        }
        try store.expectSound()
      }
    }
  }
}
