import PageFile

#if SYSTEM_LZ4
  import SystemLZ4
#else
  import LZ4Blocks
#endif

/// The LZ4 codec of this build: the system's liblz4, or the package's own.
///
/// The targets `SystemLZ4` and `LZ4Blocks` declare the same two types. Their blocks differ in
/// bytes, and each reads those of the other. This file alone knows which of the two is there: the
/// package's own without the trait `SystemLZ4`, and where no liblz4 can be linked.
package enum Codec {
  /// True if blocks are made by the package's own codec: other bytes than those of liblz4.
  package static let isOwn: Bool = {
    #if SYSTEM_LZ4
      false
    #else
      true
    #endif
  }()

  typealias Encoder = BlockEncoder

  /// Returns an encoder; the bytes of the dictionary must outlive it.
  static func encoder(_ effort: BlockCompressor.Effort, dictionary: Bytes) -> Encoder {
    switch effort {
    case .fast: BlockEncoder(.fast, dictionary: dictionary)
    case .high: BlockEncoder(.high, dictionary: dictionary)
    }
  }

  /// Encodes a text into `target`; returns the size of the block, or 0 if it does not fit.
  static func encode(_ text: Bytes, with encoder: Encoder, into target: MutableBytes) -> Int {
    encoder.encode(text, into: target)
  }

  /// Encodes a single text fast, without a dictionary.
  static func encode(_ text: Bytes, into target: MutableBytes) -> Int {
    BlockEncoder.encode(text, into: target)
  }

  /// Decodes a block that was made with a dictionary.
  ///
  /// Returns false if the bytes are not a block for exactly the size of `target`. Never traps.
  static func decode(_ block: Bytes, dictionary: Bytes, into target: MutableBytes) -> Bool {
    BlockDecoder.decode(block, dictionary: dictionary, into: target)
  }
}
