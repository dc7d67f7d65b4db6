import Damage
import PageFile
import Subcommands

extension Subcommand {
  /// Flips bits in every structure of small stores, in every state a store is found in.
  ///
  /// Each seed flips the bits next to those of the seed before, until all have had their turn.
  static let flips = Subcommand(
    name: "flips", summary: "flipped bits, and bursts of 2 and 8, in every structure",
    run: { arguments in
      guard let specimens = try? Specimen.all() else {
        print("flips: no store could be made")
        return 1
      }
      let stores = specimens.map { Flips($0) }
      let total = Locked(Flips.Report())
      let start = Stopwatch.processorSeconds()
      let (seeds, missingCount) = SeedRunner.run(arguments) { seed in
        var flipCount = 0
        for store in stores {
          let report = store.run(maximumCount: 4, phase: Int(seed))
          for harm in report.harms { print(harm) }
          total.withLock { $0.add(report) }
          flipCount += report.flipCount
        }
        return flipCount
      }
      let report = total.withLock { $0 }
      let seconds = Stopwatch.processorSeconds() - start
      let speed = Int(Double(report.flipCount) / seconds)
      print(
        """
        flips: seeds \(seeds), stores: \(stores.count)
        \(table(report))
          flips: \(report.flipCount), the longest took \(report.longest)
          \(speed) a second and processor
          harm: \(report.harms.count)
        """)
      return report.harms.count + missingCount
    })

  /// What came of the flips, a line for each structure.
  private static func table(_ report: Flips.Report) -> String {
    func line(_ cells: [String]) -> String {
      "  "
        + cells.enumerated().map { index, cell in
          let padding = String(repeating: " ", count: max(0, (index == 0 ? 16 : 11) - cell.count))
          return index == 0 ? cell + padding : padding + cell
        }.joined()
    }
    let outcomes = Judge.Outcome.allCases.reversed()
    let head = line(["structure", "flips"] + outcomes.map { "\($0)" })
    let rows = Anatomy.Structure.allCases.map { structure in
      let tally = report[structure]
      return line(
        [structure.rawValue, "\(tally.flipCount)"] + outcomes.map { "\(tally[$0])" })
    }
    return ([head] + rows).joined(separator: "\n")
  }
}
