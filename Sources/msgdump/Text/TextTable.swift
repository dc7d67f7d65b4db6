/// Columns of text.
///
/// The widths are given in advance, so that rows can be printed as they come: the pages of a large
/// store are too many to be kept. In a file or a pipe, a cell wider than its column pushes the rest
/// of its row to the right, and nothing is cut. A terminal's width is respected: see `fitted`.
package struct TextTable {
  /// One column: its title, and the number of terminal columns that its cells usually need.
  package struct Column {
    enum Kind {
      /// Text at the left, which may be cut on a terminal.
      case text
      /// A number at the right; it is never cut.
      case number
      /// A time, which has a short form.
      case time
      /// In JSON only.
      case hidden
    }

    let title: String
    /// The name in JSON.
    let key: String
    var width: Int
    let kind: Kind
    /// True for a name that rows are found by again: no terminal is too narrow for it.
    var isName = false

    package static func text(_ title: String, _ width: Int, key: String? = nil) -> Column {
      Column(title: title, key: key ?? title.jsonKey, width: width, kind: .text)
    }

    package static func name(_ title: String, _ width: Int, key: String? = nil) -> Column {
      var column = text(title, width, key: key)
      column.isName = true
      return column
    }

    fileprivate var minimumWidth: Int {
      isName ? TextTable.minimumNameWidth : TextTable.minimumTextWidth
    }

    package static func number(_ title: String, _ width: Int, key: String? = nil) -> Column {
      Column(title: title, key: key ?? title.jsonKey, width: width, kind: .number)
    }

    package static func time(_ title: String, key: String? = nil) -> Column {
      Column(title: title, key: key ?? title.jsonKey, width: TextTable.timeWidth, kind: .time)
    }

    package static func hidden(_ key: String) -> Column {
      Column(title: "", key: key, width: 0, kind: .hidden)
    }
  }

  /// The widths of a time with all digits and of its short form.
  fileprivate static let timeWidth = 27
  private static let shortTimeWidth = 16
  private static let offsetWidth = 5
  /// The width that a column of text keeps on a narrow terminal.
  fileprivate static let minimumTextWidth = 8
  fileprivate static let minimumNameWidth = 14
  /// The width that the last column gets at least, before others are left out.
  fileprivate static let minimumLastWidth = 12
  private static let gapWidth = 2

  private(set) var columns: [Column]
  /// False for columns that a narrow terminal leaves out.
  private var isShown: [Bool]
  /// True if no row may be wider than the columns.
  private var cuts = false

  package init(_ columns: [Column]) {
    self.columns = columns
    isShown = columns.map { $0.kind != .hidden }
  }

  /// Returns the table with room for times that end with an offset instead of `Z`.
  func withOffsets() -> TextTable {
    var table = self
    for index in columns.indices where columns[index].kind == .time {
      table.columns[index].width += Self.offsetWidth
    }
    return table
  }

  /// Returns the table as it fits into a number of terminal columns.
  ///
  /// Times take their short form, then columns of text get narrower, then columns are left out from
  /// the right, until the last one has room. The first column and names always stay.
  package func fitted(to width: Int) -> TextTable {
    var table = self
    table.cuts = true
    guard let last = isShown.lastIndex(of: true), columns[last].kind == .text else { return table }
    let wanted = max(columns[last].width, Self.minimumLastWidth)
    table.columns[last].width = 0
    func room() -> Int {
      let shown = table.columns.indices.filter { table.isShown[$0] }
      let gaps = Self.gapWidth * (shown.count - 1)
      return width - gaps - shown.reduce(0) { $0 + table.columns[$1].width }
    }
    if room() < wanted {
      for index in table.columns.indices where table.columns[index].kind == .time {
        table.columns[index].width = Self.shortTimeWidth
      }
    }
    while room() < wanted,
      let widest = table.columns.indices.filter({
        $0 != last && table.isShown[$0] && table.columns[$0].kind == .text
          && table.columns[$0].width > table.columns[$0].minimumWidth
      }).max(by: { table.columns[$0].width < table.columns[$1].width })
    {
      table.columns[widest].width -= 1
    }
    while room() < Self.minimumLastWidth,
      let leftOut = table.columns.indices.last(where: {
        $0 != last && $0 != 0 && table.isShown[$0] && !table.columns[$0].isName
      })
    {
      table.isShown[leftOut] = false
    }
    table.columns[last].width = max(room(), Self.minimumLastWidth)
    return table
  }

  /// The width that the last cell of a row is cut to; nil if it is not.
  var lastWidth: Int? { cuts ? isShown.lastIndex(of: true).map { columns[$0].width } : nil }

  /// The line of titles.
  package var header: String { line(columns.map(\.title)) }

  /// Returns one row.
  ///
  /// The last cell is not padded, so no line ends with blanks.
  package func row(_ fields: [Field], _ times: TimeFormat) -> String {
    precondition(fields.count == columns.count, "row: expected one field per column")
    return line(
      zip(columns, fields).map { column, field in
        if case .time(let time) = field, column.width == Self.shortTimeWidth {
          return times.shortText(time)
        }
        return field.text(times)
      })
  }

  /// Returns a line below a row: in its last column, or from the left if rows are cut.
  package func note(_ text: String) -> String {
    guard let last = isShown.lastIndex(of: true), !cuts else { return "    " + text }
    return line(columns.indices.map { $0 == last ? "  \(text)" : "" })
  }

  private func line(_ cells: [String]) -> String {
    var line = ""
    let last = isShown.lastIndex(of: true)
    for index in columns.indices where isShown[index] {
      if !line.isEmpty || index > (isShown.firstIndex(of: true) ?? 0) {
        line += String(repeating: " ", count: Self.gapWidth)
      }
      let column = columns[index]
      let isCut = cuts && column.kind != .number && column.width > 0
      let cell = isCut ? cells[index].shortened(to: column.width) : cells[index]
      let blanks = String(repeating: " ", count: max(0, column.width - cell.displayWidth))
      switch column.kind {
      case .number: line += blanks + cell
      default: line += index == last ? cell : cell + blanks
      }
    }
    while line.hasSuffix(" ") { line.removeLast() }
    return line
  }
}

extension String {
  /// A title as a name in JSON: `last_activity`.
  var jsonKey: String {
    String(lowercased().map { $0 == " " ? "_" : $0 })
  }
}
