/// Writes records as lines of JSON, always the same bytes for the same record.
///
/// Fields are in a fixed order, only necessary escapes are used, there are no blanks, and default
/// values are left out. See docs/message-format.md, J-9.
package enum JSONLineWriter {
  /// Appends a record as a line, with its line feed.
  package static func append(_ record: JSONRecord, to bytes: inout [UInt8]) {
    record.append(to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Appends a text as a JSON string, with the necessary escapes only.
  package static func append(_ text: String, to bytes: inout [UInt8]) {
    text.append(to: &bytes)
  }
}
