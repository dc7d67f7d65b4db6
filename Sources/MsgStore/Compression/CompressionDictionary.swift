package import PageFile

/// The bytes that blocks are compressed against: a block only refers to content shared with them.
///
/// Immutable and never moved, so any number of readers can use it at once, and encoders prepared
/// with it can point into it.
package final class CompressionDictionary: Sendable {
  /// The maximum size: a match reaches back this far and no further.
  package static let maximumByteCount = 65_535
  /// The longest text that a block may represent.
  package static let maximumBlockByteCount = TextCompression.maximumTextByteCount

  /// The empty dictionary, which spares stores without a dictionary a code path of their own.
  package static let none = CompressionDictionary(copying: .empty, version: 0)

  /// The dictionary's number in its store.
  package let version: UInt32
  private let content: ByteBuffer

  /// Copies the bytes; returns nil if there are more than `maximumByteCount`.
  package convenience init?(_ bytes: Bytes, version: UInt32) {
    guard bytes.count <= Self.maximumByteCount else { return nil }
    self.init(copying: bytes, version: version)
  }

  private init(copying bytes: Bytes, version: UInt32) {
    var content = ByteBuffer(capacity: bytes.count)
    content.append(bytes)
    self.content = content
    self.version = version
  }

  /// The content of the dictionary, valid as long as the dictionary lives.
  package var bytes: Bytes { content.bytes }

  /// Decompresses a block into `target`.
  ///
  /// Returns false if the bytes are not a block for exactly the size of `target` made with this
  /// dictionary; `target` then has undefined content. Never traps: the codec checks every length
  /// and offset of a block against its three buffers. A block made with another dictionary may be
  /// accepted and then yields another text; the checksum of its page has to prevent that.
  package func decompress(_ block: Bytes, into target: MutableBytes) -> Bool {
    guard target.count <= Self.maximumBlockByteCount, block.count <= Self.maximumBlockByteCount
    else {
      return false
    }
    return Codec.decode(block, dictionary: bytes, into: target)
  }

  /// Appends the decompressed bytes of a block to `buffer`.
  ///
  /// Returns false and appends nothing if the bytes are not a block of exactly `byteCount` bytes.
  /// Allocates nothing if the buffer has room.
  package func decompress(_ block: Bytes, byteCount: Int, to buffer: inout ByteBuffer) -> Bool {
    guard byteCount >= 0, byteCount <= Self.maximumBlockByteCount else { return false }
    let start = buffer.count
    let target = buffer.extend(by: byteCount)
    guard decompress(block, into: target) else {
      buffer.truncate(to: start)
      return false
    }
    return true
  }
}
