import MsgStore
import PageFile

/// Segments by themselves.
///
///  1. Bytes are a segment or not; if they are, its messages ascend, and what is packed from them gives
///     the same messages again.
///  2. What was packed gives what went in.
enum SegmentBlocks {
  /// A key, a dictionary and a segment, all of them the input's.
  static func runForeign(_ input: inout FuzzInput) throws(BrokenPromise) {
    let key = KeyEncoding.key(1, position(&input)).bytesArray
    let dictionary = dictionary(&input)
    let value = [2] + input.rest()
    guard let messages = unpacked(value, key, dictionary) else { return }
    input.note("\(messages.count) messages")
    try packAgain(messages, dictionary)
  }

  /// A run that is packed, and then damaged.
  static func runOwn(_ input: inout FuzzInput) throws(BrokenPromise) {
    let dictionary = dictionary(&input)
    var positions: Set<MessagePosition> = []
    for _ in 0..<2 + input.index(below: 60) { positions.insert(position(&input)) }
    var messages: [Packed] = []
    for position in positions.sorted() {
      messages.append(
        Packed(key: KeyEncoding.key(1, position).bytesArray, record: record(&input)))
    }
    guard let value = try packAgain(messages, dictionary) else { return }
    var damaged = value
    for _ in 0..<input.index(below: 6) {
      damaged[input.index(below: damaged.count)] ^= input.byte()
    }
    if input.bool() { damaged.removeLast(input.index(below: damaged.count)) }
    guard let others = unpacked(damaged, messages[0].key, dictionary) else { return }
    try packAgain(others, dictionary)
  }

  private struct Packed: Equatable {
    let key: [UInt8]
    let record: [UInt8]
  }

  private static func unpacked(
    _ value: [UInt8], _ key: [UInt8], _ dictionary: CompressionDictionary
  ) -> [Packed]? {
    var segment = UnpackedSegment()
    let isUnpacked = Bytes.with(value) { value in
      Bytes.with(key) { segment.unpack(value, at: $0.dropFirst(4), with: dictionary) }
    }
    guard isUnpacked else { return nil }
    var run = MessageRun()
    segment.append(to: &run, in: 1)
    return (0..<run.count).map {
      Packed(key: run.key($0).array(), record: run.record($0).array())
    }
  }

  /// Packs messages, and answers the segment; nil where they do not go into one.
  @discardableResult
  private static func packAgain(
    _ messages: [Packed], _ dictionary: CompressionDictionary
  ) throws(BrokenPromise) -> [UInt8]? {
    for index in messages.indices.dropFirst() {
      try promise(
        messages[index - 1].key.lexicographicallyPrecedes(messages[index].key),
        "the messages of a segment are out of order")
    }
    var run = MessageRun()
    var canHold = true
    for message in messages {
      Bytes.with(message.key) { key in
        Bytes.with(message.record) { record in
          canHold = canHold && SegmentEncoder.canHold(key, record)
          run.append(key, record)
        }
      }
    }
    guard canHold else { return nil }
    var value = ByteBuffer()
    guard SegmentEncoder(dictionary).encode(run, 0..<run.count, to: &value) else {
      return nil
    }
    let bytes = value.bytes.array()
    try promise(
      unpacked(bytes, messages[0].key, dictionary) == messages,
      "a segment gives other messages than went in")
    return bytes
  }

  private static func dictionary(_ input: inout FuzzInput) -> CompressionDictionary {
    let bytes = input.take(input.index(below: 40))
    return Bytes.with(bytes) { CompressionDictionary($0, version: 1) } ?? .none
  }

  private static func position(_ input: inout FuzzInput) -> MessagePosition {
    let time = Int64(bitPattern: input.number())
    let sequence = input.bool() ? Int64(bitPattern: input.number()) : nil
    let kinds = ["m-", "-OaBcDeFgHiJkLmNoPq", "123e4567-e89b-12d3-a456-4266141740"]
    let number = input.index(below: 256)
    let digits = "\(number / 16 % 10)\(number % 10)"
    let isLong = number == 255
    let name = isLong ? String(repeating: "n", count: 255) : kinds[number % 3] + digits
    return MessagePosition(.acknowledged(time, sequence: sequence), MessageID(name))
  }

  private static func record(_ input: inout FuzzInput) -> [UInt8] {
    let letters = input.take(input.index(below: 30)).map { $0 & 0x7F }
    var text = ByteBuffer()
    for _ in 0..<1 + input.index(below: 4) { for letter in letters { text.append(letter) } }
    var record = MessageRecord(
      flags: input.bool() ? .history : [], status: .delivered,
      sender: UInt32(truncatingIfNeeded: input.number()), textByteCount: text.count,
      payload: text.bytes)
    if input.bool() { record.markOrdinal = input.number() }
    var bytes = ByteBuffer()
    record.append(to: &bytes)
    return bytes.bytes.array()
  }
}

extension ByteBuffer {
  fileprivate var bytesArray: [UInt8] { bytes.array() }
}
