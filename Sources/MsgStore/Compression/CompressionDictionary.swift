import CLZ4
package import PageFile

/// Bytes that blocks are compressed against: what a block shares with them it only refers to.
///
/// Immutable and never moved, so any number of readers use one at once, and the states of LZ4 that
/// were prepared with it may point into it.
package final class CompressionDictionary: Sendable {
  /// The most that one can hold: a match reaches back this far and no further.
  package static let byteCountMax = 65_535
  /// The longest text that a block may stand for.
  package static let blockByteCountMax = TextCompression.textByteCountMax

  /// No bytes at all, so that a store without a dictionary needs no other code.
  package static let none = CompressionDictionary(copying: .empty, version: 0)

  /// Which of the store's dictionaries this is.
  package let version: UInt32
  private let content: ByteBuffer

  /// A copy of the bytes; nil when they are more than `byteCountMax`.
  package convenience init?(_ bytes: Bytes, version: UInt32) {
    guard bytes.count <= Self.byteCountMax else { return nil }
    self.init(copying: bytes, version: version)
  }

  private init(copying bytes: Bytes, version: UInt32) {
    var content = ByteBuffer(capacity: bytes.count)
    content.append(bytes)
    self.content = content
    self.version = version
  }

  /// What the dictionary holds, for as long as it lives.
  package var bytes: Bytes { content.bytes }

  /// Fills `target` with what a block stands for; false when it is not a block of exactly as many
  /// bytes made with this dictionary, and then `target` may hold anything.
  ///
  /// Any bytes may be given: LZ4 checks each length and each offset of a block against its three
  /// buffers. A block made with another dictionary may well be taken, and gives another text; that
  /// is for the checksum of its page to prevent.
  package func decompress(_ block: Bytes, into target: MutableBytes) -> Bool {
    guard target.count <= Self.blockByteCountMax, block.count <= Self.blockByteCountMax else {
      return false
    }
    // Unsafe: a call into C, with all three lengths taken from the buffers themselves.
    let written = unsafe block.withUnsafeBytes { source in
      unsafe target.withUnsafeMutableBytes { target in
        unsafe bytes.withUnsafeBytes { dictionary in
          unsafe LZ4_decompress_safe_usingDict(
            source.baseAddress, target.baseAddress, Int32(source.count), Int32(target.count),
            dictionary.baseAddress, Int32(dictionary.count))
        }
      }
    }
    return Int(written) == target.count
  }

  /// Adds what a block stands for to `buffer`; false, and nothing added, when it is not a block of
  /// exactly `byteCount` bytes.
  ///
  /// Allocates nothing when the buffer has room for them.
  package func decompress(_ block: Bytes, byteCount: Int, to buffer: inout ByteBuffer) -> Bool {
    guard byteCount >= 0, byteCount <= Self.blockByteCountMax else { return false }
    let start = buffer.count
    buffer.append(zeros: byteCount)
    guard decompress(block, into: buffer.mutableBytes.slice(start, byteCount)) else {
      buffer.truncate(to: start)
      return false
    }
    return true
  }
}
