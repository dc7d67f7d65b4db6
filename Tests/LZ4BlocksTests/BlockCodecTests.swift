import BlockTrials
import PageFile
import Simulation
import Testing

/// The package's own codec beside liblz4, both ways.
///
/// `torture blocks` does the same a million times.
struct BlockCodecTests {
  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func textsComeBackFromTheBlocksOfBothCodecs(_ part: UInt64) throws {
    let seed = UInt64.random(in: 0..<1 << 32) &+ part
    print("seed \(seed)")
    var random = SeededRandom(seed: seed)
    for _ in 0..<Scale.count(debug: 8, release: 200) {
      let dictionaryByteCount = random.once(in: 3) ? 0 : random.below(3000)
      let trial = BlockTrial(
        dictionary: SampleTexts.words(&random, byteCount: dictionaryByteCount))
      for _ in 0..<4 { try trial.encode(SampleTexts.any(&random)) }
    }
  }

  @Test func textsOfEverySmallSizeComeBack() throws {
    var random = SeededRandom(seed: 5)
    let trials = [[], [7], SampleTexts.words(&random, byteCount: 40)]
      .map { BlockTrial(dictionary: $0) }
    for byteCount in 0...40 {
      for trial in trials {
        try trial.encode(Array(repeating: 7, count: byteCount))
        try trial.encode(SampleTexts.words(&random, byteCount: byteCount))
      }
    }
  }

  @Test func everyTruncationOfABlockIsJudgedAsDescribed() throws {
    var random = SeededRandom(seed: 6)
    let trial = BlockTrial(dictionary: SampleTexts.words(&random, byteCount: 500))
    let text = SampleTexts.words(&random, byteCount: Scale.count(debug: 300, release: 2000))
    for block in try trial.encode(text) {
      for count in 0..<block.count {
        let isTaken = try trial.decode(Array(block.prefix(count)), byteCount: text.count)
        #expect(!isTaken)
      }
    }
  }

  /// Every value of every byte of short blocks, and changes of several bytes of longer ones.
  @Test func mutatedBlocksAreJudgedAsDescribed() throws {
    let seed = UInt64.random(in: 0..<1 << 32)
    print("seed \(seed)")
    var random = SeededRandom(seed: seed)
    let trial = BlockTrial(dictionary: SampleTexts.words(&random, byteCount: 300))
    let short = try trial.encode(SampleTexts.words(&random, byteCount: 60))[0]
    for index in short.indices {
      for value in stride(from: 0, through: 255, by: Scale.count(debug: 5, release: 1)) {
        var block = short
        block[index] = UInt8(value)
        try trial.decode(block, byteCount: 60)
      }
    }
    for _ in 0..<Scale.count(debug: 40, release: 2000) {
      let text = SampleTexts.any(&random)
      for block in try trial.encode(text) {
        let damaged = SampleTexts.damage(block, &random)
        try trial.decode(damaged, byteCount: text.count)
        if let byteCount = trial.described(damaged, limit: 1 << 17) {
          try trial.decode(damaged, byteCount: byteCount)
        }
      }
    }
  }

  @Test func noiseIsJudgedAsDescribed() throws {
    var random = SeededRandom(seed: 8)
    let trial = BlockTrial(dictionary: [])
    for _ in 0..<Scale.count(debug: 1500, release: 50_000) {
      var block = SampleTexts.noise(&random, byteCount: random.below(30))
      // Short lengths and offsets are more likely to be taken.
      for index in block.indices where !random.once(in: 3) { block[index] &= 0x31 }
      let byteCount = trial.described(block, limit: 1 << 12) ?? random.below(64)
      try trial.decode(block, byteCount: byteCount)
    }
  }
}
