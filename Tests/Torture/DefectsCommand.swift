import PageFile
import Subcommands

extension Subcommand {
  /// What `Scripts/defects` goes through.
  static let defects = Subcommand(
    name: "defects", summary: "the names of the mistakes that can be planted, a line each",
    run: { _ in
      for defect in Defect.allCases { print(defect) }
      return 0
    })

  /// What `Scripts/interleavings` goes through.
  static let interleaved = Subcommand(
    name: "interleaved", summary: "the names of those that only certain orders of threads show",
    run: { _ in
      for defect in Defect.interleaved { print(defect) }
      return 0
    })
}
