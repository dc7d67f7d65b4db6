/// The wait for the next message to expire.
struct ExpiryTimer {
  /// The time that is waited for; nil if none is.
  private var time: Int64?
  private var task: Task<Void, Never>?

  /// The longest pause between two looks at the clock, which may be set meanwhile.
  private static let maximumPause = Duration.seconds(30)

  /// Waits for another time instead of the present one; nil ends the wait.
  ///
  /// - Parameters:
  ///   - clock: The clock by which messages expire.
  ///   - body: Called when the time has come, and again after each pause until another is waited
  ///     for.
  mutating func wait(
    until next: Int64?, by clock: @escaping @Sendable () -> Timestamp,
    _ body: @escaping @Sendable () -> Void
  ) {
    if time == next { return }
    task?.cancel()
    time = next
    task = next.map { time in
      Task.detached(priority: .utility) {
        while !Task.isCancelled {
          let (left, isOverflow) = time.subtractingReportingOverflow(clock().microseconds)
          if left <= 0, !isOverflow { body() }
          let pause = left <= 0 || isOverflow ? Self.maximumPause : .microseconds(left)
          try? await Task.sleep(for: min(pause, Self.maximumPause))
        }
      }
    }
  }
}
