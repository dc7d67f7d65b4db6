import MsgStore
import PageFile
import Testing

/// What is told of random commits, compared with what has changed.
struct ChangesModelTests {
  private let names: [ConversationID] = ["a", "b", "c", "d"]

  @Test(arguments: seeds(6, debugCount: 3)) func whatIsToldIsWhatHasChanged(seed: UInt64) {
    RandomStore(seed: seed).expectSound(stepCount: 150) { try check($0, seed) }
  }

  @Test(arguments: seeds(2, debugCount: 1)) func whatIsToldOfLongThreadsIsWhatHasChanged(
    seed: UInt64
  ) {
    RandomStore(seed: seed, packing: .random(seed), idCount: 60).expectSound(stepCount: 60) {
      try check($0, seed)
    }
  }

  /// One listener looks after each commit, and one takes the sum of several.
  private func check(_ made: RandomStore, _ seed: UInt64) throws -> String? {
    var random = SeededGenerator(seed: seed ^ 0xC4A)
    var quick: ChangeSequence.Iterator?
    var slow: ChangeSequence.Iterator?
    var last: StorePicture?
    var lastOfSlow: StorePicture?
    let store = try made.play { store in
      // An expiry is told with the step that lets its message go.
      try store.finishWork()
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
  }
}
