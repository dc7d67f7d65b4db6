import Dispatch
import PageFile
import Simulation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Lets one thread of a run go on at a time, and decides who that is whenever one of them comes to a
/// place where others could notice it.
///
///  1. Only whoever has the turn runs; everybody else waits for it.
///  2. Nobody gets the turn who could not use it: a lock is held, or nobody has told of a change.
///  3. When nobody can go on, or the run does not come to an end, it is given up: its threads end
///     where they stand, and what they hold is lost.
package final class Conductor: @unchecked Sendable {
  // Unchecked: the fields are only touched by whoever has the turn, and before and after the run.

  /// Nobody needs as many steps who comes to an end.
  private let maximumStepCount: Int
  /// So many pauses, with nobody else able to go on, are a wait for ever.
  private static let maximumIDleCount = 100

  private(set) var members: [Member] = []
  private let choice: Choice
  private var isDeciding = false
  private var atomicDepth = 0
  private var idleCount = 0
  private var placeKind = 0
  package private(set) var stepCount = 0
  /// Who went on at which step where that was not whoever would have by himself.
  private(set) var events: [Int: Int] = [:]
  /// Depends on who went on at each step.
  private(set) var traceHash: UInt64 = 0
  /// Why the run was given up.
  package private(set) var failure: String?
  private(set) var isGivenUp = false
  private let hasEnded = DispatchSemaphore(value: 0)
  /// What happened at each change of turns, where that is wanted.
  package private(set) var trace: [String] = []
  private let isTraced: Bool
  let favouredFile: String?

  package init(
    _ choice: Choice, favouredFile: String? = nil, maximumStepCount: Int = 60_000,
    isTraced: Bool = false
  ) {
    self.favouredFile = favouredFile
    self.maximumStepCount = maximumStepCount
    self.choice = choice
    self.isTraced = isTraced
  }

  /// Runs `body` as the first member, and returns when all members have ended.
  package func run(_ body: @escaping @Sendable () -> Void) {
    add("main", body).turn.signal()
    hasEnded.wait()
    // They know each other.
    if !isGivenUp { members = [] }
  }

  /// Adds a thread, which begins when it first gets the turn.
  @discardableResult
  package func add(_ name: String, _ body: @escaping @Sendable () -> Void) -> Member {
    let member = Member(members.count, name, self)
    precondition(member.id < 64, "more threads than a word has bits")
    members.append(member)
    startSystemThread {
      member.turn.wait()
      if self.isGivenUp { return }
      Interleaving.run(as: member, body)
      self.end(member)
    }
    return member
  }

  /// Has the choice decide from here on until all of these have ended.
  package func decide(until others: [Member]) {
    guard let current = current as? Member else { return }
    isDeciding = true
    current.state = .joining(others.map(\.id))
    pass(current, "waits for the others")
    current.state = .ready
    isDeciding = false
  }

  private var current: (any Strand)? { Interleaving.strand }

  /// Runs `body` without anybody else going on meanwhile.
  func atomically<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    atomicDepth += 1
    defer { atomicDepth -= 1 }
    return try body()
  }

  // MARK: Turns

  /// Lets somebody else go on, or nobody, and returns when it is the member's turn again.
  /// - Parameter kind: A number for the place, the same for all that are alike.
  func pass(_ member: Member, kind: Int = 0, _ place: @autoclosure () -> String) {
    if atomicDepth > 0 { return }
    placeKind = kind
    stepCount += 1
    if stepCount > maximumStepCount { giveUp("does not come to an end") }
    guard let next = next(after: member) else { giveUp("nobody can go on") }
    if next === member { return }
    if isTraced { trace.append("\(stepCount): \(member.name) \(place()); \(next.name) goes on") }
    next.turn.signal()
    member.turn.wait()
    if isGivenUp { pthread_exit(nil) }
  }

  private func end(_ member: Member) {
    member.state = .ended
    stepCount += 1
    if members.allSatisfy(\.hasEnded) {
      hasEnded.signal()
    } else if let next = next(after: member) {
      if isTraced { trace.append("\(stepCount): \(member.name) has ended; \(next.name) goes on") }
      next.turn.signal()
    } else {
      giveUp("nobody can go on")
    }
  }

  private func giveUp(_ reason: String) -> Never {
    failure = ([reason] + members.compactMap(\.wish)).joined(separator: "; ")
    isGivenUp = true
    for member in members where !member.hasEnded && member !== current { member.turn.signal() }
    hasEnded.signal()
    pthread_exit(nil)
  }

  /// Who goes on; nil when nobody can.
  private func next(after member: Member) -> Member? {
    var (ready, timed, pausing, relieved): (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    for other in members {
      let bit: UInt64 = 1 << UInt64(other.id)
      switch ability(of: other) {
      case .ready:
        ready |= bit
        if other !== member, case .blocked = other.state { relieved |= bit }
      case .timed: timed |= bit
      case .pausing: pausing |= bit
      case .none: break
      }
    }
    let fallback: Int
    if ready & 1 << UInt64(member.id) != 0 {
      fallback = member.id
    } else if ready | timed != 0 {
      fallback = (ready != 0 ? ready : timed).trailingZeroBitCount
    } else {
      idleCount += 1
      guard pausing != 0, idleCount < Self.maximumIDleCount else { return nil }
      return members[pausing.trailingZeroBitCount]
    }
    idleCount = 0
    var id = fallback
    if isDeciding {
      id = choice.next(
        step: stepCount, current: member.id, ready: ready, timed: timed, relieved: relieved,
        place: placeKind, fallback: fallback)
      if id != fallback { events[stepCount] = id }
    }
    traceHash = SeededRandom.mix(traceHash &+ UInt64(id))
    return members[id]
  }

  private enum Ability { case ready, timed, pausing, none }

  private func ability(of member: Member) -> Ability {
    switch member.state {
    case .ready: .ready
    case .blocked(let lock): lock.holder == nil ? .ready : .none
    case .waiting(let lock, let isTimed): isTimed && lock.holder == nil ? .timed : .none
    case .pausing(let end): stepCount >= end ? .ready : .pausing
    case .joining(let ids): ids.allSatisfy { members[$0].hasEnded } ? .ready : .none
    case .ended: .none
    }
  }

  func start(_ body: @escaping @Sendable () -> Void) { add("worker \(members.count)", body) }

  func wake(_ lock: Lock) {
    for member in members {
      if case .waiting(let other, _) = member.state, other === lock {
        member.state = .blocked(lock)
      }
    }
  }

  func pausingEnd() -> Int { stepCount + 10 }
}
