import LZ4Blocks
import PageFile
import SystemLZ4

/// One dictionary, against which the package's own codec is tried beside liblz4.
///
///  1. The package's decoder takes a block if the description of the format does, rules for the end
///     included, and gives the same bytes.
///  2. So does liblz4, which also takes some blocks that break the rules for the end, or have an
///     offset of zero.
///  3. Each decoder gives the text from each encoder's block.
///  4. An encoder of the package takes as much room as its block has bytes, and no less.
package final class BlockTrial {
  /// Two codecs that disagree, or one that breaks its own rules.
  package struct Disagreement: Error, CustomStringConvertible {
    package let description: String
  }

  private let dictionary: [UInt8]
  /// Made when it is needed: that takes longer than many blocks.
  private lazy var encoder = LZ4Blocks.BlockEncoder(dictionary: memory.bytes)
  private let memory: ExactMemory

  package init(dictionary: [UInt8]) {
    self.dictionary = dictionary
    memory = ExactMemory(dictionary)
  }

  /// Decodes bytes that may be a block with both decoders.
  ///
  /// Returns true if the package's takes them.
  @discardableResult
  package func decode(_ block: [UInt8], byteCount: Int) throws(Disagreement) -> Bool {
    let described = DescribedBlock(block, dictionary: dictionary, limit: byteCount)
    let expected = described?.bytes.count == byteCount ? described : nil
    let source = ExactMemory(block)
    let own = ExactMemory(byteCount: byteCount)
    let other = ExactMemory(byteCount: byteCount)
    let isTaken = LZ4Blocks.BlockDecoder.decode(
      source.bytes, dictionary: memory.bytes, into: own.mutableBytes)
    let isTakenByOther = SystemLZ4.BlockDecoder.decode(
      source.bytes, dictionary: memory.bytes, into: other.mutableBytes)
    guard let expected, expected.keepsAllRules else {
      try require(!isTaken, "a block is taken that breaks the rules")
      try require(expected != nil || !isTakenByOther, "liblz4 takes bytes that are no block")
      return false
    }
    try require(isTaken && isTakenByOther, "a block is refused: \(isTaken), \(isTakenByOther)")
    try require(own.array() == expected.bytes, "a block gives other bytes than described")
    try require(other.array() == expected.bytes, "liblz4 gives other bytes than described")
    return true
  }

  /// Returns the number of bytes that a block has by the description; nil if it is none, or more
  /// than the limit.
  package func described(_ block: [UInt8], limit: Int) -> Int? {
    DescribedBlock(block, dictionary: dictionary, limit: limit)?.bytes.count
  }

  /// Encodes a text with every encoder, and decodes each block with both decoders.
  ///
  /// Returns the blocks of the package's encoders.
  @discardableResult
  package func encode(_ text: [UInt8]) throws(Disagreement) -> [[UInt8]] {
    var blocks: [[UInt8]] = []
    blocks.append(try encode(text, "dictionary") { encoder.encode($0, into: $1) })
    if dictionary.isEmpty {
      blocks.append(
        try encode(text, "single") { LZ4Blocks.BlockEncoder.encode($0, into: $1) })
      try decodeOther(text)
    }
    return blocks
  }

  private typealias Encode = (Bytes, MutableBytes) -> Int

  private func encode(
    _ text: [UInt8], _ name: String, own: Encode
  ) throws(Disagreement) -> [UInt8] {
    let source = ExactMemory(text)
    // A text that does not compress grows by one byte for each 255, and a few.
    let maximumByteCount = text.count + text.count / 255 + 16
    let room = ExactMemory(byteCount: maximumByteCount)
    let byteCount = own(source.bytes, room.mutableBytes)
    try require(byteCount > 0 && byteCount <= maximumByteCount, "\(name): no block")
    let block = Array(room.array().prefix(byteCount))
    try require(try decode(block, byteCount: text.count), "\(name): a block is not taken")
    let exact = ExactMemory(byteCount: byteCount)
    try require(
      own(source.bytes, exact.mutableBytes) == byteCount && exact.array() == block,
      "\(name): another block with just the room for it")
    let short = ExactMemory(byteCount: byteCount - 1)
    try require(own(source.bytes, short.mutableBytes) == 0, "\(name): a block of too many bytes")
    // A block that did not fit leaves nothing behind for the next one.
    try require(
      own(source.bytes, exact.mutableBytes) == byteCount && exact.array() == block,
      "\(name): another block after a failure")
    let back = ExactMemory(byteCount: text.count)
    let isTaken = LZ4Blocks.BlockDecoder.decode(
      exact.bytes, dictionary: memory.bytes, into: back.mutableBytes)
    try require(isTaken && back.array() == text, "\(name): another text comes back")
    return block
  }

  /// Decodes a block of liblz4's encoder with both decoders.
  private func decodeOther(_ text: [UInt8]) throws(Disagreement) {
    let room = ExactMemory(byteCount: text.count + text.count / 255 + 16)
    let source = ExactMemory(text)
    let byteCount = SystemLZ4.BlockEncoder.encode(source.bytes, into: room.mutableBytes)
    try require(
      try decode(Array(room.array().prefix(byteCount)), byteCount: text.count),
      "liblz4's block is not taken")
  }

  private func require(_ holds: Bool, _ sentence: @autoclosure () -> String) throws(Disagreement) {
    if !holds { throw Disagreement(description: sentence()) }
  }
}

/// Memory of exactly some size, so that the address sanitizer notices a byte too many.
@safe
private final class ExactMemory {
  private let base: UnsafeMutableRawPointer
  private let byteCount: Int

  init(byteCount: Int) {
    unsafe base = .allocate(byteCount: byteCount, alignment: 1)
    unsafe fillMemory(base, with: 0xA5, byteCount: byteCount)
    self.byteCount = byteCount
  }

  convenience init(_ array: [UInt8]) {
    self.init(byteCount: array.count)
    unsafe array.withUnsafeBytes { source in
      guard let start = source.baseAddress else { return }
      unsafe base.copyMemory(from: start, byteCount: source.count)
    }
  }

  deinit { unsafe base.deallocate() }

  var bytes: Bytes { unsafe Bytes(base: UnsafeRawPointer(base), count: byteCount) }

  var mutableBytes: MutableBytes { unsafe MutableBytes(base: base, count: byteCount) }

  func array() -> [UInt8] { bytes.array() }
}
