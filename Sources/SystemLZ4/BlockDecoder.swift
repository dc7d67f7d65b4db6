import CLZ4
package import PageFile

/// Decodes LZ4 blocks with the system's liblz4.
package enum BlockDecoder {
  /// Decodes a block into `target`.
  ///
  /// Returns false if the bytes are not a block for exactly the size of `target` made with this
  /// dictionary; `target` then has undefined content. Never traps: liblz4 checks every length and
  /// offset of a block against its three buffers.
  package static func decode(
    _ block: Bytes, dictionary: Bytes, into target: MutableBytes
  ) -> Bool {
    guard block.count <= Int32.max, target.count <= Int32.max else { return false }
    // Unsafe: a call into C; all three lengths come from the buffers themselves.
    let written = unsafe block.withUnsafeBytes { source in
      unsafe target.withUnsafeMutableBytes { target in
        unsafe dictionary.withUnsafeBytes { dictionary in
          unsafe LZ4_decompress_safe_usingDict(
            source.baseAddress, target.baseAddress, Int32(source.count), Int32(target.count),
            dictionary.baseAddress, Int32(dictionary.count))
        }
      }
    }
    return Int(written) == target.count
  }
}
