import Foundation
import Testing

/// The same facts in any order and in any commits end in the same store.
///
/// What differs is made small and printed. `MSGSTORE_ORDERS=n` takes n cases.
struct OrderedFactsTests {
  private var count: Int {
    let text = ProcessInfo.processInfo.environment["MSGSTORE_ORDERS"]
    return text.flatMap { Int($0) } ?? 200
  }

  @Test func theSameFactsInAnyOrderEndInTheSameStore() {
    expectNone(count) { $0.difference() }
  }

  @Test func aStoreOfFactsIsRestoredAndSalvagedWhole() {
    expectNone(count / 10) { $0.differenceOfCopies() }
  }

  private func expectNone(_ count: Int, _ difference: (OrderCase) -> String?) {
    for seed in seeds(1).flatMap({ first in (0..<UInt64(count)).map { first &+ $0 } }) {
      let made = OrderCase(seed: seed)
      guard difference(made) != nil else { continue }
      let least = made.shrunk { difference($0) != nil }
      Issue.record("\(least)\n\(difference(least) ?? "nothing differs")")
    }
  }
}
