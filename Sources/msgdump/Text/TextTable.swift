/// Rows of text aligned in columns.
///
/// The widths are given in advance, so that rows can be printed as they come: the pages of a large
/// store are too many to be kept. A cell wider than its column pushes the rest of its row to the
/// right; nothing is cut.
struct TextTable {
  /// One column: its title, and the number of terminal columns that its cells usually need.
  struct Column {
    enum Side {
      case left
      case right
    }

    let title: String
    let width: Int
    let side: Side

    static func left(_ title: String, _ width: Int) -> Column {
      Column(title: title, width: width, side: .left)
    }

    static func right(_ title: String, _ width: Int) -> Column {
      Column(title: title, width: width, side: .right)
    }
  }

  private let columns: [Column]

  init(_ columns: Column...) {
    self.columns = columns
  }

  /// The line of titles.
  var header: String { row(columns.map(\.title)) }

  /// Returns one row.
  ///
  /// The last cell is not padded, so no line ends with blanks.
  func row(_ cells: [String]) -> String {
    precondition(cells.count == columns.count, "row: expected one cell per column")
    var line = ""
    for (index, (column, cell)) in zip(columns, cells).enumerated() {
      if index > 0 { line += "  " }
      let blanks = String(repeating: " ", count: max(0, column.width - cell.displayWidth))
      switch column.side {
      case .right: line += blanks + cell
      case .left: line += index == columns.count - 1 ? cell : cell + blanks
      }
    }
    while line.hasSuffix(" ") { line.removeLast() }
    return line
  }
}
