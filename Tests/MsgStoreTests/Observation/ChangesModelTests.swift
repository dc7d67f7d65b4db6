import MsgStore
import PageFile
import Testing

/// What is told of random commits, compared with what has changed.
@Suite struct ChangesModelTests {
  private let names: [ConversationID] = ["a", "b", "c", "d"]

  @Test(arguments: seeds(6)) func whatIsToldIsWhatHasChanged(seed: UInt64) throws {
    try check(RandomStore(seed: seed), stepCount: 150, seed)
  }

  @Test(arguments: seeds(2)) func whatIsToldOfLongThreadsIsWhatHasChanged(seed: UInt64) throws {
    try check(RandomStore(seed: seed, packing: .random(seed), idCount: 60), stepCount: 60, seed)
  }

  private func check(_ random: RandomStore, stepCount: Int, _ seed: UInt64) throws {
    var random = random
    random.plan(stepCount: stepCount)
    guard let defect = defect(random, seed) else { return }
    let least = random.shrunk { self.defect($0, seed) != nil }
    Issue.record(
      "seed \(seed): \(defect)\nat least \(self.defect(least, seed) ?? "nothing") after\n\(least)")
  }

  /// What is wrong with what is told; nil if nothing is.
  ///
  /// One listener looks after each commit, and one takes the sum of several.
  private func defect(_ made: RandomStore, _ seed: UInt64) -> String? {
    var random = SeededGenerator(seed: seed ^ 0xC4A)
    var quick: ChangeSequence.Iterator?
    var slow: ChangeSequence.Iterator?
    var last: StorePicture?
    var lastOfSlow: StorePicture?
    do {
      let store = try made.play { store in
        let now = try StorePicture(store, names: names)
        defer { last = now }
        guard let before = last, let beforeSlow = lastOfSlow else {
          quick = store.changes.makeAsyncIterator()
          slow = store.changes.makeAsyncIterator()
          lastOfSlow = now
          return
        }
        try (quick?.nextIfThere() ?? StoreChanges()).check(from: before, to: now)
        guard random.chance(20) else { return }
        lastOfSlow = now
        try (slow?.nextIfThere() ?? StoreChanges()).check(from: beforeSlow, to: now)
      }
      try store.close()
      return nil
    } catch {
      return "\(error)"
    }
  }
}
