import MsgStore

/// Reads the fields of one object.
///
/// All fields are located first, and each is read on request. So they may be in any order, and the
/// last field may determine the kind of the object. Fields that were never requested are unknown.
struct JSONObjectReader: JSONFieldVisitor {
  private struct Field {
    let name: String
    /// The offsets of the name and of the value.
    let nameOffset: Int
    let valueOffset: Int
    var isTaken = false
  }

  private var scanner: JSONScanner
  private var fields: [Field] = []
  private var takenCount = 0
  /// The first missing field; reported only if nothing else is wrong.
  private var missing: String?

  /// Locates the fields of the next object, and skips the object.
  init(_ scanner: inout JSONScanner) throws(StoreToolError) {
    try scanner.expect(UInt8(ascii: "{"))
    fields.reserveCapacity(12)
    var isFirst = true
    while try scanner.hasNext(before: UInt8(ascii: "}"), isFirst: &isFirst) {
      let nameOffset = scanner.mark()
      let name = try scanner.string()
      try scanner.expect(UInt8(ascii: ":"))
      let field = Field(name: name, nameOffset: nameOffset, valueOffset: scanner.mark())
      try scanner.passValue()
      if let index = fields.firstIndex(where: { $0.name == name }) {
        guard scanner.isLenient else {
          throw scanner.error("the field \"\(name)\" appears twice", at: nameOffset)
        }
        fields[index] = field
      } else {
        fields.append(field)
      }
    }
    self.scanner = scanner
  }

  /// Checks that all fields were known and none is missing.
  mutating func finish(_ noun: String) throws(StoreToolError) {
    for field in fields where !field.isTaken {
      guard scanner.isLenient else {
        throw scanner.error(
          "unknown field \"\(field.name)\" of \(noun)", at: field.nameOffset)
      }
      scanner.passedOver.fieldCount += 1
      scanner.seek(field.valueOffset)
      try scanner.skipValue()
      try expectEndOfValue()
    }
    if let missing {
      throw .malformedLine(line: scanner.lineNumber, column: nil, reason: missing)
    }
  }

  /// Takes the unknown fields that are kept as the client's own.
  mutating func takeOwnFields() throws(StoreToolError) -> [OwnRegister] {
    guard takenCount < fields.count, !scanner.ownFields.isEmpty else { return [] }
    var found: [OwnRegister] = []
    for field in fields where !field.isTaken && scanner.ownFields.contains(field.name) {
      guard find(field.name), try !takeNull() else { continue }
      let value = try scanner.valueBytes()
      try expectEndOfValue()
      found.append(
        OwnRegister(
          name: Array(field.name.utf8), time: nil, isLocal: false, content: .value(value)))
    }
    return found
  }

  // MARK: Fields

  mutating func required<V: JSONValue>(_ name: String, _ value: inout V) throws(StoreToolError) {
    guard find(name) else { return isMissing(name) }
    guard try !takeNull() else {
      if missing == nil { missing = "the field \"\(name)\" is null" }
      return
    }
    value = try read()
  }

  mutating func nullable<V: JSONValue>(_ name: String, _ value: inout V?) throws(StoreToolError) {
    guard find(name) else { return isMissing(name) }
    value = try takeNull() ? nil : try read()
  }

  mutating func optional<V: JSONValue>(_ name: String, _ value: inout V?) throws(StoreToolError) {
    guard find(name), try !takeNull() else { return }
    value = try read() as V
  }

  mutating func optional<V: JSONValue & Equatable>(
    _ name: String, _ value: inout V, assumed: V
  ) throws(StoreToolError) {
    try always(name, &value)
  }

  mutating func always<V: JSONValue>(_ name: String, _ value: inout V) throws(StoreToolError) {
    guard find(name), try !takeNull() else { return }
    value = try read()
  }

  private mutating func isMissing(_ name: String) {
    if missing == nil { missing = "the field \"\(name)\" is missing" }
  }

  /// Moves to the value of a field, if the object has it.
  private mutating func find(_ name: String) -> Bool {
    guard takenCount < fields.count,
      let index = fields.firstIndex(where: { !$0.isTaken && $0.name == name })
    else { return false }
    fields[index].isTaken = true
    takenCount += 1
    scanner.seek(fields[index].valueOffset)
    return true
  }

  /// Skips a null: a field that may be missing may be null as well.
  private mutating func takeNull() throws(StoreToolError) -> Bool {
    guard try scanner.takeNull() else { return false }
    try expectEndOfValue()
    return true
  }

  private mutating func read<V: JSONValue>() throws(StoreToolError) -> V {
    let value = try V(&scanner)
    try expectEndOfValue()
    return value
  }

  private mutating func expectEndOfValue() throws(StoreToolError) {
    switch scanner.peek() {
    case UInt8(ascii: ","), UInt8(ascii: "}"): break
    default: throw scanner.unexpected("','")
    }
  }
}
