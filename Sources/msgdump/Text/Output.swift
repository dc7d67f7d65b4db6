import MsgStoreTools

/// Standard output, written in large pieces.
///
/// The caller must flush at the end. Nothing is flushed implicitly, so that a failed write always
/// surfaces as an error.
final class Output {
  private static let pieceByteCount = 64 * 1024

  private var bytes: [UInt8] = []

  init() {
    bytes.reserveCapacity(Self.pieceByteCount * 2)
  }

  /// Writes a line of text.
  func line(_ text: String) throws(ToolError) {
    bytes.append(contentsOf: text.utf8)
    bytes.append(UInt8(ascii: "\n"))
    try flushIfLarge()
  }

  /// Writes a record as a line of JSON.
  func record(_ record: JSONRecord) throws(ToolError) {
    JSONLineWriter.append(record, to: &bytes)
    try flushIfLarge()
  }

  /// Writes bytes that `append` makes.
  func bytes(_ append: (inout [UInt8]) -> Void) throws(ToolError) {
    append(&bytes)
    try flushIfLarge()
  }

  /// Passes all buffered bytes to the system.
  func flush() throws(ToolError) {
    guard !bytes.isEmpty else { return }
    defer { bytes.removeAll(keepingCapacity: true) }
    try System.writeToStandardOutput(bytes)
  }

  private func flushIfLarge() throws(ToolError) {
    if bytes.count >= Self.pieceByteCount { try flush() }
  }
}
