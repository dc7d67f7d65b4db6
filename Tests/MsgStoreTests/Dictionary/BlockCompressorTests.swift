import MsgStore
import PageFile
import Testing

extension SeededGenerator {
  fileprivate mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}

/// Blocks against a dictionary, there and back, and blocks that nobody made.
struct BlockCompressorTests {
  /// Text out of the words of a dictionary and some noise.
  private func text(_ random: inout SeededGenerator, count: Int) -> [UInt8] {
    var text: [UInt8] = []
    while text.count < count {
      text += Array("common phrase number \(random.below(40)), ".utf8)
      if random.below(3) == 0 { text += random.bytes(random.below(12)) }
    }
    return Array(text.prefix(count))
  }

  private func dictionary() throws -> CompressionDictionary {
    var bytes: [UInt8] = []
    for number in 0..<40 { bytes += Array("common phrase number \(number), ".utf8) + [0xFF] }
    return try #require(Bytes.with(bytes) { CompressionDictionary($0, version: 7) })
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func blocksComeBack(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let dictionary = try dictionary()
    var compressor = BlockCompressor(dictionary)
    var block = ByteBuffer()
    var back = ByteBuffer()
    for size in [2, 3, 13, 30, 100, 500, 4000, 70_000] {
      let text = text(&random, count: size)
      block.removeAll()
      block.append(1)
      let isShorter = Bytes.with(text) { compressor.compress($0, to: &block) }
      guard isShorter else {
        #expect(block.count == 1 && size < 100, "seed \(seed), \(size) bytes")
        continue
      }
      #expect(block.count - 1 < size)
      back.removeAll()
      back.append(2)
      let isTaken = dictionary.decompress(
        block.bytes.dropFirst(1), byteCount: size, to: &back)
      #expect(isTaken && back.bytes.dropFirst(1).array() == text, "seed \(seed), \(size) bytes")
    }
  }

  /// A state that a block has used must leave nothing behind for the next one.
  @Test func blocksDoNotDependOnThoseBefore() throws {
    var random = SeededGenerator(seed: 9)
    let dictionary = try dictionary()
    var compressor = BlockCompressor(dictionary)
    let texts = (0..<10).map { text(&random, count: 400 + $0 * 100) }
    for text in texts + texts.reversed() {
      var fresh = BlockCompressor(dictionary)
      var block = ByteBuffer()
      var same = ByteBuffer()
      let isShorter = Bytes.with(text) {
        fresh.compress($0, to: &block)
          && compressor.compress($0, to: &same)
      }
      #expect(isShorter && block.bytes.array() == same.bytes.array())
    }
  }

  @Test func aDictionarySaves() throws {
    var random = SeededGenerator(seed: 4)
    let text = text(&random, count: 600)
    var plain = ByteBuffer()
    var shorter = ByteBuffer()
    var compressor = BlockCompressor(.none)
    let isPlainShorter = Bytes.with(text) {
      compressor.compress($0, to: &plain)
    }
    var second = BlockCompressor(try dictionary())
    let isShorter = Bytes.with(text) { second.compress($0, to: &shorter) }
    #expect(isPlainShorter && isShorter && shorter.count < plain.count)
    // Without its dictionary a block points to what is not there.
    var back = ByteBuffer()
    let isTaken = CompressionDictionary.none.decompress(
      shorter.bytes, byteCount: text.count, to: &back)
    #expect(!isTaken && back.count == 0)
  }

  @Test func textsThatDoNotShrinkAddNothing() throws {
    var random = SeededGenerator(seed: 2)
    var compressor = BlockCompressor(try dictionary())
    var block = ByteBuffer()
    for text in [[], [1], random.bytes(20), random.bytes(5000)] {
      let isShorter = Bytes.with(text) { compressor.compress($0, to: &block) }
      #expect(!isShorter && block.count == 0)
    }
    let long = [UInt8](repeating: 1, count: CompressionDictionary.maximumBlockByteCount + 1)
    let isShorter = Bytes.with(long) { compressor.compress($0, to: &block) }
    #expect(!isShorter && block.count == 0)
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func damagedBlocksGiveTheRightNumberOfBytesOrNone(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let dictionary = try dictionary()
    var compressor = BlockCompressor(dictionary)
    var made = ByteBuffer()
    let text = text(&random, count: 900)
    let isShorter = Bytes.with(text) { compressor.compress($0, to: &made) }
    #expect(isShorter)
    let block = made.bytes.array()
    var back = ByteBuffer()
    for _ in 0..<3000 {
      var damaged = random.below(4) == 0 ? random.bytes(random.below(200)) : block
      for _ in 0..<random.below(4) where !damaged.isEmpty {
        damaged[random.below(damaged.count)] = UInt8(random.below(256))
      }
      if random.below(3) == 0 { damaged = Array(damaged.prefix(random.below(damaged.count + 1))) }
      let byteCount = random.below(2) == 0 ? text.count : random.below(2000)
      back.removeAll()
      let isTaken = Bytes.with(damaged) {
        dictionary.decompress($0, byteCount: byteCount, to: &back)
      }
      #expect(back.count == (isTaken ? byteCount : 0))
    }
    for wrong in [-1, 0, text.count - 1, text.count + 1, Int.max] {
      back.removeAll()
      let isTaken = dictionary.decompress(made.bytes, byteCount: wrong, to: &back)
      #expect(!isTaken && back.count == 0)
    }
  }

  @Test func aDictionaryIsNeverLongerThanAMatchReaches() throws {
    let long = [UInt8](repeating: 1, count: CompressionDictionary.maximumByteCount + 1)
    #expect(Bytes.with(long) { CompressionDictionary($0, version: 1) } == nil)
    let most = try #require(
      Bytes.with(Array(long.dropLast())) { CompressionDictionary($0, version: 3) })
    #expect(most.version == 3 && most.bytes.count == 65_535)
    #expect(CompressionDictionary.none.bytes.count == 0 && CompressionDictionary.none.version == 0)
  }
}
