import BlockTrials
import LZ4Blocks
import PageFile
import Simulation
import Testing

/// Distances as long as two bytes can state, and texts, dictionaries, and lengths of many bytes.
@Suite struct BlockReachTests {
  private let noise: [UInt8] = {
    var random = SeededRandom(seed: 11)
    return SampleTexts.noise(&random, byteCount: 65_600)
  }()

  /// A hundred bytes, repeated that far behind where they begin.
  private func text(distance: Int) -> [UInt8] {
    Array(noise.prefix(distance)) + noise.prefix(100) + noise.suffix(20)
  }

  @Test func aMatchReachesBack65535BytesAndNoFurther() throws {
    let trial = BlockTrial(dictionary: [])
    for distance in [65_534, 65_535] {
      let text = text(distance: distance)
      let high = try trial.encode(text)[1]
      #expect(high.count < text.count + text.count / 255 - 80, "distance \(distance)")
    }
    let text = text(distance: 65_536)
    for block in try trial.encode(text) { #expect(block.count > text.count) }
  }

  @Test func theLargestDictionaryIsUsedFromItsFirstByte() throws {
    let trial = BlockTrial(dictionary: Array(noise.prefix(65_535)))
    let text = Array(noise.prefix(100)) + noise.suffix(20)
    // The table for fast encoding has no room for all places of it.
    let high = try trial.encode(text)[1]
    #expect(high.count < 40)
    // One byte further on, all of it is too far away.
    let later = try trial.encode([noise[400]] + text)[1]
    #expect(later.count > text.count)
  }

  @Test func ofALongerDictionaryTheLastBytesAreUsed() throws {
    let long = Array(noise.prefix(65_600))
    let text = Array(long[65..<165]) + noise.prefix(50)
    Bytes.with(long) { dictionary in
      Bytes.with(text) { text in
        for effort in [BlockEncoder.Effort.fast, .high] {
          let encoder = BlockEncoder(effort, dictionary: dictionary)
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

  /// The tables forget earlier texts by counting, and the count starts over after two thousand
  /// million.
  @Test func anEncoderOutlivesItsCount() throws {
    let count = Scale.count(debug: 3, release: 2200)
    for effort in [BlockEncoder.Effort.fast, .high] {
      let repeatCount = Scale.count(debug: 40, release: 2100)
      let text = Array(repeating: noise.prefix(500), count: repeatCount).flatMap { $0 }
      let encoder = Bytes.with([]) { BlockEncoder(effort, dictionary: $0) }
      var block = ByteBuffer()
      block.append(zeros: 10_000)
      let sizes = Bytes.with(text) { text in
        Set((0..<count).map { _ in encoder.encode(text, into: block.mutableBytes) })
      }
      #expect(sizes.count == 1 && !sizes.contains(0))
    }
  }
}
