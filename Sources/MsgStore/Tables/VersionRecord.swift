package import PageFile

/// A version of a message's text, stored as a fact.
///
/// See docs/message-format.md, F-4. Read and written by hand: the text may be a megabyte, and is
/// compressed straight into the record.
///
///     key    … 0x01                            the prefix of facts of this kind
///            class (1): 0 original, 1 edit
///            edit time (8), flipped            of an edit
///            digest of the text (8)            of an edit
///     value  tag: 1
///            flags: 1 compressed, 2 with the server's id of the edit
///            byte count of the text, varint
///            mentions
///            with flag 2: byte count and bytes of the id
///            the text or its LZ4 block, up to the end
package struct VersionRecord {
  private static let tag: UInt8 = 1
  private static let isCompressed: UInt8 = 1
  private static let hasName: UInt8 = 2

  static func key(
    _ conversation: UInt32, _ id: MessageID, _ version: TextVersion
  ) -> ByteBuffer {
    var key = FactKey.prefix(conversation, id, .version)
    guard let time = version.editTime else {
      key.append(0)
      return key
    }
    key.append(1)
    key.append(bigEndian: KeyEncoding.flipped(time))
    key.append(bigEndian: digest(version))
    return key
  }

  /// Returns the 64-bit FNV-1a of the text's bytes.
  private static func digest(_ version: TextVersion) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in version.text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return hash
  }

  static func append(_ version: TextVersion, to buffer: inout ByteBuffer) {
    var text = ByteBuffer(capacity: version.text.utf8.count)
    text.append(version.text)
    var block = ByteBuffer(capacity: 0)
    let isShorter = TextCompression.compress(text.bytes, to: &block)
    buffer.append(tag)
    buffer.append((isShorter ? isCompressed : 0) | (version.serverName == nil ? 0 : hasName))
    buffer.append(varint: UInt64(text.count))
    buffer.append(mentions: version.mentions)
    if let name = version.serverName {
      buffer.append(UInt8(name.byteCount))
      buffer.append(name)
    }
    buffer.append(isShorter ? block.bytes : text.bytes)
  }

  /// Decodes a version from the part of its key behind the kind, and its value.
  ///
  /// Returns nil if the bytes are not a valid version; never traps.
  package static func version(_ rest: Bytes, _ value: Bytes) -> TextVersion? {
    var editTime: Int64?
    switch (rest.count, rest.count > 0 ? rest[0] : 0) {
    case (1, 0): break
    case (17, 1): editTime = KeyEncoding.unflipped(rest.bigEndian64(at: 1))
    default: return nil
    }
    var reader = ByteReader(value)
    guard reader.byte() == tag, let flags = reader.byte(), flags <= isCompressed | hasName,
      let byteCount = reader.varint(), byteCount <= UInt64(TextCompression.maximumTextByteCount),
      let mentions = reader.mentions()
    else { return nil }
    var serverName: MessageID?
    if flags & hasName != 0 {
      guard editTime != nil, let nameByteCount = reader.byte(), nameByteCount > 0,
        let name = reader.take(Int(nameByteCount)), name.isValidUTF8
      else { return nil }
      serverName = MessageID(name)
    }
    let payload = reader.rest()
    var text = ByteBuffer(capacity: Int(byteCount))
    if flags & isCompressed != 0 {
      guard TextCompression.decompress(payload, byteCount: Int(byteCount), to: &text) else {
        return nil
      }
    } else {
      guard payload.count == Int(byteCount) else { return nil }
      text.append(payload)
    }
    guard text.bytes.isValidUTF8 else { return nil }
    // Unsafe: validated just above.
    return TextVersion(
      editTime: editTime, text: unsafe text.bytes.uncheckedText(), mentions: mentions,
      serverName: serverName)
  }
}
