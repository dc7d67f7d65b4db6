import PageFile

/// Access to work in steps, for tests and tools.
extension StoreWriter {
  /// Performs a part of the remaining work: the same part on every machine, unless it is timed.
  package func doWork(isTimed: Bool = false) throws(StoreError) {
    try transaction.perform(try transaction.steps.step(isTimed: isTimed))
  }
}

extension StoreReading where Self: ~Copyable {
  /// True if there is work left, but for expired messages that are still to be erased.
  package var hasWork: Bool {
    get throws(StoreError) {
      try access.read { (view) throws(StoreError) in
        if view.hiding.isCounted || view.hiding.isLetGo { return true }
        return try view.work.hasWork
      }
    }
  }
}
