package import PageFile

/// Compression of long texts as single LZ4 blocks.
///
/// See docs/message-format.md, E-9.
///
/// Short texts alone do not shrink, so only texts of 512 bytes or more are tried, and a block is
/// kept only if it saves an eighth. All lengths are checked against `maximumTextByteCount` first,
/// so a stated length never causes a larger allocation.
package enum TextCompression {
  /// The longest text, in bytes.
  package static let maximumTextByteCount = TextLimits.maximumStoredByteCount
  /// The shortest text worth compressing, in bytes.
  package static let byteCountMin = 512

  /// Appends the text as an LZ4 block to `buffer`.
  ///
  /// Returns false and appends nothing if compression does not pay off.
  package static func compress(_ text: Bytes, to buffer: inout ByteBuffer) -> Bool {
    guard text.count >= byteCountMin else { return false }
    let start = buffer.count
    let maximumByteCount = text.count - text.count / 8
    buffer.append(zeros: maximumByteCount)
    let target = buffer.mutableBytes.slice(start, maximumByteCount)
    let byteCount = Codec.encode(text, into: target)
    buffer.truncate(to: start + byteCount)
    return byteCount > 0
  }

  /// Appends the decompressed bytes of a block to `buffer`.
  ///
  /// Returns false and appends nothing if the bytes are not a block of exactly `byteCount` bytes.
  package static func decompress(_ block: Bytes, byteCount: Int, to buffer: inout ByteBuffer)
    -> Bool
  {
    CompressionDictionary.none.decompress(block, byteCount: byteCount, to: &buffer)
  }
}
