/// Writes records as lines of JSON, always the same bytes for the same record.
///
/// Fields stand in one order, nothing is escaped that need not be, there are no blanks, and what a
/// reader would assume anyway is left out. See docs/message-format.md, J-9.
package enum JSONLineWriter {
  /// Appends a line and its line feed.
  package static func append(_ record: JSONRecord, to bytes: inout [UInt8]) {
    record.append(to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
  }
}
