import PageFile
import Simulation
import Testing

/// Crashes and failing calls on encrypted stores, with every seal of all lives collected.
struct SealedExplorationTests {
  private func plan(_ seals: SealSource, branchCounts: [Int]) -> ExplorationPlan {
    ExplorationPlan(
      setting: StoreSetting(seals: seals),
      choices: CrashChoices(exhaustiveUnitCount: 3, sampleCount: 2, maximumCount: 3),
      branchCounts: branchCounts)
  }

  private func expectNone(_ failures: [FoundViolation]) {
    guard let first = failures.first else { return }
    Issue.record("\(failures.count) failures, the first one made small:\(Shrinker.shrink(first))")
  }

  @Test func encryptedStoresSurviveCrashes() {
    let seed = SeededGenerator.freshSeed()
    print("encryptedStoresSurviveCrashes seed \(seed)")
    var random = SeededRandom(seed: seed)
    let seals = SealSource(seed: seed, isCollecting: true)
    let explorer = Explorer(seed: seed, plan(seals, branchCounts: [1, 1]))
    explorer.explore(Workload.shaped + Workload.random(count: 6, &random))
    expectNone(explorer.report.failures)
    #expect(explorer.report.stateCount > 50)
    #expect(seals.sealCount > 1000 && seals.repeatedCount == 0)
  }

  @Test func encryptedStoresSurviveFailingCalls() {
    let seed = SeededGenerator.freshSeed()
    print("encryptedStoresSurviveFailingCalls seed \(seed)")
    let seals = SealSource(seed: seed, isCollecting: true)
    let explorer = Explorer(seed: seed, plan(seals, branchCounts: [1]))
    explorer.exploreTroubles(Workload.seeded + [.checkpoint, .commit(.full)], maximumCount: 60)
    expectNone(explorer.report.failures)
    #expect(seals.sealCount > 100 && seals.repeatedCount == 0)
  }
}
