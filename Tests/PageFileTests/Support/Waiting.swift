import PageFile

/// Letting time pass on a thread of the test's own.
enum Waiting {
  static func milliseconds(_ count: Int) {
    let lock = Lock()
    lock.withLock { lock.wait(milliseconds: count) }
  }
}
