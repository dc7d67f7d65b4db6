/// What a list of messages is complete for.
///
/// A list ends where the server cut it, in its own order. Within one time, ours is that of the names. So
/// a message that has the time of a border, and no sequence by which to tell, counts as outside and
/// stays.
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

  /// Where a list of such messages begins and ends; nil where it says nothing of any message.
  func span(of messages: [Message]) -> ReconciledSpan? {
    switch self {
    case .all:
      return .all
    case .newest(let count):
      guard messages.count >= count else { return .all }
      let oldest = messages.compactMap { message -> Position? in
        guard let time = message.serverTimestamp?.microseconds else { return nil }
        return Position(.acknowledged(time, sequence: message.sequence), message.id)
      }.min()
      return oldest.map { ReconciledSpan(from: .message($0), upTo: .time(.max)) }
    case .positions(let range):
      let (first, last) = (range.lowerBound, range.upperBound)
      guard first < .firstPending, last.place.phase != .start else { return nil }
      return ReconciledSpan(
        from: first.place.phase == .start ? .time(.min) : .message(first),
        upTo: last < .firstPending ? .message(last) : .time(.max))
    case .times(let range):
      return ReconciledSpan(
        from: .time(range.lowerBound.microseconds), upTo: .time(range.upperBound.microseconds))
    }
  }
}

/// The part of a thread that a list is complete for.
struct ReconciledSpan {
  enum Border {
    /// All messages of this server time are inside.
    case time(Int64)
    /// This message is inside, and of its time only what its sequence tells apart from it.
    case message(Position)

    var time: Int64 {
      switch self {
      case .time(let time): time
      case .message(let position): position.place.time
      }
    }
  }

  let from: Border
  let upTo: Border

  static let all = ReconciledSpan(from: .time(.min), upTo: .time(.max))

  /// Whether the server would have listed an acknowledged message, if it had it.
  func contains(_ position: Position) -> Bool {
    let time = position.place.time
    guard time >= from.time, time <= upTo.time else { return false }
    if case .message(let first) = from, time == first.place.time, position != first {
      guard let sequence = position.place.sequence, let least = first.place.sequence,
        sequence > least
      else { return false }
    }
    if case .message(let last) = upTo, time == last.place.time, position != last {
      guard let sequence = position.place.sequence, let greatest = last.place.sequence,
        sequence < greatest
      else { return false }
    }
    return true
  }
}

/// What taking in a complete list of messages did.
public struct ReconcileOutcome: Sendable, Hashable {
  /// What storing each message of the list did, in their order.
  public let outcomes: [InsertOutcome]
  /// The messages that went because the list does not have them, oldest first.
  public let removed: [MessageID]
}
