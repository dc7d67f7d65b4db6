/// The result of a read: its duration, and a digest folded from every field in order.
///
/// Folding ensures that each field was made into a value, at a cost of a few instructions that is
/// the same for all engines. The digest of every single read is compared with that of the messages
/// written.
///
/// Strings count by their lengths, since looking at each byte would take longer than many a read.
/// An exact reading looks at all bytes: it is used in the warm-up round, which is not counted.
struct Reading {
  var nanoseconds: UInt64 = 0
  var digest: Digest
}

struct Digest {
  private(set) var isExact: Bool
  private(set) var count = 0
  private(set) var value: UInt64 = 0
  /// The digest of all bytes, for an exact reading.
  private(set) var bytes: UInt64 = 0

  init(isExact: Bool) {
    self.isExact = isExact
  }

  /// Folds in one message, one conversation, or another unit of a read.
  @inline(__always)
  mutating func fold(_ mixed: UInt64, whole fingerprint: @autoclosure () -> UInt64 = 0) {
    count &+= 1
    value = (value ^ mixed) &* 0x9E37_79B9_7F4A_7C15
    if isExact { bytes = (bytes ^ fingerprint()) &* 0x9E37_79B9_7F4A_7C15 }
  }

  /// Throws unless a read returned what was written.
  func check(is expected: Digest, of workload: String, by engine: any TailReader) throws {
    let hasSameBytes = !isExact || bytes == expected.bytes
    guard count == expected.count, value == expected.value, hasSameBytes else {
      throw BenchError(
        "\(engine.name.rawValue), \(workload): read \(count), not the \(expected.count) expected"
          + (count == expected.count ? ", or other ones" : ""))
    }
  }
}

/// The fields of a message as numbers: strings by their lengths, the rest by value.
struct MessageFields {
  var idByteCount: Int
  var senderByteCount: Int
  var textByteCount: Int
  var serverTime: Int64?
  var sequence: Int64?
  var localTime: Int64?
  var status: UInt8
  var replyToByteCount: Int?
  var editedAt: Int64?
  /// `ExtrasFields.mixed`; 0 for a message without mentions, reactions and attachments.
  var extras: UInt64
  /// True if the message is in the conversation asked for.
  ///
  /// Each engine names conversations in its own way.
  var isInConversation: Bool
  /// True if the id differs from the one before.
  ///
  /// Testing that requires the bytes of both.
  var isNewID: Bool

  @inline(__always)
  var mixed: UInt64 {
    let lengths = idByteCount &+ senderByteCount &<< 8 &+ textByteCount &<< 16
    let marks = Int(status) &<< 48 &+ (isInConversation ? 0 : 1 &<< 56) &+ (isNewID ? 0 : 1 &<< 57)
    let times = (serverTime ?? .min) &+ (localTime ?? 0) &* 3 &+ (sequence ?? .max) &* 5
    return UInt64(truncatingIfNeeded: lengths &+ marks &+ (replyToByteCount ?? 0) &<< 40)
      ^ UInt64(bitPattern: times &+ (editedAt ?? 0) &* 7) ^ extras
  }
}

/// The fields of a conversation as numbers.
///
/// The length of a preview depends on where an engine cuts a long text, so only its first part
/// counts.
struct ConversationFields {
  var participantCount: Int
  var participantByteCount: Int
  var titleByteCount: Int?
  var lastActivity: Int64?
  var unreadCount: Int
  var messageCount: Int
  var previewIDByteCount: Int
  var previewSenderByteCount: Int
  var previewTextByteCount: Int
  var previewTime: Int64?

  static let previewByteCountSure = 120

  @inline(__always)
  var mixed: UInt64 {
    let previewText = min(previewTextByteCount, Self.previewByteCountSure)
    let lengths =
      participantCount &+ participantByteCount &<< 4 &+ (titleByteCount ?? 0) &<< 14
      &+ previewIDByteCount &<< 24 &+ previewSenderByteCount &<< 32 &+ previewText &<< 40
    let numbers =
      (lastActivity ?? 0) &* 3 &+ (previewTime ?? 0) &* 5 &+ Int64(unreadCount) &* 7
      &+ Int64(messageCount) &* 11
    return UInt64(truncatingIfNeeded: lengths) ^ UInt64(bitPattern: numbers)
  }
}

/// A hash of every byte of a message, to check that all threads hold what was written.
///
/// The sum over a thread does not depend on the order in which it is read; the sequence in each
/// message does.
struct Fingerprint {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func add(_ string: String, maximumByteCount: Int = .max) {
    for byte in string.utf8.prefix(maximumByteCount) {
      value = (value ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    add(Int64(min(string.utf8.count, maximumByteCount)))
  }

  mutating func add(_ number: Int64?) {
    value = (value ^ UInt64(bitPattern: number ?? .min)) &* 0x100_0000_01B3
    value ^= value >> 29
  }

  static func of(_ message: ChatMessage) -> UInt64 {
    var fingerprint = Fingerprint()
    fingerprint.add(message.id)
    fingerprint.add(message.sender)
    fingerprint.add(message.text)
    fingerprint.add(message.serverTime)
    fingerprint.add(message.sequence)
    fingerprint.add(message.localTime)
    fingerprint.add(Int64(message.status))
    fingerprint.add(message.replyTo ?? "")
    if let editedAt = message.editedAt { fingerprint.add(editedAt) }
    if let extras = message.extras { fingerprint.add(extras) }
    return fingerprint.value
  }

  /// Returns the fingerprint of a list entry's fields other than numbers.
  ///
  /// The order of participants is up to each engine.
  static func of(
    participants: [String], title: String?, previewID: String?, previewSender: String?,
    previewText: String?
  ) -> UInt64 {
    var fingerprint = Fingerprint()
    let sum = participants.reduce(0 as UInt64) { sum, participant in
      var own = Fingerprint()
      own.add(participant)
      return sum &+ own.value
    }
    fingerprint.add(Int64(bitPattern: sum))
    fingerprint.add(title ?? "")
    fingerprint.add(previewID ?? "")
    fingerprint.add(previewSender ?? "")
    fingerprint.add(previewText ?? "", maximumByteCount: ConversationFields.previewByteCountSure)
    return fingerprint.value
  }
}
