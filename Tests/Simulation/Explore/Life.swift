/// A moment in the life of a process: just before one of its calls.
///
/// Told by what the program was doing, so that it can be found again when earlier operations are left
/// out.
package struct CrashPoint: Sendable, Hashable {
  /// 0 while the store is being opened, 1 for the first operation.
  package var operation: Int
  /// How many calls that change the disk the operation has made before.
  package var call: Int

  package init(operation: Int, call: Int) {
    self.operation = operation
    self.call = call
  }
}

/// What ends the life of a process.
package enum Crash: Sendable, Hashable {
  /// The process dies. The page cache stays.
  case kill
  /// The power goes, and with it what was in memory only.
  case powerCut(PowerCut)
}

/// One process, from its opening of the store to its end.
package struct Life: Sendable, Hashable {
  package var operations: [Operation]
  package var point: CrashPoint
  package var crash: Crash
  /// What is wrong with the disk meanwhile.
  package var trouble: Trouble?

  package init(
    _ operations: [Operation], crash: Crash, at operation: Int, _ call: Int,
    _ trouble: Trouble? = nil
  ) {
    self.operations = operations
    self.crash = crash
    self.trouble = trouble
    point = CrashPoint(operation: operation, call: call)
  }
}

/// The disk at a moment of a life, with what the store had promised by then.
struct Capture: Sendable {
  let point: CrashPoint
  let disk: SimulatedDisk
  let history: History

  /// What the next process finds, and what it may expect.
  func after(_ crash: Crash, _ profile: DiskProfile) -> (disk: SimulatedDisk, history: History) {
    switch crash {
    case .kill: (disk, history)
    case .powerCut(let cut): (disk.afterPowerCut(cut, profile), history.afterPowerCut)
    }
  }
}

/// Plays the life of one process and keeps the moments at which it could end.
final class LifeRun {
  let player: Player
  private var point = CrashPoint(operation: 0, call: 0)
  private(set) var captures: [Capture] = []
  /// Answers whether the disk is kept at a moment.
  private let isWanted: (CrashPoint) -> Bool

  init(_ player: Player, capturing isWanted: @escaping (CrashPoint) -> Bool) {
    self.player = player
    self.isWanted = isWanted
    player.observer = { [unowned self] disk, faultCount in
      keep(disk, faultCount)
      point.call += 1
    }
  }

  /// Opens the store; again if a loss comes to light that nobody was told of.
  func open() throws(Violation) {
    for _ in 0...3 where !player.isOpen { try player.open() }
  }

  /// Plays operations.
  /// - Parameter comparing: Whether to read everything after each.
  func play(_ operations: [Operation], comparing: Bool = false) throws(Violation) {
    for operation in operations {
      point = CrashPoint(operation: point.operation + 1, call: 0)
      try player.perform(operation)
      if comparing { try player.compare(checkingPages: false) }
    }
  }

  /// Keeps the disk as it is now, too, and looks no longer.
  func end() {
    keep(player.directory.disk, player.directory.faultCount)
    player.observer = { _, _ in }
  }

  private func keep(_ disk: SimulatedDisk, _ faultCount: Int) {
    if isWanted(point) {
      // After a failed sync nothing is promised but what was durable before.
      let history =
        player.isAfterOpening(faultCount) ? player.history.afterPowerCut : player.history
      captures.append(Capture(point: point, disk: disk, history: history))
    }
  }
}
