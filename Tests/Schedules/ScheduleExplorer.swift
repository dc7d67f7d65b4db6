package import PageFile

/// Plays runs under many schedules: all with few switches, or random ones.
package final class ScheduleExplorer {
  private static let maximumFailureCount = 8
  private let workers = (0..<4).map { _ in Worker() }
  package private(set) var runCount = 0
  package private(set) var tally: [String: Int] = [:]
  /// What went wrong, each kind once, with all that is needed to see it again.
  package private(set) var failures: [String: String] = [:]

  package init() {}

  deinit { for worker in workers { worker.stop() } }

  /// Every schedule with at most so many events, each a switch to another process or, if asked for,
  /// a kill.
  /// - Parameters:
  ///   - stride: Only every so manieth step is tried for an event, from a step that differs by level.
  package func explore(_ run: ScheduleRun, eventCount: Int, kills: Bool, stride: Int = 1) {
    explore(run, after: [:], from: 0, eventCount: eventCount, kills: kills, stride: stride)
  }

  private func explore(
    _ run: ScheduleRun, after events: [Int: Scheduler.Event], from first: Int, eventCount: Int,
    kills: Bool, stride: Int
  ) {
    if failures.count >= Self.maximumFailureCount { return }
    let outcome = play(run, .listed(events))
    guard eventCount > 0, outcome.steps.count > first else { return }
    let start = first + (stride > 1 ? first % stride : 0)
    for index in Swift.stride(from: start, to: outcome.steps.count, by: stride) {
      let step = outcome.steps[index]
      var next = step.others.map { Scheduler.Event.switchTo($0) }
      if kills { next.append(.kill) }
      for event in next {
        var events = events
        events[index] = event
        explore(
          run, after: events, from: index + 1, eventCount: eventCount - 1, kills: kills,
          stride: stride)
      }
    }
  }

  /// Two short random scripts under every schedule with at most two events.
  package func exploreRandom(seed: UInt64) throws(PageFileError) {
    var random = SplitMix(seed: seed)
    var run = ScheduleRun((0..<2).map { _ in ScriptStep.random(2 + random.below(3), &random) })
    run.seed = seed
    (run.image, run.version) = try Self.image(
      versions: 1 + random.below(3), isClosed: random.below(2) == 0)
    explore(run, eventCount: 2, kills: true)
  }

  /// A run that a seed decides, in all its parts.
  package func playRandom(seed: UInt64) throws(PageFileError) {
    var random = SplitMix(seed: seed)
    let processCount = 2 + random.below(2)
    var run = ScheduleRun(
      (0..<processCount).map { _ in ScriptStep.random(3 + random.below(15), &random) })
    run.seed = seed
    if random.below(10) == 0 { run.scripts.append([.moveStore]) }
    switch random.below(3) {
    case 0: break
    case let kind:
      (run.image, run.version) = try Self.image(versions: 1 + random.below(6), isClosed: kind == 1)
    }
    let switches = [5, 20, 100, 300][random.below(4)]
    play(run, .random(random, switches: switches, kills: random.below(6)))
  }

  /// A run under a schedule; what it finds is kept.
  @discardableResult
  package func play(_ run: ScheduleRun, _ schedule: Schedule) -> ScheduleRun.Outcome {
    let outcome = run.play(schedule, on: workers)
    runCount += 1
    tally.merge(outcome.tally, uniquingKeysWith: +)
    if let violation = outcome.violations.first {
      let kind = String(violation.filter { !$0.isNumber })
      if failures[kind] == nil { failures[kind] = Self.describe(run, outcome) }
    }
    return outcome
  }

  private static func describe(_ run: ScheduleRun, _ outcome: ScheduleRun.Outcome) -> String {
    let events = outcome.events.sorted { $0.key < $1.key }.map { "\($0.key): .\($0.value)" }
    let scripts = run.scripts.map { "[" + $0.map { ".\($0)" }.joined(separator: ", ") + "]" }
    return """
      \(outcome.violations.prefix(5).joined(separator: "\n"))
      var run = ScheduleRun([\(scripts.joined(separator: ", "))]) // from version \(run.version)
      run.seed = \(run.seed)
      explorer.play(run, .listed([\(events.isEmpty ? ":" : events.joined(separator: ", "))]))
      """
  }

  /// The files of a store that was given some commits and left as it was, or closed cleanly.
  package static func image(versions: Int, isClosed: Bool) throws(PageFileError) -> (
    image: [String: [UInt8]], version: Int
  ) {
    let disk = SharedDisk()
    defer { disk.forgetFiles() }
    var options = DatabaseOptions()
    options.backgroundWork = .caller
    let directory = ProcessDirectory(disk, process: 0, nil)
    let database = try Database(in: directory, name: Actor.storeName, options: options)
    for version in 0..<versions {
      let transaction = try database.beginWrite()
      try Versions.write(version + 1, to: transaction.source)
      _ = try transaction.commit()
      if version == versions / 2 { try database.checkpoint() }
    }
    if isClosed { try database.close() }
    return (disk.image, versions)
  }
}
