import CLZ4
package import PageFile

/// Long texts as single LZ4 blocks.
///
/// See docs/message-format.md, E-9.
///
/// Short texts alone do not get smaller, so only those of 512 bytes and more are tried, and the block
/// is kept only when it saves an eighth. Everything here is called with lengths that were checked
/// against `textByteCountMax` before, so no declared length makes us allocate more than that.
package enum TextCompression {
  /// The longest text, in bytes.
  package static let textByteCountMax = TextLimits.storedByteCountMax
  /// The shortest text that is worth trying, in bytes.
  package static let byteCountMin = 512

  /// The text as an LZ4 block at the end of `buffer`; false, and nothing added, when that does not
  /// pay.
  package static func compress(_ text: Bytes, to buffer: inout ByteBuffer) -> Bool {
    guard text.count >= byteCountMin else { return false }
    let start = buffer.count
    let byteCountMax = text.count - text.count / 8
    buffer.append(zeros: byteCountMax)
    // Unsafe: calls into C, with both lengths taken from the buffers themselves.
    let byteCount = unsafe text.withUnsafeBytes { source in
      unsafe buffer.mutableBytes.slice(start, byteCountMax).withUnsafeMutableBytes { target in
        unsafe LZ4_compress_default(
          source.baseAddress, target.baseAddress, Int32(source.count), Int32(target.count))
      }
    }
    buffer.truncate(to: start + Int(max(byteCount, 0)))
    return byteCount > 0
  }

  /// Adds what a block decompresses to; false, and nothing added, when it is not a block of exactly
  /// `byteCount` bytes.
  package static func decompress(_ block: Bytes, byteCount: Int, to buffer: inout ByteBuffer)
    -> Bool
  {
    let start = buffer.count
    guard byteCount <= textByteCountMax, block.count <= textByteCountMax else { return false }
    buffer.append(zeros: byteCount)
    // Unsafe: calls into C, with both lengths taken from the buffers themselves.
    let written = unsafe block.withUnsafeBytes { source in
      unsafe buffer.mutableBytes.slice(start, byteCount).withUnsafeMutableBytes { target in
        unsafe LZ4_decompress_safe(
          source.baseAddress, target.baseAddress, Int32(source.count), Int32(target.count))
      }
    }
    guard Int(written) == byteCount else {
      buffer.truncate(to: start)
      return false
    }
    return true
  }
}
