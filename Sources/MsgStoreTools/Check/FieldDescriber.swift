import MsgStore
import PageFile

/// Describes the fields of a record as it reads them: the names of the format's tables, each with
/// its value.
struct FieldDescriber: FieldVisitor {
  /// The fields that are described at most; a record may have thousands of elements.
  private static let maximumFieldCount = 40
  /// The bytes of one field that are shown at most.
  private static let maximumByteCount = 24

  private var fields: FieldReader
  private var texts: [String] = []
  private var omittedCount = 0

  private init(_ bytes: Bytes) { fields = FieldReader(ByteReader(bytes)) }

  /// Returns the fields of a record, or nil if the bytes are not a valid one.
  static func describe<Record: FieldRecord>(_ type: Record.Type, _ bytes: Bytes) -> String? {
    var record = Record()
    var describer = FieldDescriber(bytes)
    record.visit(&describer)
    guard describer.fields.isComplete else { return nil }
    let rest = describer.omittedCount > 0 ? ", \(describer.omittedCount) more" : ""
    return describer.texts.joined(separator: ", ") + rest
  }

  private mutating func add(_ field: StaticString, _ value: @autoclosure () -> String) {
    guard !fields.hasFailed else { return }
    guard texts.count < Self.maximumFieldCount else { return omittedCount += 1 }
    let name = Self.name(field)
    if name != "tag" { texts.append("\(name) \(value())") }
  }

  /// Returns the name of a field without the list of its values.
  private static func name(_ field: StaticString) -> String {
    let name = "\(field)"
    let end = name.firstIndex { $0 == ":" || $0 == ";" || $0 == "(" } ?? name.endIndex
    return name[..<end].trimmed
  }

  /// Returns a value that is stored as bytes in its form for people.
  private static func text(_ value: some FieldBytes) -> String {
    switch value {
    case let text as String: return quoted(text)
    case let id as MessageID: return quoted(id.string)
    case let id as ConversationID: return quoted(id.string)
    case let position as MessagePosition:
      let sequence = position.place.sequence.map { ", sequence \($0)" } ?? ""
      return "\(quoted(position.id.string)) at \(position.place.time) µs\(sequence)"
    case is ConversationSummary: return described(ConversationSummary.self, value)
    default: return Bytes.with(bytes(value)) { hexadecimal($0) }
    }
  }

  private static func described<Record: FieldRecord>(
    _ type: Record.Type, _ value: some FieldBytes
  ) -> String {
    let bytes = bytes(value)
    return "(\(Bytes.with(bytes) { describe(type, $0) } ?? "\(bytes.count) bytes"))"
  }

  private static func bytes(_ value: some FieldBytes) -> [UInt8] {
    var buffer = ByteBuffer()
    value.append(field: &buffer)
    return buffer.bytes.array()
  }

  private static func quoted(_ text: String) -> String {
    let start = text.prefix(maximumByteCount)
    return start.endIndex == text.endIndex ? "\"\(text)\"" : "\"\(start)…\""
  }

  /// Returns the first bytes in hexadecimal digits.
  static func hexadecimal(_ bytes: Bytes) -> String {
    let digits = bytes.slice(0, min(bytes.count, maximumByteCount)).array().map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return digits.joined() + (bytes.count > maximumByteCount ? "… (\(bytes.count) bytes)" : "")
  }

  // MARK: Fields

  mutating func fixed<T: FixedWidthInteger>(_ value: inout T, _ field: StaticString) {
    fields.fixed(&value, field)
    add(field, "\(value)")
  }

  mutating func varint<T: FixedWidthInteger>(
    _ value: inout T, maximum: T, _ field: StaticString
  ) {
    fields.varint(&value, maximum: maximum, field)
    add(field, "\(value)")
  }

  mutating func signedVarint<T: FixedWidthInteger & SignedInteger>(
    _ value: inout T, _ field: StaticString
  ) {
    fields.signedVarint(&value, field)
    add(field, "\(value)")
  }

  mutating func bytes<T: FieldBytes>(
    _ value: inout T, _ length: FieldLength, in byteCounts: ClosedRange<Int>,
    _ field: StaticString
  ) {
    fields.bytes(&value, length, in: byteCounts, field)
    add(field, Self.text(value))
  }

  mutating func elements<T>(
    _ elements: inout [T], of empty: T, count: Int, _ field: StaticString,
    _ visit: (inout Self, inout T) -> Void
  ) {
    // Each takes a byte at least.
    guard count <= fields.remainingByteCount else { return fields.require(false) }
    for _ in 0..<count {
      if fields.hasFailed { return }
      var element = empty
      visit(&self, &element)
      elements.append(element)
    }
  }

  mutating func flags(_ length: FieldLength) { fields.flags(length) }

  mutating func bits(_ mask: UInt64, _ set: UInt64) -> UInt64 { fields.bits(mask, set) }

  mutating func follows(_ isSet: Bool, _ field: StaticString) -> Bool {
    var byte: UInt8 = 0
    fields.fixed(&byte, field)
    fields.require(byte <= 1)
    return byte == 1
  }

  mutating func lastMark(_ isSet: inout Bool, _ field: StaticString) {
    fields.lastMark(&isSet, field)
    if isSet { add(field, "1") }
  }

  mutating func zeros() { fields.zeros() }

  mutating func require(_ isValid: @autoclosure () -> Bool) { fields.require(isValid()) }
}

extension Substring {
  /// The text without blanks at its end.
  fileprivate var trimmed: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
