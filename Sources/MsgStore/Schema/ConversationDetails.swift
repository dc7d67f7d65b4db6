package import PageFile

/// What seldom changes in a conversation: its name, its title, who takes part.
///
/// See docs/message-format.md, C-7 … C-10.
///
///     size  field
///        1  tag: 1
///        1  flags: 1 with a title
///        1  byte count of the id
///        n  id
///      4+n  with flag 1: title, its byte count first
///     1–10  number of participants, varint
///        n  their numbers, one varint each, up to the end
package struct ConversationDetails: Hashable {
  static let tag: UInt8 = 1
  /// What the key has behind the conversation's number.
  static let keySuffix: UInt8 = 1
  static let titleByteCountMax = 64 << 10
  static let participantCountMax = 10_000
  private static let hasTitle: UInt8 = 1

  package var id: ConversationID
  package var title: String?
  package var participants: [UInt32]

  package init(id: ConversationID, title: String? = nil, participants: [UInt32] = []) {
    self.id = id
    self.title = title
    self.participants = participants
  }

  /// Reads details.
  ///
  /// Any bytes may be given; nil when they are none.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.tag, let flags = reader.byte(), flags <= Self.hasTitle,
      let idByteCount = reader.byte(), idByteCount > 0, let id = reader.take(Int(idByteCount)),
      id.isValidUTF8
    else { return nil }
    // Unsafe, here and below: validated just before.
    self.init(id: ConversationID(unsafe id.uncheckedText()))
    if flags & Self.hasTitle != 0 {
      guard let byteCount = reader.uint32(), byteCount <= UInt32(Self.titleByteCountMax),
        let title = reader.take(Int(byteCount)), title.isValidUTF8
      else { return nil }
      self.title = unsafe title.uncheckedText()
    }
    guard let count = reader.varint(), count <= UInt64(Self.participantCountMax) else {
      return nil
    }
    participants.reserveCapacity(Int(count))
    for _ in 0..<count {
      guard let number = reader.varint(), number <= UInt64(UInt32.max) else { return nil }
      participants.append(UInt32(number))
    }
    guard reader.isAtEnd else { return nil }
  }

  /// Writes the details.
  package func append(to buffer: inout ByteBuffer) {
    buffer.append(Self.tag)
    buffer.append(title == nil ? 0 : Self.hasTitle)
    buffer.append(UInt8(id.byteCount))
    buffer.append(id.string)
    if let title {
      buffer.append(littleEndian: UInt32(title.utf8.count))
      buffer.append(title)
    }
    buffer.append(varint: UInt64(participants.count))
    for number in participants { buffer.append(varint: UInt64(number)) }
  }

  static func key(_ conversation: UInt32) -> ByteBuffer {
    var key = KeyEncoding.key(conversation)
    key.append(keySuffix)
    return key
  }

  /// Under which number the participants tree has this conversation: FNV-1a of the sorted members.
  ///
  /// Others may have the same, so what is found under it is compared. See S-9.
  static func digest(_ participants: [UInt32]) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for number in participants.sorted() {
      for shift in stride(from: UInt32(0), to: 32, by: 8) {
        hash = (hash ^ UInt64(number >> shift & 0xFF)) &* 0x100_0000_01B3
      }
    }
    return hash
  }
}
