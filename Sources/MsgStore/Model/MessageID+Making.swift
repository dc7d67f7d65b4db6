import PageFile

/// Generators of message ids that sort by creation time.
///
/// Ids made in succession lie together in the store, and a new one is added at the end of a page.
/// An id consists of a time in milliseconds followed by random bits. An id for the same millisecond
/// as the one before increments that one's random bits, so that the two sort in the order in which
/// they were made. Messages with one server time and without sequence numbers are ordered by their
/// ids; with random ids of other makers that order is random, though the same on all devices.
extension MessageID {
  /// Returns a new push id for the current time.
  ///
  /// Successive ids made by this process ascend, also within a millisecond, and while the system's
  /// clock is set back by up to a minute. So messages that are sent one after the other keep their
  /// order if the server accepts them at one time and gives no sequence numbers.
  public static func random() -> MessageID {
    var generator = SystemRandomNumberGenerator()
    let time = StoreOptions.systemClock()
    return pushID(lastRandom.withLock { $0.nextAscending(at: time, using: &generator) })
  }

  /// Returns a new push id of 20 characters out of 64, as Firebase makes them: eight for the time
  /// and twelve random.
  ///
  /// Successive ids made by this process for the same millisecond ascend. Times before 1970 count
  /// as 1970.
  public static func pushID(at time: Timestamp) -> MessageID {
    var generator = SystemRandomNumberGenerator()
    return pushID(lastPushID.withLock { $0.next(at: time, using: &generator) })
  }

  /// Returns a push id with random bits from a generator, independent of ids made before.
  public static func pushID(
    at time: Timestamp, using generator: inout some RandomNumberGenerator
  ) -> MessageID {
    var first = TimedChance(bitCount: pushIDChanceBitCount)
    return pushID(first.next(at: time, using: &generator))
  }

  /// Returns a new UUID of version 7 for the current time.
  ///
  /// Successive ones made by this process ascend as those of `random()` do.
  public static func timeOrderedUUID() -> MessageID {
    var generator = SystemRandomNumberGenerator()
    let time = StoreOptions.systemClock()
    return timeOrderedUUID(
      lastCurrentUUID.withLock { $0.nextAscending(at: time, using: &generator) })
  }

  /// Returns a new UUID of version 7 (RFC 9562) in lower case with hyphens: 36 characters.
  ///
  /// Successive UUIDs made by this process for the same millisecond ascend, by the RFC's method 2.
  /// Times before 1970 count as 1970.
  public static func timeOrderedUUID(at time: Timestamp) -> MessageID {
    var generator = SystemRandomNumberGenerator()
    return timeOrderedUUID(lastUUID.withLock { $0.next(at: time, using: &generator) })
  }

  /// Returns a UUID of version 7 with random bits from a generator, independent of UUIDs made
  /// before.
  public static func timeOrderedUUID(
    at time: Timestamp, using generator: inout some RandomNumberGenerator
  ) -> MessageID {
    var first = TimedChance(bitCount: uuidChanceBitCount)
    return timeOrderedUUID(first.next(at: time, using: &generator))
  }
}

extension ConversationID {
  /// Returns a new id for a conversation created here: 20 characters, as `MessageID.random()` makes
  /// them.
  public static func random() -> ConversationID { ConversationID(MessageID.random().string) }
}

extension MessageID {
  static let pushIDChanceBitCount = 72
  static let uuidChanceBitCount = 74
  // Those for the current time have a state of their own: an id for another time in between would
  // break their order.
  private static let lastRandom = Locked(TimedChance(bitCount: pushIDChanceBitCount))
  private static let lastCurrentUUID = Locked(TimedChance(bitCount: uuidChanceBitCount))
  private static let lastPushID = Locked(TimedChance(bitCount: pushIDChanceBitCount))
  private static let lastUUID = Locked(TimedChance(bitCount: uuidChanceBitCount))
  /// The 64 characters in byte order, so that the ids sort as the numbers do.
  private static let alphabet = Array(
    "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8)

  package static func pushID(_ made: TimedChance) -> MessageID {
    var buffer = ByteBuffer(capacity: 20)
    let bits = UInt128(made.milliseconds) << UInt128(pushIDChanceBitCount) | made.chance
    for shift in stride(from: UInt128(114), through: 0, by: -6) {
      buffer.append(alphabet[Int(bits >> shift & 63)])
    }
    return MessageID(buffer.bytes)
  }

  /// Encodes the milliseconds, the version 7, 12 random bits, the variant 2, and 62 random bits.
  static func timeOrderedUUID(_ made: TimedChance) -> MessageID {
    let high = made.milliseconds << 16 | 0x7000 | UInt64(made.chance >> 62)
    let low = 2 << 62 | UInt64(made.chance & (1 << 62 - 1))
    var buffer = ByteBuffer(capacity: 36)
    let bits = UInt128(high) << 64 | UInt128(low)
    for shift in stride(from: UInt128(124), through: 0, by: -4) {
      if shift == 92 || shift == 76 || shift == 60 || shift == 44 {
        buffer.append(UInt8(ascii: "-"))
      }
      let digit = UInt8(bits >> shift & 15)
      buffer.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
    }
    return MessageID(buffer.bytes)
  }
}

/// The time and random bits of the last id made.
package struct TimedChance {
  /// Milliseconds since 1970, below 2^48; `.max` before the first id is made.
  package private(set) var milliseconds: UInt64 = .max
  /// The random bits, at most `bitCount` of them.
  package private(set) var chance: UInt128 = 0
  private let bitCount: Int
  private static let maximumMilliseconds: Int64 = 1 << 48 - 1
  /// The most milliseconds by which a clock that was set back does not count.
  private static let maximumBackstep: UInt64 = 60_000

  package init(bitCount: Int) { self.bitCount = bitCount }

  /// Returns the time and random bits of the next id.
  ///
  /// The top random bit of a new millisecond is zero, so increments of up to 32 bits within a
  /// millisecond never overflow.
  mutating func next(
    at time: Timestamp, using generator: inout some RandomNumberGenerator
  ) -> TimedChance {
    next(Self.milliseconds(of: time), using: &generator)
  }

  /// Returns the time and random bits of the next id for the current time, which is behind the
  /// last one unless the clock was set back by more than a minute.
  package mutating func nextAscending(
    at time: Timestamp, using generator: inout some RandomNumberGenerator
  ) -> TimedChance {
    let now = Self.milliseconds(of: time)
    let isSetBack = milliseconds != .max && now < milliseconds
    let stays = isSetBack && milliseconds - now <= Self.maximumBackstep
    return next(stays ? milliseconds : now, using: &generator)
  }

  private static func milliseconds(of time: Timestamp) -> UInt64 {
    UInt64(min(max(time.millisecondsSince1970, 0), maximumMilliseconds))
  }

  private mutating func next(
    _ now: UInt64, using generator: inout some RandomNumberGenerator
  ) -> TimedChance {
    if now == milliseconds {
      chance += 1 + UInt128(UInt32.random(in: .min ... .max, using: &generator))
    } else {
      milliseconds = now
      chance = UInt128.random(in: 0..<1 << UInt128(bitCount - 1), using: &generator)
    }
    return self
  }
}
