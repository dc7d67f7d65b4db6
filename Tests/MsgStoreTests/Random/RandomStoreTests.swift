import Foundation
import MsgStore
import PageFile
import Testing

/// Whatever is done to a store, in whatever order, it stays sound.
///
/// What fails is made small and printed. `MSGSTORE_STORES=n` makes n stores of each kind, in a
/// release build some hundred a second.
@Suite struct RandomStoreTests {
  /// Names that meet often, threads of some length, and long ones.
  @Test(arguments: [8, 30, 60])
  func everythingThatIsDoneLeavesASoundStore(_ idCount: Int) throws {
    for seed in seeds(storeCount(idCount > 30 ? 1 : 3)) { expectSound(seed, idCount) }
  }

  /// The same where little waits, and long work goes on in many steps among the rest.
  @Test(arguments: [8, 30, 60])
  func everythingThatIsDoneBetweenTheStepsOfWorkLeavesASoundStore(_ idCount: Int) throws {
    for seed in seeds(storeCount(idCount > 30 ? 1 : 3)) {
      expectSound(seed, idCount, isNarrow: true)
    }
  }

  private func storeCount(_ usual: Int) -> Int {
    let text = ProcessInfo.processInfo.environment["MSGSTORE_STORES"]
    return text.flatMap { Int($0) } ?? usual
  }

  private func expectSound(_ seed: UInt64, _ idCount: Int, isNarrow: Bool = false) {
    let random = RandomStore(
      seed: seed, packing: .random(seed), idCount: idCount, isNarrow: isNarrow)
    random.expectSound(stepCount: 400) { made in
      let store = try made.play()
      defer { try? store.close() }
      return try store.defect()
    }
  }
}
