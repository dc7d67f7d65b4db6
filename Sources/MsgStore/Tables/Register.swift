import PageFile

/// A text and the time it is from.
///
/// Of two registers the later counts; at equal times, the one with the greater bytes. So all stores
/// agree, in whatever order they learn of them.
///
/// See docs/message-format.md, C-9.
package struct TextRegister: Hashable {
  /// nil if nothing was said yet.
  package private(set) var time: Int64?
  /// nil if there is no text.
  package private(set) var text: String?

  package init() {}

  package init(_ text: String?, time: Int64) {
    self.text = text
    self.time = time
  }

  package mutating func merge(_ other: TextRegister) {
    guard let otherTime = other.time else { return }
    guard let time else { return self = other }
    if otherTime > time || StoreDefect.olderTitleWins.isPlanted
      || otherTime == time && precedes(other)
    {
      self = other
    }
  }

  private func precedes(_ other: TextRegister) -> Bool {
    guard let text else { return other.text != nil }
    return other.text.map { text.precedesByBytes($0) } ?? false
  }

  package func hasText(_ other: String?) -> Bool {
    guard let text, let other else { return text == nil && other == nil }
    return text.hasSameBytes(as: other)
  }

  // Strings are equal here if their bytes are.
  package static func == (a: Self, b: Self) -> Bool { a.time == b.time && a.hasText(b.text) }

  package func hash(into hasher: inout Hasher) { hasher.combine(time) }

  /// Reads a time and a text.
  init?(_ reader: inout ByteReader) {
    guard let time = reader.uint64(), let hasText = reader.byte(), hasText <= 1 else { return nil }
    self.time = Int64(bitPattern: time)
    guard hasText == 1 else { return }
    guard let byteCount = reader.uint32(), let text = reader.take(Int(byteCount)),
      text.isText
    else { return nil }
    // Unsafe: validated just above.
    self.text = unsafe text.uncheckedText()
  }

  func append(to buffer: inout ByteBuffer) {
    guard let time else { return }
    buffer.append(time: time)
    buffer.append(text == nil ? 0 : 1)
    guard let text else { return }
    buffer.append(littleEndian: UInt32(text.utf8.count))
    buffer.append(text)
  }
}
