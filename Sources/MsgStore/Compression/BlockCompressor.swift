import LZ4Blocks
package import PageFile

/// A compressor of blocks against one dictionary, which a writer keeps between blocks.
///
/// The encoder is made for the first block: that takes longer than a block, and its tables take a
/// quarter of a megabyte.
package struct BlockCompressor: ~Copyable, Sendable {
  package let dictionary: CompressionDictionary
  private var known: Codec.Encoder?

  /// Creates a compressor without allocating anything.
  package init(_ dictionary: CompressionDictionary) {
    self.dictionary = dictionary
  }

  var encoder: Codec.Encoder {
    mutating get {
      if let known { return known }
      let encoder = Codec.Encoder(dictionary: dictionary.bytes)
      known = encoder
      return encoder
    }
  }

  /// Appends the text as a compressed block to `buffer`.
  ///
  /// Returns false and appends nothing if the block would not be shorter than the text.
  package mutating func compress(_ text: Bytes, to buffer: inout ByteBuffer) -> Bool {
    guard text.count > 1, text.count <= CompressionDictionary.maximumBlockByteCount else {
      return false
    }
    let encoder = encoder
    let start = buffer.count
    let byteCount = encoder.encode(text, into: buffer.extend(by: text.count - 1))
    buffer.truncate(to: start + byteCount)
    return byteCount > 0
  }
}
