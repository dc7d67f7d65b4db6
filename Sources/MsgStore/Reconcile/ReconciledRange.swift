/// What a list of messages is complete for.
public enum ReconciledRange: Sendable, Hashable {
  /// The whole thread.
  case all
  /// The newest page, for which so many were asked: from the oldest message of the list on, and the
  /// whole thread where the list has fewer than that.
  case newest(count: Int)
  /// From one position to another, both included.
  case positions(ClosedRange<Position>)
  /// From one server time to another, both included.
  case times(ClosedRange<Timestamp>)

  /// The first and the last position, where a list of such messages is given.
  func bounds(of messages: [Message]) -> (from: Position, upTo: Position) {
    switch self {
    case .all:
      return (.start, .firstPending)
    case .newest(let count):
      guard messages.count >= count else { return (.start, .firstPending) }
      let oldest = messages.compactMap { message -> Position? in
        guard let time = message.serverTimestamp?.microseconds else { return nil }
        return Position(.acknowledged(time, sequence: message.sequence), message.id)
      }.min()
      return (oldest ?? .firstPending, .firstPending)
    case .positions(let range):
      return (range.lowerBound, min(range.upperBound, .firstPending))
    case .times(let range):
      let (end, isOverflow) = range.upperBound.microseconds.addingReportingOverflow(1)
      return (
        Self.start(of: range.lowerBound.microseconds),
        isOverflow ? .firstPending : Self.start(of: end)
      )
    }
  }

  /// Before all messages of a server time.
  private static func start(of time: Int64) -> Position {
    Position(.acknowledged(time, sequence: .min), "")
  }
}

/// What taking in a complete list of messages did.
public struct ReconcileOutcome: Sendable, Hashable {
  /// What storing each message of the list did, in their order.
  public let outcomes: [InsertOutcome]
  /// The messages that went because the list does not have them, oldest first.
  public let removed: [MessageID]
}
