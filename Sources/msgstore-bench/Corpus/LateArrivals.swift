/// Messages on their way to a client: a few arrive after newer ones of their conversation.
///
/// A log does not tell when its messages arrived, so their share is chosen. A late message comes
/// with the next batch. Its server time and sequence are those of its place, so all engines must
/// put it between messages that they have stored before.
struct LateArrivals {
  static let share = 0.005
  private var generator: SeededGenerator
  private var held: [ChatMessage] = []

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed ^ 0x1A7E)
  }

  /// Returns the messages that arrive in place of a batch; the last batch leaves none behind.
  mutating func arrivals(of batch: [ChatMessage], isLast: Bool) -> [ChatMessage] {
    // Late is only what comes after a newer message: one of the same time would not be late, and
    // engines may show either of the two as the newest.
    var newest: [Int: Int64] = [:]
    for message in batch { newest[message.conversation] = message.serverTime }
    var arrived: [ChatMessage] = []
    var late: [ChatMessage] = []
    for message in batch {
      let isLate =
        !isLast && generator.chance(Self.share)
        && message.serverTime ?? 0 < newest[message.conversation] ?? 0
      if isLate { late.append(message) } else { arrived.append(message) }
    }
    defer { held = late }
    return arrived + held
  }
}
