/// A place in a thread, but for the name that decides among messages at the same place.
///
/// Acknowledged messages come first, by server time, then sequence, one without a sequence behind
/// all that have one. Pending messages follow, by local time, then by the order in which they were
/// written here. `start` lies before all messages and `end` behind them.
package struct Place: Sendable, Hashable {
  package enum Phase: UInt8, Sendable {
    case start = 0
    case acknowledged = 1
    case pending = 2
    case end = 255
  }

  package let phase: Phase
  /// Whether `rank` says something: false for an acknowledged message without a sequence.
  package let hasRank: Bool
  /// The server's time or the local time, in microseconds since 1970.
  package let time: Int64
  /// The sequence, or the local order.
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

  /// The sequence of an acknowledged message.
  package var sequence: Int64? { phase == .acknowledged && hasRank ? rank : nil }
}

extension Place {
  /// Whether all messages at one place come before all at another.
  ///
  /// Not `<`: messages share places, so who compares messages compares positions.
  package static func precedes(_ a: Place, _ b: Place) -> Bool {
    if a.phase != b.phase { return a.phase.rawValue < b.phase.rawValue }
    if a.time != b.time { return a.time < b.time }
    if a.hasRank != b.hasRank { return a.hasRank }
    return a.rank < b.rank
  }
}
