package import PageFile

/// The wait for the next message to expire.
///
/// It ends with the store: a commit that is made while the store is being closed begins no other.
package struct ExpiryTimer {
  /// The time that is waited for; nil if none is.
  private var time: Int64?
  /// The commit by which that is the next one.
  private var lsn = LSN.zero
  /// The life of the store in which it was made: a commit that is lost leaves its LSN to another.
  private var life = 0
  private var task: Task<Void, Never>?
  private var hasEnded = false
  /// True until the end; locked while the clock is asked, so that nobody asks it after the end.
  private let mayLook = Locked(true)

  /// The longest pause between two looks at the clock, which may be set meanwhile.
  private static let maximumPause = Duration.seconds(30)

  /// Waits for another time instead of the present one; nil ends the wait.
  ///
  /// Commits on several threads may tell their times in another order than they were made in. The
  /// newest one counts.
  ///
  /// - Parameters:
  ///   - lsn: The commit by which it is the next time.
  ///   - life: The life of the store in which the commit was made.
  ///   - clock: The clock by which messages expire.
  ///   - body: Called when the time has come, and again after each pause until another is waited
  ///     for.
  package mutating func wait(
    until next: Int64?, asOf lsn: LSN, in life: Int,
    by clock: @escaping @Sendable () -> Timestamp, _ body: @escaping @Sendable () -> Void
  ) {
    if hasEnded || (life, lsn) < (self.life, self.lsn) { return }
    (self.life, self.lsn) = (life, lsn)
    if time == next { return }
    task?.cancel()
    time = next
    task = next.map { time in
      Task.detached(priority: .utility) { [mayLook] in
        while !Task.isCancelled {
          guard let now = mayLook.withLock({ $0 ? clock().microseconds : nil }) else { return }
          let (left, isOverflow) = time.subtractingReportingOverflow(now)
          if left <= 0, !isOverflow { body() }
          let pause = left <= 0 || isOverflow ? Self.maximumPause : .microseconds(left)
          try? await Task.sleep(for: min(pause, Self.maximumPause))
        }
      }
    }
  }

  package init() {}

  /// True while a time is waited for.
  package var isWaiting: Bool { task != nil }

  /// Ends the wait for good; nothing asks the clock afterwards.
  package mutating func end() {
    hasEnded = true
    mayLook.withLock { $0 = false }
    task?.cancel()
    (time, task) = (nil, nil)
  }
}

/// The commits that have erased expired messages, while snapshots of earlier ones may be read.
package struct HeldErasure {
  /// The life of the store in which they were made; with a life its snapshots end.
  private var life: Int
  /// The commit of which readers are waited for.
  private var waited: LSN?
  /// The latest commit after it that has erased some, too.
  private var later: LSN?

  package init(life: Int = 0) { self.life = life }

  /// Notes a commit; returns true if its readers are to be waited for from now on.
  package mutating func begin(_ lsn: LSN, in life: Int) -> Bool {
    if life < self.life { return false }
    if life > self.life { self = HeldErasure(life: life) }
    if waited == nil {
      waited = lsn
      return true
    }
    later = lsn
    return false
  }

  /// Ends the wait of a life, and returns its commit and the one whose readers are waited for next;
  /// nil if the life is over.
  package mutating func end(in life: Int) -> (waited: LSN, next: LSN?)? {
    guard life == self.life, let waited else { return nil }
    defer { self = HeldErasure(life: life) }
    return (waited, later)
  }
}
