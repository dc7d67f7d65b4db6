package import PageFile

/// Keys of the outbox, which lies in the work tree behind the store's own work.
///
/// See docs/message-format.md, O-1 … O-7, O-30 and O-31.
///
///     0x01 ordinal (8)                                 an entry → its record
///     0x02 conversation's number (4), ordinal (8)      all entries of a conversation → nothing
///     0x03 conversation's number (4), ordinal (8)      those that go one after the other → nothing
///     0x04 time (8), ordinal (8)                       what may be handed out from then on → nothing
///     0x05 conversation's number (4), byte count of the id (1), id, ordinal (8)
///                                                      the entries of a message → nothing
///     0x06 conversation's number (4)                   its lane
///     0x07                                             counts of the store, and numbers
///     0x08 number of a deleted conversation (4)        who gets what is still to be told → a number
///     0x09 ordinal (8)                                 a release that is under way → its record
///     0x0A ordinal of an entry (8)                     what was decided on it since → a release
///
/// The keys of the store's own work are ordinals of eight bytes, of which the first is 0.
package enum OutboxKey {
  package static let entryPrefix: UInt8 = 1
  package static let listPrefix: UInt8 = 2
  package static let lanePrefix: UInt8 = 3
  package static let duePrefix: UInt8 = 4
  package static let messagePrefix: UInt8 = 5
  package static let laneRecordPrefix: UInt8 = 6
  package static let totalsPrefix: UInt8 = 7
  package static let sweepPrefix: UInt8 = 8
  package static let releasePrefix: UInt8 = 9
  package static let decisionPrefix: UInt8 = 10

  package static func entry(_ ordinal: UInt64) -> ByteBuffer { key(entryPrefix, ordinal) }

  /// Something that is to go in steps.
  package static func release(_ ordinal: UInt64) -> ByteBuffer { key(releasePrefix, ordinal) }

  /// That an entry was decided about since.
  package static func decision(_ ordinal: UInt64) -> ByteBuffer { key(decisionPrefix, ordinal) }

  private static func key(_ prefix: UInt8, _ ordinal: UInt64) -> ByteBuffer {
    var key = ByteBuffer()
    key.append(prefix)
    key.append(bigEndian: ordinal)
    return key
  }

  /// All entries of a conversation, or one of them.
  package static func listed(_ conversation: UInt32, _ ordinal: UInt64? = nil) -> ByteBuffer {
    key(listPrefix, conversation, ordinal)
  }

  /// What goes in order within a conversation, or one of it.
  package static func lane(_ conversation: UInt32, _ ordinal: UInt64? = nil) -> ByteBuffer {
    key(lanePrefix, conversation, ordinal)
  }

  package static func laneRecord(_ conversation: UInt32) -> ByteBuffer {
    key(laneRecordPrefix, conversation, nil)
  }

  /// A deleted conversation whose entries are gone through.
  package static func sweep(_ conversation: UInt32) -> ByteBuffer {
    key(sweepPrefix, conversation, nil)
  }

  private static func key(
    _ prefix: UInt8, _ conversation: UInt32, _ ordinal: UInt64?
  ) -> ByteBuffer {
    var key = ByteBuffer()
    key.append(prefix)
    key.append(bigEndian: conversation)
    if let ordinal { key.append(bigEndian: ordinal) }
    return key
  }

  package static func due(_ time: Int64, _ ordinal: UInt64) -> ByteBuffer {
    var key = ByteBuffer()
    key.append(duePrefix)
    key.append(bigEndian: KeyEncoding.flipped(time))
    key.append(bigEndian: ordinal)
    return key
  }

  /// The parts of a key of what is due; nil when these bytes are none.
  package static func dueParts(_ key: Bytes) -> (time: Int64, ordinal: UInt64)? {
    guard key.count == 17, key[0] == duePrefix else { return nil }
    return (KeyEncoding.unflipped(key.bigEndian64(at: 1)), key.bigEndian64(at: 9))
  }

  /// The entries of a message, or one of them.
  package static func message(
    _ conversation: UInt32, _ id: MessageID, _ ordinal: UInt64? = nil
  ) -> ByteBuffer {
    var key = key(messagePrefix, conversation, nil)
    key.append(UInt8(id.byteCount))
    key.append(id)
    if let ordinal { key.append(bigEndian: ordinal) }
    return key
  }

  package static func totals() -> ByteBuffer {
    var key = ByteBuffer()
    key.append(totalsPrefix)
    return key
  }

  /// The ordinal that a key of some length ends with; nil when it has another length.
  package static func ordinal(_ key: Bytes, byteCount: Int) -> UInt64? {
    key.count == byteCount && byteCount >= 8 ? key.bigEndian64(at: byteCount - 8) : nil
  }
}
