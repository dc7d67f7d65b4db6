import MsgStore

/// A range of times, and the messages of a thread in it.
struct MessageTimes {
  /// The number of messages read at once.
  private static let batchCount = 500

  /// The earliest time; nil for the beginning.
  var since: Timestamp?
  /// The end, which is not part of the range; nil for the end of the thread.
  var until: Timestamp?

  var isWhole: Bool { since == nil && until == nil }

  /// True if a message has a time in the range; one without a time is in every range.
  func contains(_ message: Message) -> Bool {
    guard let time = message.serverTimestamp ?? message.localTime else { return true }
    return (since.map { $0 <= time } ?? true) && (until.map { time < $0 } ?? true)
  }

  /// Calls `body` for each message of the range, oldest first and pending ones last, and `gap` for
  /// each gap between two of them.
  ///
  /// Acknowledged messages outside the range are not read, apart from those around its ends.
  func forEachMessage(
    of thread: borrowing MessageThread, _ body: (Message) throws -> Void,
    gap: (ClosedRange<Int64>) throws -> Void
  ) throws {
    var isInRange = false
    var slice = try thread.at(since ?? Timestamp(microseconds: .min), count: Self.batchCount)
    reading: while true {
      for message in slice {
        if let time = message.serverTimestamp, let until, time >= until { break reading }
        // Pending messages follow the others and have their own order.
        if until != nil, message.serverTimestamp == nil { break reading }
        guard contains(message) else { continue }
        isInRange = true
        try body(message)
      }
      guard let position = slice.newer.next else { return }
      if case .gap(let missing, _) = slice.newer, isInRange || since == nil { try gap(missing) }
      slice = try thread.after(position, count: Self.batchCount)
    }
    // The last moment of all is before the first pending message.
    slice = try thread.at(Timestamp(microseconds: .max), count: Self.batchCount)
    while true {
      for message in slice where message.serverTimestamp == nil && contains(message) {
        try body(message)
      }
      guard let position = slice.newer.next else { return }
      slice = try thread.after(position, count: Self.batchCount)
    }
  }
}
