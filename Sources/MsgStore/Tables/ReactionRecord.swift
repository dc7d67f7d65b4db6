package import PageFile

/// The last known change of one member's reaction with one emoji: added or removed.
///
/// See docs/message-format.md, F-5. The later time wins; at equal times, the removal wins. A
/// removed reaction stays known, so that an older addition does not bring it back.
///
///     key    … 0x02, number of the member (4), bytes of the emoji
///     value  tag: 1; flags: 1 removed; time (8)
package struct ReactionRecord: Hashable {
  private static let tag: UInt8 = 1

  package var time: Int64
  package var isRemoved: Bool

  package init(time: Int64, isRemoved: Bool) {
    self.time = time
    self.isRemoved = isRemoved
  }

  static func key(
    _ conversation: UInt32, _ id: MessageID, member: UInt32, emoji: String
  ) -> ByteBuffer {
    var key = FactKey.key(conversation, id, .reaction, member: member)
    key.append(emoji)
    return key
  }

  /// Decodes a record.
  ///
  /// Returns nil if the bytes are not a valid record; never traps.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.tag, let flags = reader.byte(), flags <= 1,
      let time = reader.uint64(), reader.isAtEnd
    else { return nil }
    self.init(time: Int64(bitPattern: time), isRemoved: flags == 1)
  }

  func append(to buffer: inout ByteBuffer) {
    buffer.append(Self.tag)
    buffer.append(isRemoved ? 1 : 0)
    buffer.append(time: time)
  }

  /// Returns true if this record replaces another.
  func succeeds(_ other: ReactionRecord) -> Bool {
    time == other.time ? isRemoved && !other.isRemoved : time > other.time
  }
}
