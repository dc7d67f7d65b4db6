/// The part of a thread for which a received list of messages is complete.
///
/// The server cuts a list in its own order. Among messages of the same time that order may differ
/// from the order here, which is by name. A message that has the time of a border, but no sequence
/// to decide by, therefore counts as outside and stays.
public enum ReconciledRange: Sendable, Equatable {
  /// The whole thread.
  case all
  /// The newest page, requested with this count: everything from the oldest message of the list on,
  /// or the whole thread if the list has fewer messages.
  case newest(count: Int)
  /// From one position to another, inclusive.
  case positions(ClosedRange<MessagePosition>)
  /// From one server time to another, inclusive.
  case times(ClosedRange<Timestamp>)

  /// Returns the span covered by a list of messages; nil if it covers no message.
  ///
  /// - Parameters:
  ///   - messages: The messages of the list that are well-formed.
  ///   - listedCount: The number of all messages of the list.
  func span(of messages: [Message], listedCount: Int) -> ReconciledSpan? {
    switch self {
    case .all:
      return .all
    case .newest(let count):
      guard listedCount >= count else { return .all }
      let oldest = messages.compactMap { message -> MessagePosition? in
        guard let time = message.serverTimestamp?.microseconds else { return nil }
        return MessagePosition(.acknowledged(time, sequence: message.sequence), message.id)
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

/// The part of a thread that a list covers completely.
struct ReconciledSpan {
  /// One end of a span.
  enum Border {
    /// All messages of this server time are inside.
    case time(Int64)
    /// This message is inside; of the others at its time, only those that their sequence shows to
    /// be inside.
    case message(MessagePosition)

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

  /// Returns true if the server would have listed an acknowledged message here, had it known it.
  func contains(_ position: MessagePosition) -> Bool {
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

/// The result of reconciling a thread with a complete list of messages.
public struct ReconcileOutcome: Sendable, Equatable {
  /// The results of storing the well-formed messages of the list, in list order.
  public let outcomes: [InsertOutcome]
  /// The malformed messages of the list, which were passed over.
  ///
  /// A stored message with the id of one of them is not removed.
  public let refusals: [BatchOutcome.Refusal]
  /// The messages removed because the list lacks them, oldest first.
  public let removed: [MessageID]
}
