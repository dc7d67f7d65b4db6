package import PageFile

/// Neighbouring messages of one conversation, packed column by column into one cell.
///
/// See docs/message-format.md, M-1 … M-7.
///
///     size    field
///        1    tag: 2
///        1    number of messages, 2 … 255
///     1–5     coding of the block: 0 as it is, n + 1 LZ4 with dictionary n
///     1–10    server time of the last message minus that of the first
///     1–3     bytes of all texts
///     1–3     bytes of what few messages have
///        …    columns: times, sequences, names, senders, kinds, lengths of texts, what few have: local
///             times, mark ordinals, lengths of replies and traits
///        …    block up to the end: all texts, then what few messages have
///
/// The key of the cell is that of the first message, whose place and name are not repeated.
///
///  1. All messages are acknowledged, and follow each other in the order of the thread.
///  2. No key of another cell lies between those of the first and the last message. So a cursor that
///     goes from cell to cell meets all messages in order, and a message that is not in a cell of its
///     own is in the segment before its place or nowhere.
///  3. Unpacking gives the record that each message had alone, but that long texts lie in it as they
///     are. So nothing that reads records has to know where they come from.
package enum Segment {
  package static let tag: UInt8 = 2
  static let countMax = 255
  /// The most that texts, or what few messages have, take unpacked, in bytes.
  static let blockByteCountMax = 64 << 10

  package static func isSegment(_ value: Bytes) -> Bool { value.count > 0 && value[0] == tag }

  enum SequenceForm: UInt8 {
    /// No message has one.
    case none
    /// Each has one more than the message before.
    case consecutive
    /// Each has one: the difference to one more than that of the message before.
    case differences
    /// Of each, 0: none; 1: one.
    ///
    /// Those that have one have it as it is.
    case mixed
  }

  /// The coding of the block.
  package enum Coding {
    case plain
    /// With the dictionary of this number; 0 is none.
    case lz4(dictionary: UInt32)

    init?(_ number: UInt64) {
      guard number <= UInt64(UInt32.max) else { return nil }
      self = number == 0 ? .plain : .lz4(dictionary: UInt32(number - 1))
    }

    var number: UInt64 {
      switch self {
      case .plain: 0
      case .lz4(let dictionary): UInt64(dictionary) + 1
      }
    }
  }

  /// How many bits tell that many values apart, so that a byte holds a whole number of them.
  static func indexBitCount(_ valueCount: Int) -> Int {
    valueCount <= 1 ? 0 : valueCount <= 2 ? 1 : valueCount <= 4 ? 2 : valueCount <= 16 ? 4 : 8
  }
}

/// What stands before the columns.
package struct SegmentHeader {
  package let count: Int
  package let coding: Segment.Coding
  let lastTimeOffset: UInt64
  let textByteCount: Int
  let restByteCount: Int

  /// Reads the head of a segment; nil when these bytes are none.
  init?(_ reader: inout ByteReader) {
    guard reader.byte() == Segment.tag, let count = reader.byte(), count >= 2,
      let number = reader.varint(), let coding = Segment.Coding(number),
      let lastTimeOffset = reader.varint(),
      let textByteCount = reader.varint(), textByteCount <= UInt64(Segment.blockByteCountMax),
      let restByteCount = reader.varint(), restByteCount <= UInt64(Segment.blockByteCountMax)
    else { return nil }
    self.count = Int(count)
    self.coding = coding
    self.lastTimeOffset = lastTimeOffset
    self.textByteCount = Int(textByteCount)
    self.restByteCount = Int(restByteCount)
  }

  package init?(_ value: Bytes) {
    var reader = ByteReader(value)
    self.init(&reader)
  }

  /// What can be told from the first bytes of a value; nil where they begin no segment.
  package static func beginning(_ head: Bytes) -> (count: Int, coding: Segment.Coding)? {
    var reader = ByteReader(head)
    guard reader.byte() == Segment.tag, let count = reader.byte(), count >= 2,
      let number = reader.varint(), let coding = Segment.Coding(number)
    else { return nil }
    return (Int(count), coding)
  }
}

extension SegmentHeader {
  /// Which dictionary a segment was packed with, 0 for none; nil where it is no segment.
  package static func dictionary(_ value: Bytes) -> UInt32? {
    guard let header = SegmentHeader(value) else { return nil }
    return if case .lz4(let number) = header.coding { number } else { 0 }
  }
}
