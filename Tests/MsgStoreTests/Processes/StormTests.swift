import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Simulation
import Testing
import crash_writer

/// Processes that share a store on real files: they open, write, hand over, read, freeze, and are killed.
///
/// One second in `make test`, three with all cases; `MSGSTORE_STORM=1800` makes it as many as are
/// given.
struct StormTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.url.appendingPathComponent("store").path
  }

  private func start(_ part: String, _ words: String...) throws -> Victim {
    try Victim("crash-writer", [part, path] + words, in: directory.url)
  }

  // MARK: Storm

  /// Every step is acknowledged once: one that was lost would be taken again, by whoever comes next.
  @Test func aStormOfOwnersLosesNothing() throws {
    var random = SeededGenerator(seed: seeds(1)[0])
    let seconds =
      ProcessInfo.processInfo.environment["MSGSTORE_STORM"].flatMap { Double($0) }
      ?? Double(Scale.count(debug: 1, release: 3))
    // A reader that comes before there is a store has nothing to open.
    try MessageStore(path: path).close()
    var victims = try (0..<6).map { _ in try start("hand-over", "\(random.next() >> 1)") }
    victims += try (0..<2).map { _ in try start("read") }
    var acknowledged: [Int] = []
    var tally: [String: Int] = [:]
    let wanted = ["kill", "own", "commit", "busy", "reading"]
    let end = ContinuousClock.now + .seconds(seconds)
    // A slow machine needs longer for all of it to happen.
    let lastEnd = end + .seconds(60)
    while ContinuousClock.now < end
      || ContinuousClock.now < lastEnd && wanted.contains(where: { tally[$0] == nil })
    {
      let index = Int.random(in: victims.indices, using: &random)
      if random.chance(20) {
        victims[index].freeze(true)
        Victim.sleep(seconds: 0.02)
        victims[index].freeze(false)
        continue
      }
      #expect(try victims[index].kill(afterSeconds: .random(in: 0...0.06, using: &random)))
      tally["kill", default: 0] += 1
      try collect(victims[index], isReader: index >= 6, &acknowledged, &tally)
      victims[index] =
        try index < 6 ? start("hand-over", "\(random.next() >> 1)") : start("read")
    }
    for (index, victim) in victims.enumerated() {
      #expect(try victim.kill(afterSeconds: 0))
      try collect(victim, isReader: index >= 6, &acknowledged, &tally)
    }
    print("storm: \(tally.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })")
    for what in wanted {
      #expect(tally[what] ?? 0 > 0, "\(what) has not happened")
    }
    let twice = Dictionary(grouping: acknowledged) { $0 }.filter { $0.value.count > 1 }.keys
    #expect(twice.isEmpty, "acknowledged twice: \(twice.sorted().prefix(5))")
    try expectStore(holding: acknowledged.max() ?? 0)
  }

  private func collect(
    _ victim: Victim, isReader: Bool, _ acknowledged: inout [Int], _ tally: inout [String: Int]
  ) throws {
    for line in try victim.lines {
      if let number = Int(line), !isReader { acknowledged.append(number) }
      let kind =
        Int(line) == nil ? String(line.prefix { $0 != " " }) : isReader ? "reading" : "commit"
      tally[kind, default: 0] += 1
    }
  }

  private func expectStore(holding least: Int) throws {
    let store = try MessageStore(path: path)
    let number = try CrashStep.lastNumber(in: store)
    #expect(number >= least)
    var model = CrashModel()
    model.advance(to: number)
    #expect(try model.difference(from: store) == nil)
    #expect(try store.check() == [])
    try store.close()
  }

  // MARK: Frozen owners

  /// The system stops an app where it is: until it goes on or ends, the store is nobody else's.
  @Test func aFrozenOwnerKeepsItsStore() throws {
    let owner = try start("write")
    try owner.wait { try owner.lines.count > 4 }
    for _ in 0..<5 {
      owner.freeze(true)
      // A stop is not at once.
      Victim.sleep(seconds: 0.02)
      let lines = try owner.lines.count
      let isBusy = throwsBusy { _ = try MessageStore(path: path) }
      // A writer that had suspended just then has let others in.
      let last = try owner.lines.last
      #expect(isBusy || last == "suspend" || last == "resume", "after \(last ?? "")")
      let reader = try MessageStore(path: path, options: StoreOptions(access: .readOnly))
      let number = try CrashStep.lastNumber(in: reader)
      var model = CrashModel()
      model.advance(to: number)
      #expect(try model.difference(from: reader) == nil)
      #expect(try owner.lines.count == lines)
      owner.freeze(false)
      try owner.wait { try owner.lines.count > lines + 2 }
      guard owner.isRunning else { break }
    }
    #expect(try owner.kill(afterSeconds: 0))
    try expectStore(holding: try owner.lines.compactMap { Int($0) }.max() ?? 0)
  }

  private func throwsBusy(_ body: () throws -> Void) -> Bool {
    do { try body() } catch StoreError.storage(.busy(_)) { return true } catch { return false }
    return false
  }
}
