/// A place in a thread: a position without the name that orders messages at the same place.
///
/// Acknowledged messages come first, by server time, then by sequence; one without a sequence
/// follows all that have one. Pending messages come next, by local time, then by the order in which
/// they were written here. `start` precedes all messages, and `end` follows them.
package struct Place: Sendable, Hashable {
  /// The part of the thread that a place lies in.
  package enum Phase: UInt8, Sendable {
    case start = 0
    case acknowledged = 1
    case pending = 2
    case end = 255
  }

  package let phase: Phase
  /// True if `rank` is valid; false for an acknowledged message without a sequence.
  package let hasRank: Bool
  /// The server time or the local time, in microseconds since 1970.
  package let time: Int64
  /// The sequence or the local order.
  package let rank: Int64

  private init(_ phase: Phase, time: Int64, rank: Int64?) {
    self.phase = phase
    hasRank = rank != nil
    self.time = time
    self.rank = rank ?? 0
  }

  package static let start = Place(.start, time: 0, rank: nil)
  package static let end = Place(.end, time: 0, rank: nil)

  package static func acknowledged(_ time: Int64, sequence: Int64?) -> Place {
    Place(.acknowledged, time: time, rank: sequence)
  }

  package static func pending(_ time: Int64, localOrder: Int64) -> Place {
    Place(.pending, time: time, rank: localOrder)
  }

  package var isPending: Bool { phase == .pending }

  /// The sequence of an acknowledged message, if it has one.
  package var sequence: Int64? { phase == .acknowledged && hasRank ? rank : nil }
}

extension Place {
  /// Returns true if all messages at one place precede all messages at another.
  ///
  /// Not `<`: messages can share a place, so messages are compared by position.
  package static func precedes(_ a: Place, _ b: Place) -> Bool {
    if a.phase != b.phase { return a.phase.rawValue < b.phase.rawValue }
    if a.time != b.time { return a.time < b.time }
    if a.hasRank != b.hasRank { return a.hasRank }
    return a.rank < b.rank
  }
}
