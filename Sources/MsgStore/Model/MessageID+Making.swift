import PageFile

/// Making names of messages that sort by the time at which they were made.
///
/// Names that are made one after another then lie together in the store, and a new one is added at
/// the end of a page. A name has a time in milliseconds, and chance behind it; what is made for the
/// millisecond of the one before counts up from its chance, so that the two sort as they were made.
extension MessageID {
  /// A new push id for this moment.
  public static func random() -> MessageID { pushID(at: StoreOptions.systemClock()) }

  /// A new name of 20 characters out of 64, eight of time and twelve of chance, as Firebase makes
  /// them.
  ///
  /// Names that this process makes one after another for the same millisecond rise. A time before
  /// 1970 is taken for 1970.
  public static func pushID(at time: Timestamp) -> MessageID {
    var generator = SystemRandomNumberGenerator()
    return pushID(lastPushID.withLock { $0.next(at: time, using: &generator) })
  }

  /// The same with the chance of a generator, and without regard to what was made before.
  public static func pushID(
    at time: Timestamp, using generator: inout some RandomNumberGenerator
  ) -> MessageID {
    var first = TimedChance(bitCount: pushIDChanceBitCount)
    return pushID(first.next(at: time, using: &generator))
  }

  /// A new UUID of version 7 (RFC 9562) in lower case with hyphens: 36 characters.
  ///
  /// UUIDs that this process makes one after another for the same millisecond rise, by the RFC's
  /// method 2. A time before 1970 is taken for 1970.
  public static func timeOrderedUUID(at time: Timestamp = StoreOptions.systemClock()) -> MessageID {
    var generator = SystemRandomNumberGenerator()
    return timeOrderedUUID(lastUUID.withLock { $0.next(at: time, using: &generator) })
  }

  /// The same with the chance of a generator, and without regard to what was made before.
  public static func timeOrderedUUID(
    at time: Timestamp, using generator: inout some RandomNumberGenerator
  ) -> MessageID {
    var first = TimedChance(bitCount: uuidChanceBitCount)
    return timeOrderedUUID(first.next(at: time, using: &generator))
  }
}

extension ConversationID {
  /// A new name for a conversation that is made here: 20 characters as of `MessageID.random()`.
  public static func random() -> ConversationID { ConversationID(MessageID.random().string) }
}

extension MessageID {
  static let pushIDChanceBitCount = 72
  static let uuidChanceBitCount = 74
  private static let lastPushID = Locked(TimedChance(bitCount: pushIDChanceBitCount))
  private static let lastUUID = Locked(TimedChance(bitCount: uuidChanceBitCount))
  /// 64 characters in the order of their bytes, so that the names sort as the numbers do.
  private static let alphabet = Array(
    "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8)

  static func pushID(_ made: TimedChance) -> MessageID {
    var buffer = ByteBuffer(capacity: 20)
    let bits = UInt128(made.milliseconds) << UInt128(pushIDChanceBitCount) | made.chance
    for shift in stride(from: UInt128(114), through: 0, by: -6) {
      buffer.append(alphabet[Int(bits >> shift & 63)])
    }
    return MessageID(buffer.bytes)
  }

  /// The milliseconds, the version 7, 12 bits of chance, the variant 2, and 62 bits of chance.
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

/// A time and the chance behind it: what was made last.
struct TimedChance {
  /// Milliseconds since 1970, below 2^48; no time before the first was made.
  private(set) var milliseconds: UInt64 = .max
  /// At most as many bits as there is room for.
  private(set) var chance: UInt128 = 0
  private let bitCount: Int
  private static let millisecondsMax: Int64 = 1 << 48 - 1

  init(bitCount: Int) { self.bitCount = bitCount }

  /// Makes the next one.
  ///
  /// A new millisecond begins with a zero above its chance, so counting up within one, by a chance
  /// of 32 bits, never uses up its room.
  mutating func next(
    at time: Timestamp, using generator: inout some RandomNumberGenerator
  ) -> TimedChance {
    let now = UInt64(min(max(time.millisecondsSince1970, 0), Self.millisecondsMax))
    if now == milliseconds {
      chance += 1 + UInt128(UInt32.random(in: .min ... .max, using: &generator))
    } else {
      milliseconds = now
      chance = UInt128.random(in: 0..<1 << UInt128(bitCount - 1), using: &generator)
    }
    return self
  }
}
