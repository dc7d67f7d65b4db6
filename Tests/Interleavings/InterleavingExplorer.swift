import PageFile
import Simulation

/// Plays plots that seeds decide, and makes small what goes wrong.
package final class InterleavingExplorer {
  private let beginnings = InterleavingRun.Beginnings()
  package private(set) var runCount = 0
  package private(set) var stepCount = 0
  package private(set) var tally: [String: Int] = [:]
  /// What went wrong, each kind once, with all that is needed to see it again.
  package private(set) var failures: [String: String] = [:]

  package init() {}

  /// Plays what a seed decides; whether all went well.
  @discardableResult
  package func play(seed: UInt64, shrinks: Bool = true) -> Bool {
    let plot = Plot.random(seed: seed)
    let outcome = play(plot, Choice(seed: seed, favours: plot.favouredFile != nil))
    guard let violation = outcome.violation else { return true }
    let kind = Self.kind(violation)
    if failures[kind] == nil {
      failures[kind] =
        shrinks
        ? shrink(plot, outcome, seed) : Self.describe(plot, outcome.events, seed, [violation])
    }
    return false
  }

  /// Plays what a failure has printed.
  package func replay(_ words: String) {
    let fields = words.split(separator: " ")
    guard let first = fields.first, let plot = Plot(words: first) else {
      return failures["words"] = "these are no words of a plot: \(words)"
    }
    var events: [Int: Int] = [:]
    for field in fields.dropFirst() {
      let numbers = field.split(separator: ":").compactMap { Int($0) }
      if numbers.count == 2 { events[numbers[0]] = numbers[1] }
    }
    let outcome = InterleavingRun.play(
      plot, Choice(listed: events), beginnings, isTraced: true)
    runCount += 1
    if let violation = outcome.violation {
      failures[violation] = Self.describe(plot, events, 0, [violation] + outcome.trace)
    }
  }

  /// A number that depends on all that happened in the run of a seed.
  package func hash(ofSeed seed: UInt64) -> UInt64 {
    let plot = Plot.random(seed: seed)
    let outcome = play(plot, Choice(seed: seed, favours: plot.favouredFile != nil))
    return outcome.traceHash &+ UInt64(outcome.stepCount)
  }

  private func play(_ plot: Plot, _ choice: Choice) -> InterleavingRun.Outcome {
    let outcome = InterleavingRun.play(plot, choice, beginnings)
    runCount += 1
    stepCount += outcome.stepCount
    tally.merge(outcome.tally, uniquingKeysWith: +)
    return outcome
  }

  private static func kind(_ violation: String) -> String {
    let words = violation.split(separator: ", ").last ?? ""
    return String(words.filter { !$0.isNumber }.prefix(30))
  }

  // MARK: Making small

  private static let maximumAttemptCount = 40
  private static let maximumRunCount = 1500

  /// Takes away what the failure does not need: threads, acts, and then changes of turns.
  private func shrink(_ plot: Plot, _ outcome: InterleavingRun.Outcome, _ seed: UInt64) -> String {
    guard let violation = outcome.violation else { return "" }
    let kind = Self.kind(violation)
    let end = runCount + Self.maximumRunCount
    var best = (plot: plot, events: outcome.events)
    var isSmaller = true
    while isSmaller && runCount < end {
      isSmaller = false
      for plot in best.plot.simpler where runCount < end {
        guard let events = failingEvents(plot, best.events, kind) else { continue }
        best = (plot, events)
        isSmaller = true
        break
      }
    }
    for step in best.events.keys.sorted(by: >) where runCount < end + 200 {
      var events = best.events
      events[step] = nil
      if fails(best.plot, Choice(listed: events), kind) != nil { best.events = events }
    }
    let last = InterleavingRun.play(
      best.plot, Choice(listed: best.events), beginnings, isTraced: true)
    return Self.describe(best.plot, best.events, seed, [last.violation ?? violation] + last.trace)
  }

  /// Changes of turns with which a plot fails: those that are known, or some of random ones.
  private func failingEvents(_ plot: Plot, _ known: [Int: Int], _ kind: String) -> [Int: Int]? {
    if let events = fails(plot, Choice(listed: known), kind) { return events }
    for seed in 0..<Self.maximumAttemptCount {
      let choice = Choice(seed: UInt64(seed), favours: plot.favouredFile != nil)
      if let events = fails(plot, choice, kind) { return events }
    }
    return nil
  }

  private func fails(_ plot: Plot, _ choice: Choice, _ kind: String) -> [Int: Int]? {
    let outcome = play(plot, choice)
    guard let violation = outcome.violation, Self.kind(violation) == kind else { return nil }
    return outcome.events
  }

  private static func describe(
    _ plot: Plot, _ events: [Int: Int], _ seed: UInt64, _ lines: [String]
  ) -> String {
    let steps = events.sorted { $0.key < $1.key }.map { " \($0.key):\($0.value)" }
    return """
      \(lines.joined(separator: "\n  "))
      seed \(seed), made small:
      MSGSTORE_REPLAY='\(plot.words)\(steps.joined())' torture interleavings
      """
  }
}
