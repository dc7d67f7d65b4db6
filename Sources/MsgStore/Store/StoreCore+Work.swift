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
        try writer.transaction.perform(try writer.transaction.steps.step())
      }
    }
  }

}

extension MessageStore {
  /// Performs all remaining work.
  package func finishWork() throws {
    while try write(
      .relaxed,
      { writer in
        try writer.transaction.perform(try writer.transaction.steps.step(isTimed: false))
        return try writer.transaction.perform(try writer.transaction.steps.hasWork)
      })
    {}
  }
}
