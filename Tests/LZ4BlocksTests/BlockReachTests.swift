import BlockTrials
import LZ4Blocks
import PageFile
import Simulation
import Testing

/// Distances as long as two bytes can state, and texts, dictionaries, and lengths of many bytes.
struct BlockReachTests {
  private let noise: [UInt8] = {
    var random = SeededRandom(seed: 11)
    return SampleTexts.noise(&random, byteCount: 65_600)
  }()

  /// A hundred bytes, repeated that far behind where they begin.
  private func text(distance: Int) -> [UInt8] {
    Array(noise.prefix(100)) + Array(repeating: 0, count: distance - 100) + noise.prefix(100)
      + noise.suffix(20)
  }

  @Test func aMatchReachesBack65535BytesAndNoFurther() throws {
    let trial = BlockTrial(dictionary: [])
    for distance in [65_534, 65_535] {
      let block = try trial.encode(text(distance: distance))[0]
      #expect(block.count < 440, "distance \(distance)")
    }
    for block in try trial.encode(text(distance: 65_536)) { #expect(block.count > 440) }
  }

  @Test func theLargestDictionaryIsUsedFromItsFirstByte() throws {
    let trial = BlockTrial(dictionary: Array(noise.prefix(65_535)))
    let text = Array(noise.prefix(100)) + noise.suffix(20)
    // The table for fast encoding has no room for all places of it.
    let high = try trial.encode(text)[0]
    #expect(high.count < 40)
    // One byte further on, all of it is too far away.
    let later = try trial.encode([noise[400]] + text)[0]
    #expect(later.count > text.count)
  }

  @Test func ofALongerDictionaryTheLastBytesAreUsed() throws {
    let long = Array(noise.prefix(65_600))
    let text = Array(long[65..<165]) + noise.prefix(50)
    Bytes.with(long) { dictionary in
      Bytes.with(text) { text in
        let encoder = BlockEncoder(dictionary: dictionary)
        var block = ByteBuffer()
        block.append(zeros: 200)
        let byteCount = encoder.encode(text, into: block.mutableBytes)
        #expect(byteCount > 0 && byteCount < 70)
        var back = ByteBuffer()
        back.append(zeros: text.count)
        let isTaken = BlockDecoder.decode(
          block.bytes.slice(0, byteCount), dictionary: dictionary, into: back.mutableBytes)
        #expect(isTaken && back.bytes.compare(to: text) == 0)
      }
    }
  }

  @Test func longRunsTakeAByteFor255() throws {
    for byteCount in [270, 5000, 70_000] {
      for trial in [BlockTrial(dictionary: []), BlockTrial(dictionary: [1, 1, 1, 1, 2])] {
        let text = Array(repeating: 1 as UInt8, count: byteCount)
        for block in try trial.encode(text) { #expect(block.count <= byteCount / 255 + 20) }
      }
    }
  }

  /// Long texts make the tables and the room behind the dictionary grow, and the next one is as
  /// good.
  @Test func longAndShortTextsTakeTurns() throws {
    var random = SeededRandom(seed: 12)
    let trial = BlockTrial(dictionary: SampleTexts.words(&random, byteCount: 1000))
    let short = SampleTexts.words(&random, byteCount: 400)
    let first = try trial.encode(short)
    for byteCount in [3000, 20_000, 70_000, 10] {
      try trial.encode(SampleTexts.words(&random, byteCount: byteCount))
      #expect(try trial.encode(short) == first)
    }
  }

  /// A caller with limited room takes as much of a text as fits, and puts other bytes behind it.
  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func beginningsOfATextAreBlocksOfTheirOwn(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let dictionary = seed.isMultiple(of: 3) ? [] : SampleTexts.words(&random, byteCount: 3000)
    let encoder = Bytes.with(dictionary) { BlockEncoder(dictionary: $0) }
    for _ in 0..<Scale.count(debug: 60, release: 600) {
      let text = SampleTexts.any(&random)
      let limit = random.below(text.count + 20)
      Bytes.with(text) { encoder.search($0, limit: limit) }
      var end = text.count
      var rest: [UInt8] = []
      for round in 0..<5 {
        let byteCount = random.below(end + 1)
        guard let size = encoder.blockByteCount(first: byteCount) else { continue }
        let expected = Array((text.prefix(end) + rest).prefix(byteCount))
        try expect(encoder, dictionary, size, expected, "seed \(seed)")
        guard round > 1 else { continue }
        end = min(end, byteCount)
        rest = SampleTexts.any(&random)
        Bytes.with(rest) { encoder.replace(from: end, with: $0, limit: .max) }
        let all = Array(text.prefix(end)) + rest
        let whole = try #require(encoder.blockByteCount(first: all.count), "seed \(seed)")
        try expect(encoder, dictionary, whole, all, "seed \(seed), with \(rest.count) bytes behind")
      }
    }
  }

  private func expect(
    _ encoder: BlockEncoder, _ dictionary: [UInt8], _ size: Int, _ text: [UInt8], _ hint: String
  ) throws {
    var block = ByteBuffer()
    block.append(zeros: size)
    let byteCount = encoder.encode(first: text.count, into: block.mutableBytes)
    #expect(byteCount == size, "\(hint): \(byteCount) bytes, said to be \(size)")
    let described = DescribedBlock(
      block.bytes.array(), dictionary: dictionary, limit: text.count)
    #expect(described?.bytes == text && described?.keepsAllRules == true, "\(hint)")
  }
}
