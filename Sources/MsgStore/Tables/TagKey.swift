package import PageFile

/// Keys and values of the tags tree, which leads from a tag to the times of the messages that have
/// it.
///
/// See docs/message-format.md, F-17 … F-19.
///
///     key    number of the conversation (4), tag (1)
///     value  number of the conversation's messages with this tag, varint
///
///     key    number of the conversation (4), tag (1), phase (1), time (8)
///     value  number of messages with this tag at this time, varint; empty for one
package enum TagKey {
  package static let countByteCount = 5
  /// A limit from which counting on cannot overflow.
  static let maximumCount: UInt64 = 1 << 60
  package static let entryByteCount = countByteCount + ThreadMoment.byteCount

  /// The parts of a key.
  package enum Parts: Equatable {
    case count(conversation: UInt32, tag: UInt8)
    case entry(conversation: UInt32, tag: UInt8, ThreadMoment)
  }

  /// Returns the key of a tag's count, which the keys of its entries begin with.
  package static func count(_ conversation: UInt32, _ tag: UInt8) -> ByteBuffer {
    KeyEncoding.key(conversation).appending(tag)
  }

  package static func entryKey(
    _ conversation: UInt32, _ tag: UInt8, _ moment: ThreadMoment
  ) -> ByteBuffer {
    count(conversation, tag).appending(moment)
  }

  /// Returns the parts of a key, or nil if it is malformed.
  package static func parts(_ key: Bytes) -> Parts? {
    guard key.count >= countByteCount, let conversation = key.bigEndianNumber(at: 0),
      conversation > 0, case let tag = key[4], tag <= MessageTag.maximumNumber
    else { return nil }
    if key.count == countByteCount { return .count(conversation: conversation, tag: tag) }
    guard key.count == entryByteCount, let moment = ThreadMoment(key, at: countByteCount) else {
      return nil
    }
    return .entry(conversation: conversation, tag: tag, moment)
  }

  /// Returns the number that the value of an entry states, or nil if it is malformed.
  package static func messageCount(_ value: Bytes) -> UInt64? {
    if value.count == 0 { return 1 }
    var reader = ByteReader(value)
    guard let count = reader.varint(), 2...maximumCount ~= count, reader.isAtEnd else {
      return nil
    }
    return count
  }

  /// Appends the value of an entry of one or more messages.
  static func append(messageCount: UInt64, to value: inout ByteBuffer) {
    if messageCount > 1 { value.append(varint: messageCount) }
  }

  /// Returns the number that the value of a count states, or nil if it is malformed.
  package static func totalCount(_ value: Bytes) -> UInt64? {
    var reader = ByteReader(value)
    guard let count = reader.varint(), 1...maximumCount ~= count, reader.isAtEnd else {
      return nil
    }
    return count
  }

  /// Returns true if the readers accept these bytes as an entry of the tree.
  static func canRead(_ key: Bytes, _ value: Bytes) -> Bool {
    switch parts(key) {
    case .count: totalCount(value) != nil
    case .entry: messageCount(value) != nil
    case nil: false
    }
  }
}
