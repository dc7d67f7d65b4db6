import MsgStore
import PageFile
import PageFileSalvage

/// The leaves that a salvage goes through, tree by tree, for its progress.
final class SalvagedLeaves {
  /// The trees that are walked from end to end, in this order.
  private static let trees = [
    Schema.messages, Schema.beside, Schema.ids, Schema.index, Schema.facts, Schema.client,
    Schema.directory, Schema.retention, Schema.work,
  ]

  /// The number of leaves of all these trees.
  let totalCount: Int
  private var finishedCount = 0

  init(_ source: PageSalvage) {
    totalCount = Self.trees.reduce(0) { $0 + source.cursor($1).leafCount }
  }

  /// Returns the number of leaves before the cell at a cursor, including those of finished trees.
  func count(at cursor: SalvageCursor) -> Int { finishedCount + cursor.passedLeafCount }

  /// Counts the tree of a cursor as finished.
  func finish(_ cursor: SalvageCursor) { finishedCount += cursor.leafCount }
}
