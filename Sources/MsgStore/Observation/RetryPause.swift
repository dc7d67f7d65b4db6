import PageFile

/// The pause before a listener retries after a failure.
///
/// Each pause is twice the one before. An unlocked device is noticed soon, and one that stays
/// locked for hours costs next to nothing.
struct RetryPause {
  private static let shortest = Duration.milliseconds(20)
  private static let longest = Duration.seconds(2)

  private var next = Self.shortest

  mutating func take() -> Duration {
    defer { next = min(next * 2, Self.longest) }
    return next
  }
}

extension StoreError {
  /// The prospect of an error after waiting.
  enum Outlook {
    /// The error may pass at any time.
    case passes
    /// The error lasts until the store is resumed.
    case lastsUntilResumed
    /// The error stays: the store is damaged, closed, or replaced, or the caller made a mistake.
    case stays
  }

  var outlook: Outlook {
    guard case .storage(let error) = self else { return .stays }
    return switch error {
    case .suspended, .poisoned: .lastsUntilResumed
    case .ioError, .diskFull, .deviceLocked, .busy, .alreadyOpen, .snapshotExpired,
      .limitExceeded, .aborted, .commitUnknown:
      .passes
    default: .stays
    }
  }
}

extension ChangeListener {
  /// Waits until a failed operation may be retried: until something changes, or for a pause.
  ///
  /// - Returns: False at the end of the task or of the store.
  func waitToRetry(
    after error: StoreError, _ pause: inout RetryPause, isolation: isolated (any Actor)?
  ) async -> Bool {
    let time = error.outlook == .passes ? pause.take() : nil
    return switch await next(isolation: isolation, within: time) {
    case .changes, .nothing: true
    case .ended: false
    }
  }
}
