import MsgStore
import PageFile
import Testing

/// What a step of expiry reads does not grow with what earlier steps have done.
struct ExpiryCostTests {
  private let clock = TestClock(1000)

  private var options: StoreOptions {
    countedOptions { options in
      options.clock = { [clock] in clock.now }
      options.packs = false
      options.erasesExpiredByClock = true
      options.steps = StepSizes(maximumSweepCount: 40)
    }
  }

  /// The pages that each step reads once the clock has passed everything, in a store of messages
  /// that stay and of others that expire.
  private func stepCosts(
    _ count: Int, _ one: (_ index: Int) -> (time: Int64, end: Int64?)
  ) throws -> [Int] {
    clock.set(1000)
    let files = try closedStore(options) { store in
      let text = String(repeating: "x", count: 300)
      for start in stride(from: 0, to: count, by: 100) {
        try store.write { chat throws in
          for index in start..<start + 100 {
            let (time, end) = one(index)
            let id = MessageID("m\(10_000 + index)")
            try chat.insert(expiring(id, at: time, Int64(index), until: end, text: text))
          }
        }
      }
    }
    clock.set(1_000_000)
    let counted = try CountedStore(files, options)
    var costs: [Int] = []
    var hasChanged = true
    while hasChanged {
      costs.append(
        try counted.pagesRead { store in hasChanged = try store.commits { try $0.doWork() } })
    }
    let left = (0..<count).count { one($0).end == nil }
    #expect(try counted.store.read { try $0.conversation("room")?.messageCount } == left)
    #expect(try counted.store.shownIDs().count == left)
    try counted.store.expectSound()
    return costs
  }

  /// Each one is the last message of its conversation when it goes.
  @Test func theNewestMayExpireFirst() throws {
    let few = try stepCosts(200) { (Int64($0), 2000 - Int64($0)) }
    let many = try stepCosts(800) { (Int64($0), 2000 - Int64($0)) }
    #expect(few.count > 9 && many.count > 39)
    // The first step of erasing meets the pages that the last ones of letting go have left.
    let limit = (few.max() ?? 0) * 3 / 2 + 10
    #expect(many.count { $0 > limit } <= 2, "\(many), of a few: \(few)")
  }

  /// Only the first step of each kind passes over those that stay.
  @Test func manyOfOneMomentMayStay() throws {
    let costs = try stepCosts(800) { (10, $0 < 500 ? nil : 2000) }
    let few = try stepCosts(300) { (10, $0 < 0 ? nil : 2000) }
    #expect(costs.count > 14)
    let limit = (few.max() ?? 0) * 3 / 2 + 10
    #expect(costs.count { $0 > limit } <= 2, "\(costs), alone: \(few)")
  }
}
