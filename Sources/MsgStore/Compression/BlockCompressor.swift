package import PageFile

/// A compressor of blocks against one dictionary, which a writer keeps between blocks.
///
/// The encoder for each effort is made for the first block that needs it: that takes longer than a
/// block, and the tables for high compression take up to half a megabyte.
package struct BlockCompressor: ~Copyable, Sendable {
  /// The time that a block is worth.
  package enum Effort: Sendable {
    /// A caller is waiting.
    case fast
    /// No caller is waiting: blocks become a quarter smaller in five to ten times the time.
    case high
  }

  /// Encoders may point into the dictionary, so it is kept alive as long as they are.
  package let dictionary: CompressionDictionary
  private var fast: Codec.Encoder?
  private var high: Codec.Encoder?

  /// Creates a compressor without allocating anything.
  package init(_ dictionary: CompressionDictionary) {
    self.dictionary = dictionary
  }

  /// Appends the text as a compressed block to `buffer`.
  ///
  /// Returns false and appends nothing if the block would not be shorter than the text.
  package mutating func compress(_ text: Bytes, effort: Effort, to buffer: inout ByteBuffer) -> Bool
  {
    guard text.count > 1, text.count <= CompressionDictionary.maximumBlockByteCount else {
      return false
    }
    let start = buffer.count
    buffer.append(zeros: text.count - 1)
    let target = buffer.mutableBytes.slice(start, text.count - 1)
    let byteCount = Codec.encode(text, with: encoder(effort), into: target)
    buffer.truncate(to: start + byteCount)
    return byteCount > 0
  }

  private mutating func encoder(_ effort: Effort) -> Codec.Encoder {
    if let known = effort == .fast ? fast : high { return known }
    let encoder = Codec.encoder(effort, dictionary: dictionary.bytes)
    switch effort {
    case .fast: fast = encoder
    case .high: high = encoder
    }
    return encoder
  }
}
