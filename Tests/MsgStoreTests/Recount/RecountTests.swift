import Foundation
import MsgStore
import PageFile
import Simulation
import Testing

/// Whatever is done to a store, what it derives is what a count says, after every transaction.
struct RecountTests {
  @Test(arguments: [8, 30])
  func whatIsDerivedIsWhatACountSaysAfterEveryStep(_ idCount: Int) throws {
    for seed in seeds(seedCount) { expectSound(seed, idCount, isNarrow: false) }
  }

  @Test func whatIsDerivedIsWhatACountSaysBetweenTheStepsOfWork() throws {
    for seed in seeds(seedCount) { expectSound(seed, 8, isNarrow: true) }
  }

  private var seedCount: Int {
    let text = ProcessInfo.processInfo.environment["MSGSTORE_STORES"]
    return text.flatMap { Int($0) } ?? Scale.count(debug: 1, release: 2)
  }

  private func expectSound(_ seed: UInt64, _ idCount: Int, isNarrow: Bool) {
    struct Difference: Error, CustomStringConvertible { let description: String }
    let random = RandomStore(
      seed: seed, packing: .random(seed), idCount: idCount, isNarrow: isNarrow)
    random.expectSound(stepCount: 150) { made in
      let store = try made.play { store in
        if let defect = try Recount.defect(
          of: store, for: "me", maximumInlineMemberCount: made.maximumInlineMemberCount,
          isNarrow: isNarrow)
        {
          throw Difference(description: defect)
        }
      }
      try store.close()
      return nil
    }
  }
}
