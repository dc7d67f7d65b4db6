/// The parts of the input that a lenient reader has passed over.
package final class PassedOver {
  package var lineCount = 0
  package var fieldCount = 0

  package init() {}
}

/// Reads records from lines of JSON.
package struct JSONRecordReader: ~Copyable {
  private var lines: LineReader
  private let isLenient: Bool
  private let ownFields: Set<String>
  package let passedOver = PassedOver()

  /// Creates a reader.
  ///
  /// A lenient reader skips unknown fields and kinds of lines, and takes the last of several values
  /// of one field. A strict reader throws.
  ///
  /// - Parameter ownFields: The names of unknown fields of messages that are kept as the client's
  ///   own.
  package init(
    isLenient: Bool, ownFields: Set<String> = [], source: @escaping LineReader.Source
  ) {
    lines = LineReader(skipsTooLong: isLenient, source: source)
    self.isLenient = isLenient
    self.ownFields = ownFields
  }

  /// The number of the line read last.
  package var lineNumber: Int { lines.lineNumber }
  /// The length of the line read last.
  package private(set) var lineByteCount = 0
  /// The number of bytes read, of this line and of some behind it.
  package var byteCount: Int { lines.byteCount }

  /// Returns the next record; nil at the end.
  package mutating func next() throws -> JSONRecord? {
    defer { passedOver.lineCount += lines.takeTooLongCount() }
    while let line = try lines.next() {
      lineByteCount = line.count
      var scanner = JSONScanner(
        lines.buffer, line: line, lineNumber: lines.lineNumber, isLenient: isLenient,
        passedOver: passedOver, ownFields: ownFields)
      if let record = try JSONRecord(&scanner) { return record }
      passedOver.lineCount += 1
    }
    return nil
  }
}
