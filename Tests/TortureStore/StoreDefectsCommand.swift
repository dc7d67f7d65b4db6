import MsgStore
import Subcommands

extension Subcommand {
  /// What `Scripts/defects` goes through besides the defects of the paged file.
  static let defects = Subcommand(
    name: "defects", summary: "the names of the mistakes that can be planted, a line each",
    run: { _ in
      for defect in StoreDefect.allCases { print(defect) }
      return 0
    })
}
