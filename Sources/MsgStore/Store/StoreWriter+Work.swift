import PageFile

/// The work that is done in steps, for tests and tools.
extension StoreWriter {
  /// Does a part of what is left to do; the same part on every machine, unless it is timed.
  package func doWork(isTimed: Bool = false) throws(StoreError) {
    try transaction.perform(try transaction.steps.step(isTimed: isTimed))
  }

  /// Whether there is something left to do.
  package var hasWork: Bool {
    get throws(StoreError) { try transaction.perform(try transaction.steps.hasWork) }
  }
}

extension StoreSnapshot {
  /// Whether there is something left to do.
  package var hasWork: Bool {
    get throws(StoreError) {
      try within { (view) throws(StoreError) in try view.work.hasWork }
    }
  }
}
