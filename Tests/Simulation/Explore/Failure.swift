/// A broken promise with all that leads to it again.
package struct Failure: Sendable {
  package var violation: Violation
  package var replay: Replay
  /// Where it came from.
  package var seed: UInt64
}

/// A run that can be repeated: lives that end in crashes, and what is done with what they leave.
///
/// Failures are printed as one of these, ready to be pasted into a test.
package struct Replay: Sendable, Hashable {
  package var setting: StoreSetting
  package var lives: [Life]
  /// What the last process does, after it has opened and checked the store.
  package var last: [Operation]
  /// Calls that fail in the last process.
  package var fault: Fault?

  package init(
    _ setting: StoreSetting = StoreSetting(), lives: [Life], last: [Operation] = [],
    fault: Fault? = nil
  ) {
    self.setting = setting
    self.lives = lives
    self.last = last
    self.fault = fault
  }

  /// Repeats it.
  /// - Throws: The promise that is broken. A crash at a moment that never comes is none.
  package func run() throws(Violation) {
    var disk = SimulatedDisk()
    var history = History()
    for life in lives {
      guard let capture = try capture(life, disk, history) else { return }
      (disk, history) = capture.after(life.crash, setting.profile)
    }
    _ = try StateCheck(setting).run(disk, history, then: last)
  }

  /// The disk at the moment at which a life ends; nil if it does not come.
  private func capture(
    _ life: Life, _ disk: SimulatedDisk, _ history: History
  ) throws(Violation) -> Capture? {
    let player = Player(disk, history, setting)
    let run = LifeRun(player) { $0 == life.point }
    try run.open()
    try run.play(Array(life.operations.prefix(life.point.operation)))
    run.end()
    return run.captures.first
  }
}
