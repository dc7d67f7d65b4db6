import MsgStore
import PageFile

/// Notes the fields and flags of records by their names in the tables of docs/message-format.md:
/// all that there are, or those that a stored record has set.
///
/// A number is set if it is not 0, bytes if there are any, a flag if it is 1. A field whose name
/// lists its values, as a kind or a state does, is one for each of them.
struct FieldNames: FieldVisitor {
  private(set) var names: Set<String> = []
  /// The record that is read; nil to note every field without reading any.
  private var reader: FieldReader?
  private var record = ""

  private init(_ reader: FieldReader?) { self.reader = reader }

  /// Returns all that a record has; its empty fields and lists are visited, too.
  static func all<Record: FieldRecord>(of record: Record) -> Set<String> {
    var visited = record
    var noted = FieldNames(nil)
    noted.visit(&visited)
    return noted.names
  }

  /// Returns what a stored record has set, or nil if the bytes are not a valid one.
  static func set<Record: FieldRecord>(in type: Record.Type, _ bytes: Bytes) -> Set<String>? {
    var visited = Record()
    var noted = FieldNames(FieldReader(ByteReader(bytes)))
    noted.visit(&visited)
    return noted.reader?.isComplete == true ? noted.names : nil
  }

  private mutating func visit<Record: FieldRecord>(_ value: inout Record) {
    let outer = record
    // What an entry is about has other fields for each kind.
    record = (value as? OutboxSubject).map { "OutboxSubject \($0.kind)" } ?? "\(Record.self)"
    value.visit(&self)
    record = outer
  }

  private mutating func note(_ field: StaticString, _ number: UInt64) {
    let field = "\(field)"
    if field == "tag" { return }
    let cases = Self.cases(of: field)
    if cases.isEmpty, reader == nil || number != 0 { names.insert("\(record): \(field)") }
    let areBits = field.hasPrefix("bits") || field.hasPrefix("states")
    for (value, name) in cases
    where reader == nil || (areBits ? number & value != 0 : number == value) {
      names.insert("\(record): \(name)")
    }
  }

  /// Returns the values that the name of a field lists, each with a name of its own.
  private static func cases(of field: String) -> [(value: UInt64, name: String)] {
    if field == "kind ([O-3])" {
      return OutboxKind.allCases.map { (value: UInt64($0.rawValue), name: "kind \($0)") }
    }
    guard let colon = field.firstIndex(of: ":") else { return [] }
    var cases: [(value: UInt64, name: String)] = []
    for part in field[field.index(after: colon)...].split(separator: ",") {
      let text = part.drop { $0 == " " }
      guard let value = UInt64(text.prefix { $0 != " " }) else { return [] }
      cases.append((value: value, name: "\(field[..<colon]) \(text)"))
    }
    return cases
  }

  // MARK: Fields

  mutating func fixed<T: FixedWidthInteger>(_ value: inout T, _ field: StaticString) {
    reader?.fixed(&value, field)
    note(field, UInt64(truncatingIfNeeded: value))
  }

  mutating func varint<T: FixedWidthInteger>(
    _ value: inout T, maximum: T, _ field: StaticString
  ) {
    reader?.varint(&value, maximum: maximum, field)
    note(field, UInt64(truncatingIfNeeded: value))
  }

  mutating func signedVarint<T: FixedWidthInteger & SignedInteger>(
    _ value: inout T, _ field: StaticString
  ) {
    reader?.signedVarint(&value, field)
    note(field, UInt64(truncatingIfNeeded: value))
  }

  mutating func bytes<T: FieldBytes>(
    _ value: inout T, _ length: FieldLength, in byteCounts: ClosedRange<Int>,
    _ field: StaticString
  ) {
    reader?.bytes(&value, length, in: byteCounts, field)
    var buffer = ByteBuffer()
    value.append(field: &buffer)
    note(field, UInt64(buffer.count))
  }

  mutating func part<T: FieldRecord>(_ value: inout T, _ field: StaticString) {
    note(field, 1)
    visit(&value)
  }

  mutating func elements<T>(
    _ elements: inout [T], of empty: T, count: Int, _ field: StaticString,
    _ visit: (inout Self, inout T) -> Void
  ) {
    note(field, UInt64(count))
    guard let known = reader else {
      var element = elements.first ?? empty
      return visit(&self, &element)
    }
    // Each takes a byte at least.
    guard count <= known.remainingByteCount else { return require(false) }
    for _ in 0..<count where reader?.hasFailed == false {
      var element = empty
      visit(&self, &element)
      elements.append(element)
    }
  }

  mutating func flags(_ length: FieldLength) { reader?.flags(length) }

  mutating func has(_ flag: UInt64, _ isSet: Bool) -> Bool { bits(flag, flag) != 0 }

  mutating func bits(_ mask: UInt64, _ set: UInt64) -> UInt64 {
    let found = reader?.bits(mask, set)
    var rest = found ?? mask
    while rest != 0 {
      names.insert("\(record): flag \(rest & (~rest &+ 1))")
      rest &= rest - 1
    }
    return found ?? set
  }

  mutating func follows(_ isSet: Bool, _ field: StaticString) -> Bool {
    var byte: UInt8 = 1
    fixed(&byte, field)
    require(byte <= 1)
    return byte == 1
  }

  mutating func lastMark(_ isSet: inout Bool, _ field: StaticString) {
    reader?.lastMark(&isSet, field)
    note(field, isSet ? 1 : 0)
  }

  mutating func zeros() { reader?.zeros() }

  mutating func require(_ isValid: @autoclosure () -> Bool) { reader?.require(isValid()) }
}
