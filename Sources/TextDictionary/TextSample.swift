import PageFile

/// The texts from which a dictionary is made, in succession, with their senders and days.
///
/// Each text is followed by a byte that UTF-8 never uses, so that no string extends from one
/// message into the next.
struct TextSample: ~Copyable {
  /// A byte that occurs in no text.
  static let separator: UInt8 = 0xFF
  /// The granularity of the index from positions to messages, in bytes.
  private static let stride = 64

  /// The end, sender, and day of one text.
  private struct Origin {
    let end: UInt32
    let sender: UInt32
    let day: Int32
  }

  private var text = ByteBuffer()
  private var origins: [Origin] = []
  /// The message in which each run of `stride` bytes begins.
  private var messageAtStride: [UInt32] = []

  /// The bytes of all texts, separators included.
  var byteCount: Int { text.count }
  var messageCount: Int { origins.count }
  var bytes: Bytes { text.bytes }

  mutating func add(_ addition: Bytes, sender: UInt32, day: Int32) {
    for offset in 0..<addition.count where addition[offset] == Self.separator { return }
    text.append(addition)
    text.append(Self.separator)
    while messageAtStride.count * Self.stride < text.count {
      messageAtStride.append(UInt32(origins.count))
    }
    origins.append(Origin(end: UInt32(text.count), sender: sender, day: day))
  }

  /// Returns the range of a message's text, without its separator.
  func range(of message: Int) -> Range<Int> {
    (message == 0 ? 0 : Int(origins[message - 1].end))..<Int(origins[message].end) - 1
  }

  /// Returns the message that contains a position.
  private func message(at position: UInt32) -> Int {
    var message = Int(messageAtStride[Int(position) / Self.stride])
    while origins[message].end <= position { message += 1 }
    return message
  }

  /// True if the sample has so few senders that days are counted instead.
  var countsDays: Bool {
    var senders = DistinctNumbers(limit: DictionaryBuilder.senderCountMin)
    for origin in origins where !senders.isFull { senders.insert(origin.sender) }
    return !senders.isFull
  }

  /// Returns true if the string at these positions is in enough messages by enough senders.
  ///
  /// Counts the distinct ones one by one and stops as soon as there are enough.
  func isCommon(_ positions: ArraySlice<UInt32>, countsDays: Bool) -> Bool {
    var messages = DistinctNumbers(limit: DictionaryBuilder.messageCountMin)
    var origins = DistinctNumbers(limit: DictionaryBuilder.senderCountMin)
    for position in positions {
      let message = message(at: position)
      let origin = self.origins[message]
      messages.insert(UInt32(message))
      origins.insert(countsDays ? UInt32(bitPattern: origin.day) : origin.sender)
      if messages.isFull && origins.isFull { return true }
    }
    return false
  }
}

/// A set that keeps the first few distinct numbers.
private struct DistinctNumbers {
  private var numbers = SIMD8<UInt32>(repeating: 0)
  private var count = 0
  private let limit: Int

  init(limit: Int) {
    precondition(limit <= 8, "limit exceeds the capacity of 8")
    self.limit = limit
  }

  var isFull: Bool { count == limit }

  mutating func insert(_ number: UInt32) {
    guard count < limit else { return }
    for index in 0..<count where numbers[index] == number { return }
    numbers[count] = number
    count += 1
  }
}
