import PageFile

/// Doing the work that writes have left, in the background.
///
/// One step at a time is asked for, behind the writes that wait already; its own commit asks for the
/// next. A step that fails asks for none, and the next write does.
extension StoreCore {
  /// Has a step done, unless one is under way.
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
  /// Does all work that is left.
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
