import PageFile
import Subcommands

extension Subcommand {
  /// Measures how often the sizes of an encrypted store give a right guess away.
  ///
  /// See docs/decisions.md, "Encryption". A count is of trials in each setting.
  static let guesses = Subcommand(
    name: "guesses", summary: "what the sizes of encrypted stores tell about texts in them",
    isMeasurement: true,
    run: { arguments in
      let tables = Locked<[String: Tally]>([:])
      let failures = Locked(0)
      let (seeds, missingCount) = SeedRunner.run(arguments) { seed in
        for (setting, secret) in combinations {
          do {
            let shown = try GuessTrial(setting, secret, seed: seed).run()
            tables.withLock { $0["\(setting) \(secret)", default: Tally()].add(shown) }
          } catch {
            print("guesses: seed \(seed): \(error)")
            failures.withLock { $0 += 1 }
          }
        }
        return 1
      }
      let total = tables.withLock { $0 }
      print("guesses: seeds \(seeds), right ones of \(GuessTrial.guessCount), in percent")
      for (setting, secret) in combinations {
        guard let tally = total["\(setting) \(secret)"] else { continue }
        print("  \(setting.rawValue), \(secret.rawValue): \(tally)")
      }
      return failures.withLock { $0 } + missingCount
    })

  private static let combinations = GuessTrial.Setting.allCases.flatMap { setting in
    GuessTrial.Secret.allCases.map { (setting, $0) }
  }

  /// The trials of one setting.
  private struct Tally: CustomStringConvertible {
    private var trialCount = 0
    /// The right guesses by the log, from the first 1, 4, 16 … rounds.
    private var byRounds: [Int: Double] = [:]
    private var bySlots = 0.0

    mutating func add(_ shown: [GuessTrial.Shown]) {
      trialCount += 1
      var count = 1
      while count <= shown[0].loggedByteCounts.count {
        byRounds[count, default: 0] += Self.share(
          shown.map { Int($0.loggedByteCounts[count - 1]) })
        count *= 4
      }
      bySlots += Self.share(shown.map(\.slotCount))
    }

    /// The chance to take the first of these when one of the smallest is taken.
    private static func share(_ sizes: [Int]) -> Double {
      let least = sizes.min() ?? 0
      return sizes[0] == least ? 1 / Double(sizes.count { $0 == least }) : 0
    }

    var description: String {
      func percent(_ sum: Double) -> String {
        "\((1000 * sum / Double(trialCount)).rounded() / 10)"
      }
      let rounds = byRounds.sorted { $0.key < $1.key }
        .map { "\(percent($0.value)) (\($0.key))" }.joined(separator: ", ")
      return "\(trialCount) trials; by the log \(rounds); by slots \(percent(bySlots))"
    }
  }
}
