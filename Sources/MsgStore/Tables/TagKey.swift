package import PageFile

/// Keys and values of the index tree that lead from a tag to the times of its messages.
///
/// See docs/message-format.md, F-17 … F-23.
///
///     key    number of the conversation (4), 0x01, tag (1)
///     value  number of the conversation's messages with this tag, see `CellCount`
///
///     key    number of the conversation (4), 0x01, tag (1), phase (1), time (8)
///     value  number of messages with this tag at this time, as above
///
/// Under the number 0, which no conversation has, lie the pinned and the starred messages of all
/// conversations, and the client's own names:
///
///     key    0 (4), 0x01, tag (1)
///     value  number of all messages with this tag, as above; the name of a tag of the client's own
///
///     key    0 (4), 0x01, tag (1), time (8), number of the conversation (4)
///     value  number of the conversation's messages with this tag at this time, as above
package enum TagKey {
  package static let countByteCount = 6
  package static let entryByteCount = countByteCount + ThreadMoment.byteCount

  /// The parts of a key.
  package enum Parts: Equatable {
    case count(conversation: UInt32, tag: UInt8)
    case entry(conversation: UInt32, tag: UInt8, ThreadMoment)
    case everywhere(tag: UInt8, time: Int64, conversation: UInt32)
    case name(tag: UInt8)
  }

  /// Returns the key of a tag's count, which the keys of its entries begin with.
  package static func count(_ conversation: UInt32, _ tag: UInt8) -> ByteBuffer {
    KeyEncoding.key(conversation, .tag).appending(tag)
  }

  package static let allConversations = KeyEncoding.allConversations
  private static let everywhereByteCount = 18

  /// Returns the key of the messages of one time and conversation, among those of all.
  package static func everywhere(
    _ tag: UInt8, _ time: Int64, _ conversation: UInt32
  ) -> ByteBuffer {
    count(allConversations, tag).appending(KeyEncoding.flipped(time)).appending(conversation)
  }

  /// Returns the key of the name of a tag of the client's own.
  package static func name(_ tag: UInt8) -> ByteBuffer { count(allConversations, tag) }

  package static func entryKey(
    _ conversation: UInt32, _ tag: UInt8, _ moment: ThreadMoment
  ) -> ByteBuffer {
    count(conversation, tag).appending(moment)
  }

  /// Returns the parts of a key, or nil if it is malformed.
  package static func parts(_ key: Bytes) -> Parts? {
    guard key.indexKind == .tag, let conversation = key.bigEndianNumber(at: 0),
      case let tag = key[5], case let set = TagSet(number: tag), !set.isEmpty,
      set.isSubset(of: .all)
    else { return nil }
    if conversation == allConversations { return partsEverywhere(key, tag, set) }
    if key.count == countByteCount { return .count(conversation: conversation, tag: tag) }
    guard key.count == entryByteCount, let moment = ThreadMoment(key, at: countByteCount) else {
      return nil
    }
    return .entry(conversation: conversation, tag: tag, moment)
  }

  private static func partsEverywhere(_ key: Bytes, _ tag: UInt8, _ set: TagSet) -> Parts? {
    if key.count == countByteCount {
      if set.isSubset(of: .own) { return .name(tag: tag) }
      return set.isSubset(of: .everywhere) ? .count(conversation: allConversations, tag: tag) : nil
    }
    guard key.count == everywhereByteCount, set.isSubset(of: .everywhere),
      let conversation = key.bigEndianNumber(at: 14), conversation > 0
    else { return nil }
    let time = KeyEncoding.unflipped(key.bigEndian64(at: countByteCount))
    return .everywhere(tag: tag, time: time, conversation: conversation)
  }

  /// Returns the name of a tag of the client's own, or nil if it is malformed.
  package static func ownName(_ value: Bytes) -> String? {
    (1...Identifier.maximumByteCount).contains(value.count) && value.isValidUTF8
      ? value.repairedText() : nil
  }

  /// Returns true if the readers accept these bytes as an entry of the tree.
  static func canRead(_ key: Bytes, _ value: Bytes) -> Bool {
    switch parts(key) {
    case .count, .entry, .everywhere: CellCount.decode(value) != nil
    case .name: ownName(value) != nil
    case nil: false
    }
  }
}

extension TagKey: RecordIndex {
  /// The shown tags of a message, and its moment.
  package struct Record: Equatable {
    let conversation: UInt32
    let tags: TagSet
    var moment: ThreadMoment

    init(_ conversation: UInt32, _ tags: TagSet, _ moment: ThreadMoment) {
      self.conversation = conversation
      self.tags = tags
      self.moment = moment
    }
  }

  package static let isCounted = true

  package static func forEachKey(
    of record: Record, _ body: (borrowing ByteBuffer) throws(StoreError) -> Void
  ) throws(StoreError) {
    let (conversation, moment) = (record.conversation, record.moment)
    try record.tags.forEach { (tag) throws(StoreError) in
      try body(count(conversation, tag))
      try body(entryKey(conversation, tag, moment))
      guard TagSet(number: tag).isSubset(of: .everywhere) else { return }
      try body(count(allConversations, tag))
      try body(everywhere(tag, moment.time, conversation))
    }
  }
}
