package import PageFile

/// Lets one of several simulated processes go on at a time, and decides at each of their system calls
/// which.
///
/// Each process is a thread that runs only while it holds the baton, so a run is decided by the
/// schedule alone and can be repeated.
///
///  1. A process asks before each of its system calls; what it did before is done then, as a
///     whole, and seen by the others.
///  2. One that is killed there gets errors from then on, and its thread may go on beside the others
///     only to find its way out: nothing that it does counts any more.
///  3. The kernel takes a killed process's locks away at once, see `whenKilled`.
package final class Scheduler: @unchecked Sendable {
  // Unchecked: the fields are only touched under `lock`.
  private let lock = Lock()
  private var schedule: Schedule
  private var holder = 0
  private var stepCount = 0
  private var processes: [State]
  private let whenKilled: @Sendable (Int) -> Void

  private struct State {
    var hasEnded = false
    var wasKilled = false
    /// It does not go on before this step, unless nobody else can.
    var frozenUntil = 0
  }

  /// What happens to the process that asks.
  package enum Event: Sendable, Hashable {
    /// Another one goes on in its place.
    case switchTo(Int)
    case kill
    /// The others go on, for so many steps.
    case freeze(Int)
  }

  /// Who held the baton at a step, and who else could have gone on.
  package struct Step: Sendable {
    package let holder: Int
    package let others: [Int]
  }

  /// What has happened so far: every step, and the events among them.
  package private(set) var steps: [Step] = []
  package private(set) var events: [Int: Event] = [:]

  package init(
    processCount: Int, schedule: Schedule, whenKilled: @escaping @Sendable (Int) -> Void
  ) {
    self.schedule = schedule
    self.whenKilled = whenKilled
    processes = Array(repeating: State(), count: processCount)
  }

  /// Runs each process's part on a thread of its own and returns when all have ended.
  package func run(on workers: [Worker], _ body: @escaping @Sendable (Int) -> Void) {
    for (process, worker) in workers.prefix(processes.count).enumerated() {
      worker.enqueue {
        self.waitForBaton(process)
        body(process)
        self.end(process)
      }
    }
    lock.lock()
    while processes.contains(where: { !$0.hasEnded }) { lock.wait() }
    lock.unlock()
  }

  package func wasKilled(_ process: Int) -> Bool { lock.withLock { processes[process].wasKilled } }

  /// Whether a process may make its next system call now; false when it was killed.
  ///
  /// Returns when it is its turn again.
  package func ask(_ process: Int) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    if processes[process].wasKilled { return false }
    let others = processes.indices.filter { $0 != process && isRunnable($0) }
    let step = steps.count
    steps.append(Step(holder: process, others: others))
    if let event = schedule.event(at: step, others: others) {
      events[step] = event
      switch event {
      case .kill:
        kill(process)
        return false
      case .freeze(let count):
        processes[process].frozenUntil = step + count
        passOn(preferring: nil)
      case .switchTo(let other):
        passOn(preferring: other)
      }
    } else if processes[process].frozenUntil > step {
      // It went on because nobody else could, and now somebody can.
      passOn(preferring: nil)
    }
    while holder != process { lock.wait() }
    return true
  }

  /// Ends a process as a whole: what the system does at `exit`.
  package func exit(_ process: Int) {
    lock.withLock { if !processes[process].wasKilled { kill(process) } }
  }

  private func kill(_ process: Int) {
    processes[process].wasKilled = true
    whenKilled(process)
    passOn(preferring: nil)
  }

  private func waitForBaton(_ process: Int) {
    lock.lock()
    while holder != process && !processes[process].wasKilled { lock.wait() }
    lock.unlock()
  }

  private func end(_ process: Int) {
    lock.lock()
    processes[process].hasEnded = true
    if holder == process { passOn(preferring: nil) }
    lock.broadcast()
    lock.unlock()
  }

  private func isRunnable(_ process: Int) -> Bool {
    !processes[process].hasEnded && !processes[process].wasKilled
  }

  /// Gives the baton to the one asked for, else to the next in turn that is not frozen, else to any.
  private func passOn(preferring wanted: Int?) {
    let count = processes.count
    let inTurn = (1...count).map { (holder + $0) % count }.filter(isRunnable)
    let next =
      inTurn.first { $0 == wanted } ?? inTurn.first { processes[$0].frozenUntil <= steps.count }
      ?? inTurn.first
    if let next { holder = next }
    lock.broadcast()
  }
}

/// When which event happens.
package enum Schedule: Sendable {
  /// Those given, each at its step.
  case listed([Int: Scheduler.Event])
  /// Random ones, by a seed: how many in a thousand steps are switches, and kills.
  case random(SplitMix, switches: Int, kills: Int)

  mutating func event(at step: Int, others: [Int]) -> Scheduler.Event? {
    switch self {
    case .listed(let events):
      return events[step]
    case .random(var random, let switches, let kills):
      defer { self = .random(random, switches: switches, kills: kills) }
      let draw = random.below(1000)
      if draw < kills { return .kill }
      guard draw < kills + switches, !others.isEmpty else { return nil }
      if random.below(8) == 0 { return .freeze(1 << random.below(14)) }
      return .switchTo(others[random.below(others.count)])
    }
  }
}

/// Repeatable randomness (SplitMix64).
package struct SplitMix: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number in `0 ..< bound`.
  package mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}
