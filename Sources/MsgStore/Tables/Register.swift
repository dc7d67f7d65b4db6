import PageFile

/// A text and the time it is from.
///
/// Of two registers the later counts; at equal times, the one with the greater bytes. So all stores
/// agree, in whatever order they learn of them.
///
/// See docs/message-format.md, C-9.
package struct TextRegister: Equatable, FieldRecord {
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

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    var known = time ?? 0
    fields.fixed(&known, "time")
    time = known
    guard fields.follows(text != nil, "1 with a text, else 0") else { return }
    var string = text ?? ""
    fields.bytes(&string, .uint32, in: 0 ... .max, "text")
    text = string
  }
}
