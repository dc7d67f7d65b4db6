package import PageFile

/// Keys of the activity tree: the lists of conversations.
package enum ListKey: RecordIndex {
  package typealias Record = (place: ListPlace, conversation: UInt32)
  package static var tree: TreeNumber { Schema.activity }
  package static let isCounted = false

  package static func forEachKey(
    of record: Record, _ body: (borrowing ByteBuffer) throws(StoreError) -> Void
  ) throws(StoreError) {
    try body(record.place.key(record.conversation))
  }
}

extension ListPlace {
  static let keyByteCount = 13

  /// The key after all archived conversations and before all others.
  static var archivedEnd: ByteBuffer { ListPlace(section: .normal, time: .min).key(0) }

  package func key(_ conversation: UInt32) -> ByteBuffer {
    ByteBuffer().appending(section.rawValue).appending(KeyEncoding.flipped(time)).appending(
      conversation)
  }

  /// Returns the place and the number in a key of the activity tree, or nil if the bytes are not a
  /// valid key.
  package static func parts(_ key: Bytes) -> (place: ListPlace, number: UInt32)? {
    guard key.count == keyByteCount, let section = Section(rawValue: key[0]),
      let number = key.bigEndianNumber(at: 9)
    else { return nil }
    let time = KeyEncoding.unflipped(key.bigEndian64(at: 1))
    return (ListPlace(section: section, time: time), number)
  }
}

extension ConversationSummary {
  /// The place of the conversation in the lists, or nil if no list shows it.
  package var listPlace: ListPlace? {
    if marks.contains(.hidden) { return nil }
    let section: ListPlace.Section =
      marks.contains(.archived) ? .archived : marks.contains(.pinned) ? .pinned : .normal
    return ListPlace(section: section, time: listTime)
  }
}
