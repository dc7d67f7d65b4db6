import PageFile

/// How long whoever follows the store waits before it tries again what has failed.
///
/// Each pause is twice the one before: a device that is unlocked is noticed soon, and one that stays
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
  /// What becomes of an error if one waits.
  enum Outlook {
    /// It may pass at any time.
    case passes
    /// It ends when the store is resumed.
    case lastsUntilResumed
    /// It stays: the store is damaged, closed or another one, or the caller has made a mistake.
    case stays
  }

  var outlook: Outlook {
    guard case .storage(let error) = self else { return .stays }
    return switch error {
    case .suspended, .poisoned: .lastsUntilResumed
    case .ioError, .diskFull, .deviceLocked, .busy, .snapshotExpired, .limitExceeded, .aborted,
      .commitUnknown:
      .passes
    default: .stays
    }
  }
}

extension ChangeListener {
  /// Waits until what has failed may be tried again: until something changes, or for a pause.
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
