/// Reads records from lines of JSON.
package struct JSONRecordReader: ~Copyable {
  private var lines: LineReader
  private let isLenient: Bool

  /// A lenient reader passes over fields and kinds of lines it does not know, and takes the last
  /// value of two fields with one name.
  ///
  /// A strict one throws.
  package init(isLenient: Bool, source: @escaping LineReader.Source) {
    lines = LineReader(source: source)
    self.isLenient = isLenient
  }

  /// The number of the line read last.
  package var lineNumber: Int { lines.lineNumber }

  /// The next record, nil at the end.
  package mutating func next() throws(ToolError) -> JSONRecord? {
    while let line = try lines.next() {
      var scanner = JSONScanner(
        lines.buffer, line: line, lineNumber: lines.lineNumber, isLenient: isLenient)
      if let record = try JSONRecord(&scanner) { return record }
    }
    return nil
  }
}
