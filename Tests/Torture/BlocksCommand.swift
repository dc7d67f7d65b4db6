import BlockTrials
import PageFile
import Simulation
import Subcommands

extension Subcommand {
  /// Encodes and decodes texts with the package's own LZ4 codec beside liblz4, and blocks that are
  /// damaged.
  static let blocks = Subcommand(
    name: "blocks", summary: "the package's own LZ4 codec beside liblz4; damaged blocks",
    run: { arguments in
      let failures = Locked(0)
      let (seeds, missingCount) = SeedRunner.run(arguments) { seed in
        do {
          return try tryTexts(seed)
        } catch {
          print("blocks: seed \(seed): \(error)")
          failures.withLock { $0 += 1 }
          return 1
        }
      }
      let failureCount = failures.withLock { $0 }
      print("blocks: seeds \(seeds), failures: \(failureCount)")
      return failureCount + missingCount
    })

  /// Returns the number of blocks that were decoded.
  private static func tryTexts(_ seed: UInt64) throws(BlockTrial.Disagreement) -> Int {
    var random = SeededRandom(seed: seed)
    let kinds = [0, 0, 100, 3000, 65_535]
    let byteCount = kinds[random.below(kinds.count)]
    let trial = BlockTrial(dictionary: SampleTexts.words(&random, byteCount: byteCount))
    var count = 0
    for _ in 0..<32 {
      let text = SampleTexts.any(&random)
      for block in try trial.encode(text) {
        let damaged = SampleTexts.damage(block, &random)
        try trial.decode(damaged, byteCount: text.count)
        if let described = trial.described(damaged, limit: 1 << 17) {
          try trial.decode(damaged, byteCount: described)
        }
        count += 3
      }
    }
    return count
  }
}
