import PageFile
import Simulation
import Testing

/// Crashes and failing calls in short runs, and whether those who look for mistakes would find one.
///
/// `torture crash` and `torture faults` do the same for hours.
struct ExplorationTests {
  private func expectNone(_ failures: [FoundViolation]) {
    guard let first = failures.first else { return }
    Issue.record("\(failures.count) failures, the first one made small:\(Shrinker.shrink(first))")
  }

  /// Every sequence of two operations, on a new store and on one with some pages: what is wrong
  /// mostly shows in something short.
  @Test(arguments: 0..<Workload.small.count) func shortSequencesSurviveCrashes(first: Int) {
    let explorer = Explorer(
      seed: UInt64(first),
      ExplorationPlan(
        choices: CrashChoices(
          exhaustiveUnitCount: 3, sampleCount: 1,
          maximumCount: Scale.count(debug: 2, release: 5)),
        branchCounts: [1]))
    for second in Workload.small.indices {
      let sequence = [Workload.small[first], Workload.small[second]]
      explorer.explore(sequence, from: 1)
      explorer.explore(Workload.seeded + sequence, from: Workload.seeded.count + 2)
    }
    expectNone(explorer.report.failures)
    #expect(explorer.report.stateCount > 10)
  }

  @Test func longerRunsSurviveCrashes() {
    var report = ExplorationReport()
    let base = SeededGenerator.freshSeed()
    print("longerRunsSurviveCrashes seed \(base)")
    for seed in base..<base + 2 {
      var random = SeededRandom(seed: seed)
      let plan = ExplorationPlan(
        setting: Workload.setting(&random),
        choices: CrashChoices(exhaustiveUnitCount: 4, sampleCount: 2, maximumCount: 3),
        branchCounts: [1, 1, 1])
      let explorer = Explorer(seed: seed, plan)
      let operations = Workload.shaped + Workload.random(count: 12, &random)
      explorer.explore(
        seed % 2 == 0 ? operations : Workload.withWords(operations, &random))
      report.add(explorer.report)
    }
    expectNone(report.failures)
    #expect(report.counts.missing == [])
    #expect(report.stateCounts.count == 4 && report.stateCount > 100)
  }

  /// The first commits that change words, some of them nothing else, on a new store and on one with
  /// some pages.
  @Test func theFirstUseOfWordsSurvivesCrashes() {
    var random = SeededRandom(seed: 7)
    let explorer = Explorer(
      seed: 7,
      ExplorationPlan(
        choices: CrashChoices(exhaustiveUnitCount: 4, sampleCount: 2, maximumCount: 6),
        branchCounts: [1]))
    let first: [Operation] = [
      .put(99, byteCount: 60), .commit(.full), .checkpoint,
      .fill(96..<120, byteCount: 400),
      .commit(.relaxed), .put(3, byteCount: 9), .commit(.full), .clear(96..<120), .commit(.full),
    ]
    explorer.explore(first, from: 0)
    explorer.explore(Workload.seeded + first, from: Workload.seeded.count)
    explorer.explore(Workload.seeded + [.reopen] + first, from: Workload.seeded.count)
    explorer.exploreTroubles(first, maximumCount: 60)
    explorer.explore(Workload.withWords(Workload.shaped, from: 2, &random))
    expectNone(explorer.report.failures)
    #expect(explorer.report.stateCount > 50)
  }

  @Test(arguments: DiskProfile.all) func realFileSystemsAreNoHarder(profile: DiskProfile) {
    var random = SeededRandom(seed: 11)
    let plan = ExplorationPlan(
      setting: StoreSetting(profile: profile),
      choices: CrashChoices(exhaustiveUnitCount: 4, sampleCount: 2, maximumCount: 4),
      branchCounts: [1])
    let explorer = Explorer(seed: 11, plan)
    explorer.explore(Workload.seeded + Workload.random(count: 10, &random))
    expectNone(explorer.report.failures)
    #expect(explorer.report.stateCount > 50)
  }

  @Test func runsSurviveFailingCalls() {
    let seed = SeededGenerator.freshSeed()
    print("runsSurviveFailingCalls seed \(seed)")
    var random = SeededRandom(seed: seed)
    let explorer = Explorer(seed: seed, ExplorationPlan(branchCounts: []))
    // Calls are counted from the last restart on, which chance may put at the end: so once without it.
    explorer.exploreTroubles(Workload.seeded, maximumCount: 125)
    explorer.exploreTroubles(
      Workload.seeded + Workload.random(count: 8, &random), maximumCount: 125)
    expectNone(explorer.report.failures)
    #expect(explorer.report.troubleCounts.count == 8)
  }

  /// The system's cache has lost a relaxed commit before any sync could tell of it: nobody can keep it.
  @Test func aKillMayTakeWhatTheSystemHasLostUntold() throws {
    let setting = StoreSetting(pageByteCount: 4096, cacheByteCount: 0, profile: .worst)
    for syncNumber in 1...30 {
      let fault = Fault(.sync, first: syncNumber, failedSync: .tellsLate)
      let replay = Replay(
        setting, lives: [],
        last: [
          .put(1, byteCount: 8), .commit(.relaxed), .reopen, .put(6, byteCount: 8),
          .commit(.relaxed), .kill,
        ], .fault(fault))
      #expect(throws: Never.self, "sync \(syncNumber)") { try replay.run() }
    }
  }

  // MARK: Looking at those who look

  @Test func aSeedGivesTheSameRunTwice() {
    let traces = (0..<2).map { _ in
      var random = SeededRandom(seed: 5)
      let explorer = Explorer(seed: 5, ExplorationPlan(choices: CrashChoices(maximumCount: 5)))
      explorer.explore(Workload.random(count: 12, &random))
      explorer.exploreTroubles(Workload.random(count: 5, &random), maximumCount: 20)
      return explorer.report.traceHash
    }
    #expect(traces[0] == traces[1])
    #expect(traces[0] != 0)
  }

  /// A model that takes relaxed commits for durable ones is wrong, so it has to find losses; and each
  /// of them is made as small as it can be.
  @Test func aWrongModelFindsFailures() throws {
    var setting = StoreSetting()
    setting.takesRelaxedForFull = true
    let explorer = Explorer(seed: 1, ExplorationPlan(setting: setting, branchCounts: []))
    explorer.explore([
      .put(1, byteCount: 30), .commit(.full), .fill(2..<4, byteCount: 20), .commit(.relaxed),
    ])
    let failure = try #require(explorer.report.failures.first)
    let small = Shrinker.shrink(failure)
    #expect(small.violation.kind == .lostCommit)
    #expect(throws: Violation.self) { try small.replay.run() }
    #expect(small.replay.lives.map(\.operations) == [[.put(2, byteCount: 8), .commit(.relaxed)]])
    #expect(small.description.contains("try Replay("))
  }

  /// The same life ends at the same moment again, and another setting shows that it was reached.
  @Test func aReplayRepeatsItsCrash() throws {
    var replay = Replay(
      StoreSetting(pageByteCount: 4096, cacheByteCount: 0, profile: .worst),
      lives: [
        Life(
          [.put(6, byteCount: 8), .commit(.relaxed)],
          crash: .powerCut(PowerCut(kept: [])), at: 2, 2)
      ])
    try replay.run()
    replay.setting.takesRelaxedForFull = true
    #expect(throws: Violation.self) { try replay.run() }
  }
}
