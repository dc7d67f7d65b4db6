import PageFile

/// Letting time pass on a thread of the test's own.
enum Waiting {
  static func milliseconds(_ count: Int) {
    let lock = Lock()
    lock.withLock { lock.wait(milliseconds: count) }
  }

  /// Waits until a condition holds, or the test's time is over.
  static func until(_ isOver: () -> Bool) {
    while !isOver() && !Task.isCancelled { milliseconds(1) }
  }
}
