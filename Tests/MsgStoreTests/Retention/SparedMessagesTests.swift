import MsgStore
import PageFile
import Testing

/// Pruning beside many messages that it spares.
struct SparedMessagesTests {
  private static let day: Int64 = 24 * 3600 * 1_000_000

  private func options() -> StoreOptions {
    countedOptions { options in
      options.clock = { Timestamp(microseconds: 30_000 * Self.day) }
      options.packs = false
      options.prunesByItself = false
      options.steps = StepSizes(maximumSweepCount: 40)
    }
  }

  /// A closed store in which all but the newest hundred messages are starred and would be pruned.
  private func starred(_ count: Int) throws -> MemoryDirectory {
    try closedStore(options()) { store in
      for start in stride(from: 0, to: count, by: 100) {
        try store.write { chat in
          for index in start..<min(start + 100, count) {
            let id = MessageID("m\(100_000 + index)")
            try chat.insert(
              message(
                id, at: Self.day * 20_000 + Int64(index), text: String(repeating: "x", count: 300)),
              as: .history)
            if index < count - 100 { try chat.setTag(.starred, of: id, in: "room") }
          }
        }
      }
      try store.write { try $0.setRetention(Retention(messageCount: 100), of: "room") }
    }
  }

  /// The pages that each step reads.
  private func stepCosts(_ count: Int) throws -> [Int] {
    let counted = try CountedStore(try starred(count), options())
    var costs: [Int] = []
    while try counted.store.read({ try $0.hasWork }) {
      costs.append(try counted.pagesRead { store in try store.write { try $0.doWork() } })
    }
    #expect(try counted.store.read { try $0.conversation("room")?.messageCount } == count)
    try counted.store.expectSound()
    return costs
  }

  @Test func eachStepReadsOnlyWhatItPasses() throws {
    let few = try stepCosts(1000)
    let many = try stepCosts(4000)
    #expect(few.count > 20 && many.count > 90)
    // Forty messages lie on a few pages; four thousand on three hundred.
    let limit = (few.max() ?? 0) * 3 / 2 + 10
    #expect(many.allSatisfy { $0 <= limit }, "\(many), of a few: \(few)")
  }

  /// What comes, goes, or moves before the walk between two steps counts.
  @Test func changesBeforeTheWalkCount() throws {
    for seed in seeds(20, debugCount: 8) {
      var random = SeededGenerator(seed: seed)
      var options = options()
      options.steps = StepSizes(maximumSweepCount: .random(in: 1...9, using: &random))
      let narrow = try MessageStore(in: MemoryDirectory(), name: "store", options: options)
      try narrow.write { chat in
        for index in 0..<80 {
          let id = MessageID("m\(1000 + index)")
          try chat.insert(message(id, at: Self.day * 20_000 + Int64(index) * 10), as: .history)
          if random.chance(60) { try chat.setTag(.starred, of: id, in: "room") }
        }
        try chat.setRetention(Retention(messageCount: 20), of: "room")
      }
      var number = 0
      while try narrow.read({ try $0.hasWork }) {
        try narrow.write { try $0.doWork() }
        let (id, other) = (
          MessageID("m\(1000 + Int.random(in: 0..<60, using: &random))"),
          MessageID("late\(number)")
        )
        let place = time(Self.day * 20_000 + Int64.random(in: 0..<600, using: &random))
        number += 1
        if number < 60 {
          try narrow.write { chat in
            switch Int.random(in: 0..<5, using: &random) {
            case 0: try chat.delete(id, in: "room")
            case 1:
              try chat.insert(message(other, at: place.microseconds), as: .history)
              try chat.setTag(.starred, of: other, in: "room")
            case 2:
              try chat.acknowledge(id, in: "room", serverTimestamp: place, revision: 5)
            case 3:
              try chat.insert(
                contentsOf: (0..<3).map {
                  message(MessageID("run\(number)-\($0)"), at: place.microseconds + Int64($0))
                }, as: .history)
            default: break
            }
          }
        }
        try narrow.expectSound()
      }
      // Once more, from the beginning: nothing is left to prune, and nothing too much was pruned.
      let count = try narrow.read { try $0.conversation("room")?.messageCount ?? 0 }
      #expect(count >= 20, "seed \(seed)")
      try narrow.write { try $0.prune() }
      try narrow.finishWork()
      try narrow.expectSound()
      try narrow.close()
    }
  }
}
