import ArgumentParser
import MsgStore
import MsgStoreTools

/// The options that all commands with tables have.
struct ReportOptions: ParsableArguments {
  @Flag(help: "Print each row as an object in a line of JSON; times are in UTC.")
  var json = false

  @OptionGroup var times: TimeOptions

  /// Begins a report on standard output.
  func begin() -> Report {
    Report(
      Output(), form: json ? .json : .text(Terminal.current()), times: times.format)
  }
}

/// The option of all commands that print or take times.
struct TimeOptions: ParsableArguments {
  @Flag(help: "Print and take times in the local time zone; without it, in UTC.")
  var localTime = false

  var format: TimeFormat { localTime ? .local : .utc }
}

/// The output of a command: tables, facts, and lines, as text for people or as lines of JSON.
///
/// In JSON there are only rows and facts, each an object in a line of its own.
final class Report {
  enum Form {
    case text(Terminal)
    case json
  }

  let times: TimeFormat
  let output: Output
  private let form: Form
  private var facts: [(key: String, field: Field)] = []

  init(_ output: Output, form: Form, times: TimeFormat) {
    self.output = output
    self.form = form
    self.times = times
  }

  var isJSON: Bool { if case .json = form { true } else { false } }

  fileprivate var terminal: Terminal {
    if case .text(let terminal) = form { terminal } else { .none }
  }

  /// Begins a table with its line of titles.
  ///
  /// - Parameter name: The name that a row in JSON carries; nil if the report has one table.
  func table(_ name: String? = nil, _ columns: TextTable.Column...) throws(ToolError) -> Rows {
    let rows = Rows(report: self, name: name, table: fitted(TextTable(columns)))
    if !isJSON { try output.line(terminal.styled(rows.table.header, .bold)) }
    return rows
  }

  /// Begins a table without a line of titles.
  func untitledTable(_ columns: TextTable.Column...) -> Rows {
    Rows(report: self, name: nil, table: fitted(TextTable(columns)))
  }

  private func fitted(_ table: TextTable) -> TextTable {
    let table = times.isUTC ? table : table.withOffsets()
    return terminal.width.map { table.fitted(to: $0) } ?? table
  }

  /// Prints a line of text, which JSON leaves out.
  func line(_ text: String, _ style: Style = .plain) throws(ToolError) {
    if !isJSON { try output.line(terminal.styled(text, style)) }
  }

  /// Prints a fact: its name and its value.
  ///
  /// - Parameters:
  ///   - key: The name in JSON; without it, that of the fact.
  ///   - note: Words after the value, which JSON leaves out.
  ///   - shown: False for a fact that this form of the report does not have.
  func fact(
    _ name: String, key: String? = nil, _ field: Field, _ note: String = "", shown: Bool = true
  ) throws(ToolError) {
    guard shown else { return }
    guard !isJSON else {
      return facts.append((key ?? name.jsonKey, field))
    }
    let blanks = String(repeating: " ", count: max(0, 20 - name.displayWidth))
    try output.line(name + blanks + field.text(times) + note)
  }

  /// Ends a group of facts, which JSON prints as one object.
  func endFacts() throws(ToolError) {
    guard isJSON, !facts.isEmpty else { return }
    try output.bytes { Self.append(facts, to: &$0) }
    facts = []
  }

  func flush() throws(ToolError) {
    try endFacts()
    try output.flush()
  }

  private static func append(_ facts: [(key: String, field: Field)], to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "{"))
    for (index, fact) in facts.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      JSONLineWriter.append(fact.key, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      fact.field.appendJSON(to: &bytes)
    }
    bytes.append(contentsOf: "}\n".utf8)
  }

  /// The rows of one table.
  struct Rows {
    fileprivate let report: Report
    fileprivate let name: String?
    fileprivate let table: TextTable

    var isJSON: Bool { report.isJSON }

    /// Prints a row.
    func add(_ fields: [Field], _ style: Style = .plain) throws(ToolError) {
      guard report.isJSON else {
        return try report.line(table.row(fields, report.times), style)
      }
      let own = zip(table.columns, fields).map { (key: $0.key, field: $1) }
      let first = name.map { [(key: "table", field: Field.text($0))] } ?? []
      try report.output.bytes { Report.append(first + own, to: &$0) }
    }

    /// Prints a row whose last cell has marked parts; not for JSON.
    func add(_ fields: [Field], _ excerpt: Excerpt) throws(ToolError) {
      // The marks would count as text if the table placed them.
      let row = table.row(fields + [.text("|")], report.times).dropLast()
      let text = table.lastWidth.map { excerpt.shortened(to: $0) } ?? excerpt
      try report.line(row + text.text { report.terminal.styled($0, .reversed) })
    }

    /// Prints a line below a row, in its last column, which JSON leaves out.
    func note(_ text: String, _ style: Style = .plain) throws(ToolError) {
      try report.line(table.note(text), style)
    }
  }
}
