package import PageFile

/// Neighbouring messages of one conversation, packed column by column into one cell.
///
/// See docs/message-format.md, M-1 … M-7.
///
///     size    field
///        1    tag: 4, or 5 if some of its messages lie beside it; 2 and 3 without counts of unread
///        1    number of messages, 2 … 255
///     1–5     coding of the block: 0 plain, n + 1 LZ4 with dictionary n
///     1–10    server time of the last message minus that of the first
///     1–3     byte count of all texts
///     1–3     byte count of the rare fields
///        2    how many messages are unread above all read marks, and how many of them mention the
///             local member
///        …    columns: times, sequences, names, senders, kinds, lengths of texts, rare fields:
///             local times, mark ordinals, lengths of replies and traits
///        …    block up to the end: all texts, then the rare fields
///
/// The key of the cell is that of the first message, whose place and name are not repeated.
///
///  1. All messages are acknowledged, and follow each other in the order of the thread.
///  2. No key of another cell lies between those of the first and the last message. A cursor that
///     goes from cell to cell therefore meets all messages in order, and a message without a cell
///     of its own is in the segment before its place or nowhere.
///  3. Unpacking restores the record that each message had in a cell of its own, except that long
///     texts are uncompressed. Readers of records therefore need not know where they come from.
///  4. A message that was changed since may lie beside its segment: see `BesideReader`.
package enum Segment {
  /// The tag of a segment that says nothing of unread messages, because the local member was not
  /// known when it was packed.
  package static let tag: UInt8 = 2
  /// The tag of a segment that counts the messages that are unread above all read marks.
  static let countedTag: UInt8 = 4
  /// The bit of a tag that says that messages lie beside the segment.
  package static let besideBit: UInt8 = 1
  static let maximumCount = 255
  /// The byte limit of the unpacked texts, and of the unpacked rare fields.
  static let maximumBlockByteCount = 64 << 10

  package static func isSegment(_ value: Bytes) -> Bool { value.count > 0 && isTag(value[0]) }

  /// Returns true for the four tags.
  @inline(__always)
  static func isTag(_ byte: UInt8) -> Bool { byte &- tag < 4 }

  /// The form of the column of sequences.
  enum SequenceForm: UInt8 {
    /// No message has a sequence.
    case none
    /// Each sequence is one more than the previous message's.
    case consecutive
    /// Each message has a sequence, stored as its difference from one more than the previous
    /// message's.
    case differences
    /// Each message has a byte, 1 if it has a sequence, else 0.
    ///
    /// A sequence is stored as it is.
    case mixed
  }

  /// The coding of the block.
  package enum Coding {
    case plain
    /// LZ4 with the dictionary of this number; 0 for no dictionary.
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

  /// Returns the number of bits that distinguish so many values, chosen so that a byte holds a
  /// whole number of them.
  static func indexBitCount(_ valueCount: Int) -> Int {
    valueCount <= 1 ? 0 : valueCount <= 2 ? 1 : valueCount <= 4 ? 2 : valueCount <= 16 ? 4 : 8
  }
}

/// The head of a segment, before its columns.
package struct SegmentHeader {
  /// True if some of the messages lie beside the segment.
  package let hasBeside: Bool
  package let count: Int
  package let coding: Segment.Coding
  let lastTimeOffset: UInt64
  /// The byte count of the texts of all messages, unpacked.
  package let textByteCount: Int
  let restByteCount: Int
  /// The counts of the messages that are unread above all read marks, as they lie in the segment
  /// itself; nil if the segment does not say.
  package let unread: UnreadCount?

  /// Decodes the head of a segment.
  ///
  /// Returns nil if the bytes are not a valid head.
  init?(_ reader: inout ByteReader) {
    guard let tag = reader.byte(), Segment.isTag(tag), let count = reader.byte(), count >= 2,
      let number = reader.varint(), let coding = Segment.Coding(number),
      let lastTimeOffset = reader.varint(),
      let textByteCount = reader.varint(), textByteCount <= UInt64(Segment.maximumBlockByteCount),
      let restByteCount = reader.varint(), restByteCount <= UInt64(Segment.maximumBlockByteCount)
    else { return nil }
    hasBeside = tag & Segment.besideBit != 0
    self.count = Int(count)
    self.coding = coding
    self.lastTimeOffset = lastTimeOffset
    self.textByteCount = Int(textByteCount)
    self.restByteCount = Int(restByteCount)
    guard tag >= Segment.countedTag else {
      unread = nil
      return
    }
    guard let messages = reader.byte(), messages <= count, let mentions = reader.byte(),
      mentions <= messages
    else { return nil }
    unread = UnreadCount(messages: Int(messages), mentions: Int(mentions))
  }

  package init?(_ value: Bytes) {
    var reader = ByteReader(value)
    self.init(&reader)
  }

  /// The byte count of the unpacked texts and rare fields.
  package var unpackedByteCount: Int { textByteCount + restByteCount }

  /// Decodes the first bytes of a value, as far as they go.
  ///
  /// Returns nil if they do not begin a segment.
  package static func beginning(_ head: Bytes) -> (count: Int, coding: Segment.Coding)? {
    var reader = ByteReader(head)
    guard let tag = reader.byte(), Segment.isTag(tag), let count = reader.byte(), count >= 2,
      let number = reader.varint(), let coding = Segment.Coding(number)
    else { return nil }
    return (Int(count), coding)
  }
}

extension SegmentHeader {
  /// Returns the number of the dictionary that a segment was packed with, 0 for none, or nil if the
  /// value is not a segment.
  package static func dictionary(_ value: Bytes) -> UInt32? {
    guard let header = SegmentHeader(value) else { return nil }
    return if case .lz4(let number) = header.coding { number } else { 0 }
  }
}
