import CLZ4
package import PageFile

/// Encodes single texts as LZ4 blocks, with the system's liblz4.
package enum BlockEncoder {
  /// The longest text, in bytes.
  package static let maximumTextByteCount = 1 << 30

  /// Encodes a single text fast, without a dictionary, and keeps nothing for the next one.
  ///
  /// Returns the size of the block, or 0 if it does not fit.
  package static func encode(_ text: Bytes, into target: MutableBytes) -> Int {
    guard text.count <= maximumTextByteCount, target.count <= Int32.max else { return 0 }
    // Unsafe: a call into C; both lengths come from the buffers themselves.
    return unsafe text.withUnsafeBytes { source in
      unsafe target.withUnsafeMutableBytes { target in
        let written = unsafe LZ4_compress_default(
          source.baseAddress, target.baseAddress, Int32(source.count), Int32(target.count))
        return max(Int(written), 0)
      }
    }
  }
}
