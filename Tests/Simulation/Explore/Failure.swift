/// A broken promise with all that leads to it again.
package struct FoundViolation: Sendable {
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
  /// What is wrong with the disk in the last process.
  package var trouble: Trouble?

  package init(
    _ setting: StoreSetting = StoreSetting(), lives: [Life], last: [Operation] = [],
    _ trouble: Trouble? = nil
  ) {
    self.setting = setting
    self.lives = lives
    self.last = last
    self.trouble = trouble
  }

  /// Repeats it.
  /// - Throws: The promise that is broken. A crash at a moment that never comes is none.
  package func run() throws(Violation) {
    var disk = SimulatedDisk()
    var history = History()
    for life in lives {
      let outcome = try StateCheck(setting).run(
        disk, history, then: Array(life.operations.prefix(life.point.operation)), life.trouble
      ) { $0 == life.point }
      guard let capture = outcome.captures.first else { return }
      (disk, history) = capture.after(life.crash, setting.profile)
    }
    _ = try StateCheck(setting).run(disk, history, then: last, trouble)
  }
}
