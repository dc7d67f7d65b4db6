import MsgStore
import Testing

/// Which sequence numbers are known and which are missing, beside a plain set of numbers.
struct KnownSequencesTests {
  @Test func gapsAreWhatLiesBetweenKnownNumbers() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      for sequence: Int64 in [1, 2, 3, 7, 8, 12] {
        try chat.insert(message(MessageID("m\(sequence)"), at: sequence, sequence))
      }
      #expect(try chat.gaps(in: "room") == [4...6, 9...11])
    }
    try store.read { chat throws in
      #expect(try chat.gaps(in: "room") == [4...6, 9...11])
      #expect(try chat.gaps(in: "room", count: 1) == [4...6])
      #expect(try chat.gaps(in: "room", count: 9, after: 6) == [9...11])
      #expect(try chat.gaps(in: "room", after: 4) == [9...11])
      #expect(try chat.gaps(in: "room", after: 11) == [])
      #expect(try chat.knownSequences(in: "room") == [1...3, 7...8, 12...12])
      #expect(try chat.knownSequences(in: "room", after: 1) == [7...8, 12...12])
      #expect(try chat.gaps(in: "unknown") == [])
      #expect(throws: StoreError.input(.count(0))) { try chat.gaps(in: "room", count: 0) }
    }
  }

  @Test func lateArrivalsCloseGaps() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      for sequence: Int64 in [1, 5, 9] {
        try chat.insert(message(MessageID("m\(sequence)"), at: sequence, sequence))
      }
      try chat.insert(message("late", at: 3, 3))
    }
    #expect(try store.read { try $0.gaps(in: "room") } == [2...2, 4...4, 6...8])
    try store.write { chat throws in
      for sequence: Int64 in [8, 2, 6, 4, 7] {
        try chat.insert(message(MessageID("m\(sequence)"), at: sequence, sequence))
      }
    }
    try store.read { chat throws in
      #expect(try chat.gaps(in: "room") == [])
      #expect(try chat.knownSequences(in: "room") == [1...9])
    }
    try store.expectSound()
  }

  @Test func whatWasDeletedHereIsNoGap() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      for sequence: Int64 in 1...5 {
        try chat.insert(message(MessageID("m\(sequence)"), at: sequence, sequence))
      }
      try chat.delete("m3", in: "room")
    }
    #expect(try store.read { try $0.gaps(in: "room") } == [])
  }

  @Test func whatTheServerSaysDoesNotExistIsNoGap() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      for sequence: Int64 in [10, 20] {
        try chat.insert(message(MessageID("m\(sequence)"), at: sequence, sequence))
      }
      #expect(try chat.declareAbsent(11...14, in: "room"))
      #expect(try chat.gaps(in: "room") == [15...19])
      #expect(try !chat.declareAbsent(12...14, in: "room"))
    }
    #expect(try store.read { try $0.gaps(in: "room") } == [15...19])
    // Known beforehand, it counts from the first message on.
    #expect(try store.write { try $0.declareAbsent(1...3, in: "room") })
    #expect(try store.read { try $0.gaps(in: "room") } == [4...9, 15...19])
    try store.expectSound()
  }

  @Test func whatIsDeclaredForAnUnknownConversationMakesIt() throws {
    let store = try memoryStore()
    #expect(try store.write { try $0.declareAbsent(.min ... .max, in: "stub") })
    try store.read { chat throws in
      #expect(try chat.conversation("stub")?.messageCount == 0)
      #expect(try chat.knownSequences(in: "stub") == [.min ... .max])
      #expect(try chat.gaps(in: "stub") == [])
    }
    #expect(throws: StoreError.self) { try store.write { try $0.declareAbsent(1...2, in: "") } }
  }

  @Test func anAcknowledgedMessageHasItsNumber() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      try chat.insert(message("m1", at: 1, 1))
      try chat.insert(message("mine", at: nil, from: "me", local: 2))
      try chat.insert(message("m3", at: 3, 3))
      try chat.acknowledge("mine", in: "room", serverTimestamp: time(2), sequence: 2)
    }
    #expect(try store.read { try $0.knownSequences(in: "room") } == [1...3])
  }

  @Test(arguments: seeds(6)) func gapsAreThoseOfASet(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try memoryStore()
    var facts: [ClosedRange<Int64>] = []
    for _ in 0..<25 {
      try store.write { chat throws in
        for _ in 0..<Int.random(in: 1..<8, using: &random) {
          let fact = Self.fact(&random)
          facts.append(fact)
          try Self.apply(fact, to: chat)
          if random.chance(20) {
            #expect(try chat.gaps(in: "room", count: 1000) == Self.gaps(Self.runs(facts)))
          }
        }
      }
      let runs = Self.runs(facts)
      try store.read { chat throws in
        #expect(try chat.knownSequences(in: "room", count: 1000) == runs)
        #expect(try chat.gaps(in: "room", count: 1000) == Self.gaps(runs))
        // In pages, and from any number.
        var paged: [ClosedRange<Int64>] = []
        while case let page = try chat.gaps(in: "room", count: 2, after: paged.last?.upperBound),
          !page.isEmpty
        { paged += page }
        #expect(paged == Self.gaps(runs))
        let number = Self.number(.random(in: 0..<90, using: &random))
        #expect(
          try chat.gaps(in: "room", count: 1000, after: number)
            == Self.gaps(runs).filter { $0.lowerBound > number })
      }
    }
    // The same in another order, some of it twice, in one commit.
    let other = try memoryStore()
    try other.write { chat in
      for fact in (facts + facts.prefix(9)).shuffled(using: &random) {
        try Self.apply(fact, to: chat)
      }
    }
    #expect(try other.read { try $0.knownSequences(in: "room", count: 1000) } == Self.runs(facts))
    try store.expectSound()
    try other.expectSound()
  }

  /// Few numbers, at both ends of what there is and in the middle.
  private static func number(_ index: Int) -> Int64 {
    switch index {
    case ..<30: .min + Int64(index)
    case ..<60: Int64(index) - 45
    default: .max - Int64(89 - index)
    }
  }

  private static func fact(_ random: inout SeededGenerator) -> ClosedRange<Int64> {
    let index = Int.random(in: 0..<90, using: &random)
    let last = random.chance(70) ? index : min(89, index + .random(in: 0..<5, using: &random))
    return last / 30 == index / 30 ? number(index)...number(last) : number(index)...number(index)
  }

  private static func apply(
    _ fact: ClosedRange<Int64>, to chat: borrowing StoreWriter
  ) throws {
    if fact.count == 1 {
      try chat.insert(message(MessageID("m\(fact.lowerBound)"), at: 5, fact.lowerBound))
    } else {
      try chat.declareAbsent(fact, in: "room")
    }
  }

  private static func runs(_ facts: [ClosedRange<Int64>]) -> [ClosedRange<Int64>] {
    var runs: [ClosedRange<Int64>] = []
    for number in Set(facts.joined()).sorted() {
      if let last = runs.last, last.upperBound &+ 1 == number {
        runs[runs.count - 1] = last.lowerBound...number
      } else {
        runs.append(number...number)
      }
    }
    return runs
  }

  private static func gaps(_ runs: [ClosedRange<Int64>]) -> [ClosedRange<Int64>] {
    zip(runs, runs.dropFirst()).map { $0.upperBound + 1...$1.lowerBound - 1 }
  }
}
