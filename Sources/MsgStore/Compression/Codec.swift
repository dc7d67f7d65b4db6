import LZ4Blocks
import PageFile

#if SYSTEM_LZ4
  import SystemLZ4
#endif

/// The LZ4 codec of this build.
///
/// Blocks of segments are always made by the package's own encoder: it takes as many messages as
/// fit in one search, and has no state to copy for each block. Single texts are encoded, and all
/// blocks decoded, by the system's liblz4; without the trait `SystemLZ4`, and where no liblz4 can
/// be linked, by the package's own codec. Their blocks of single texts differ in bytes, and each
/// reads those of the other.
package enum Codec {
  typealias Encoder = LZ4Blocks.BlockEncoder

  /// Encodes a single text fast, without a dictionary.
  static func encode(_ text: Bytes, into target: MutableBytes) -> Int {
    #if SYSTEM_LZ4
      SystemLZ4.BlockEncoder.encode(text, into: target)
    #else
      LZ4Blocks.BlockEncoder.encode(text, into: target)
    #endif
  }

  /// Decodes a block that was made with a dictionary.
  ///
  /// Returns false if the bytes are not a block for exactly the size of `target`. Never traps.
  static func decode(_ block: Bytes, dictionary: Bytes, into target: MutableBytes) -> Bool {
    #if SYSTEM_LZ4
      SystemLZ4.BlockDecoder.decode(block, dictionary: dictionary, into: target)
    #else
      LZ4Blocks.BlockDecoder.decode(block, dictionary: dictionary, into: target)
    #endif
  }
}
