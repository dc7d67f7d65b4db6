import Foundation
import Interleavings
import MsgStore
import PageFile
import RandomChat
import Simulation
import Testing

/// Threads that write and threads that follow live values take turns as a seed decides; when they
/// have ended, each live value is what a read gives.
///
/// The turns change within commits, reads and listening, which only a build with INTERLEAVINGS lets
/// happen: `make test-live-orders` makes it. `MSGSTORE_LIVE_ORDERS=n` makes n runs,
/// `MSGSTORE_SEED=n` replays one.
@Suite(.enabled(if: Interleaving.isBuiltIn, "needs the build of make test-live-orders"))
struct LiveInterleavingsTests {
  @Test func liveValuesAreWhatIsReadInAnyOrderOfThreads() throws {
    var valueCount = 0
    let text = ProcessInfo.processInfo.environment["MSGSTORE_LIVE_ORDERS"]
    for seed in seeds(text.flatMap { Int($0) } ?? 300) {
      let run = try LiveRun(seed)
      run.play()
      valueCount += run.valueCount
      if let fault = run.fault {
        Issue.record("seed \(seed): \(fault)")
        break
      }
    }
    #expect(valueCount > 50, "or nothing was compared")
  }
}

/// One thread that follows a live value.
private final class Watcher: @unchecked Sendable {
  // Unchecked: belongs to one thread at a time.
  private var screen: LiveScreen
  private var dice: SeededGenerator

  var valueCount: Int { screen.valueCount }

  init(_ screen: LiveScreen, seed: UInt64) {
    self.screen = screen
    dice = SeededGenerator(seed: seed)
  }

  func glance(_ store: MessageStore) throws { try screen.glance(store, &dice) }
  func settle(_ store: MessageStore) throws { try screen.settle(store) }
}

/// One store under one order of its threads.
private final class LiveRun: @unchecked Sendable {
  // Unchecked: only touched by whoever has the turn.
  private let directory = MemoryDirectory()
  private let random: RandomStore
  private let seed: UInt64
  private let watchers: [Watcher]
  private var dice: SeededGenerator
  private(set) var fault: String?

  var valueCount: Int { watchers.reduce(0) { $0 + $1.valueCount } }

  /// Makes the store, of which the run begins with the file.
  init(_ seed: UInt64) throws {
    self.seed = seed
    var random = RandomStore(
      seed: seed, packing: .random(seed), idCount: 8, isNarrow: seed % 3 == 0)
    // An expiry is told with the step that lets its message go, and no step is due at the end.
    random.expiresLater = true
    try random.make(stepCount: 15, in: directory).close()
    self.random = random
    var dice = SeededGenerator(seed: seed ^ 0x0D0)
    let screens = LiveIsReadTests.screens(&dice).shuffled(using: &dice)
    watchers = screens.prefix(4).map { Watcher($0, seed: dice.next()) }
    self.dice = dice
  }

  func play() {
    let conductor = Conductor(Choice(seed: seed), maximumStepCount: 2_000_000)
    conductor.run {
      self.trying {
        let clock = TickingClock(1_100_000)
        let store = try MessageStore(
          in: self.directory, name: "store", options: self.random.options(clock))
        for _ in 0..<3 { try self.playRound(on: store, conductor) }
        try store.close()
      }
    }
    fault = fault ?? conductor.failure
  }

  /// Lets writers write and screens take, and compares when all have ended.
  private func playRound(on store: MessageStore, _ conductor: Conductor) throws {
    var members: [Member] = []
    for number in 0..<2 {
      let acts = Locked(RandomActs(seed: dice.next(), idCount: 8, steps: CalledSteps()))
      members.append(
        conductor.add("writer \(number)") {
          self.trying {
            for _ in 0..<3 {
              let transaction = acts.withLock { acts in
                acts.expiresLater = true
                return acts.transaction()
              }
              try transaction.run(on: store)
            }
          }
        })
    }
    for (number, watcher) in watchers.enumerated() {
      members.append(
        conductor.add("watcher \(number)") {
          self.trying { for _ in 0..<4 { try watcher.glance(store) } }
        })
    }
    conductor.decide(until: members)
    try store.finishWork()
    for watcher in watchers { try watcher.settle(store) }
  }

  private func trying(_ body: () throws -> Void) {
    do { try body() } catch { fault = fault ?? "\(error)" }
  }
}
