import PageFile

/// Background execution of the work that writes leave behind.
///
/// At most one step is queued at a time, behind the writes that already wait; its commit queues the
/// next one. A step that fails queues none, but the next write does.
extension StoreCore {
  /// Queues a step unless one is queued already.
  func scheduleWork() {
    guard worksInBackground else { return }
    let isFirst = isWorkScheduled.withLock { isScheduled in
      defer { isScheduled = true }
      return !isScheduled
    }
    guard isFirst else { return }
    writer.enqueue { [self] in
      isWorkScheduled.withLock { $0 = false }
      if isEnding { return }
      try? write(.relaxed) { writer in
        let transaction = writer.transaction
        if prunesByItself {
          try transaction.perform(try transaction.retentions.beginIfDue())
        }
        try transaction.perform(try transaction.steps.step())
      }
    }
  }

  /// Returns true if a step is to be queued behind a commit.
  func wantsStep(_ transaction: Transaction) throws(StoreError) -> Bool {
    if !worksInBackground { return false }
    if try transaction.steps.hasWork { return true }
    if !prunesByItself { return false }
    return transaction.retentions.isDue
  }
}

extension MessageStore {
  /// Performs all remaining work; returns false if some is left after so many steps.
  @discardableResult
  package func finishWork(maximumStepCount: Int = .max) throws -> Bool {
    for _ in 0..<maximumStepCount {
      let isLeft = try write(.relaxed) { writer in
        try writer.transaction.perform(try writer.transaction.steps.step(isTimed: false))
        return try writer.transaction.perform(try writer.transaction.steps.hasWork)
      }
      if !isLeft { return true }
    }
    return false
  }
}
