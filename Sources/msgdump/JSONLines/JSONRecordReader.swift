import MsgStore

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
      var parser = JSONRecordParser(
        scanner: JSONScanner(lines.buffer, line: line, lineNumber: lines.lineNumber),
        isLenient: isLenient)
      try parser.readFields()
      if let record = try parser.record() { return record }
    }
    return nil
  }
}

/// Turns one line into a record: first every field into its value, then the values into a record,
/// since the kind may be the last field.
private struct JSONRecordParser {
  private var scanner: JSONScanner
  private let isLenient: Bool

  /// The fields that the line has, and those of them that are not null.
  private var fields: JSONFieldSet = []
  private var fieldsWithValue: JSONFieldSet = []

  private var kind = JSONRecord.Kind.message.rawValue
  private var conversation = ""
  private var id = ""
  private var sender = ""
  private var text = ""
  private var timestamp: Timestamp?
  private var sequence: Int64?
  private var localTime: Timestamp?
  private var status: MessageStatus?
  private var replyTo: MessageID?
  private var participants: [MemberID] = []
  private var title: String?
  private var upTo: MessageID?
  private var localMember = ""

  init(scanner: JSONScanner, isLenient: Bool) {
    self.scanner = scanner
    self.isLenient = isLenient
  }

  // MARK: Fields

  mutating func readFields() throws(ToolError) {
    try scanner.expect(UInt8(ascii: "{"))
    var isFirst = true
    while try scanner.hasNext(before: UInt8(ascii: "}"), isFirst: &isFirst) {
      let place = scanner.mark()
      let name = try scanner.string()
      try scanner.expect(UInt8(ascii: ":"))
      guard let field = JSONField(name: name) else {
        guard isLenient else { throw scanner.error("unknown field \"\(name)\"", at: place) }
        try scanner.skipValue()
        continue
      }
      guard isLenient || !fields.contains(field) else {
        throw scanner.error("the field \"\(name)\" is there twice", at: place)
      }
      fields.insert(field)
      // A field that may be missing may be null as well.
      if try scanner.takeNull() { continue }
      fieldsWithValue.insert(field)
      try readValue(of: field)
    }
    try scanner.expectEnd()
  }

  private mutating func readValue(of field: JSONField) throws(ToolError) {
    switch field {
    case .kind: kind = try scanner.string()
    case .conversation: conversation = try scanner.string()
    case .id: id = try scanner.string()
    case .sender: sender = try scanner.string()
    case .text: text = try scanner.string()
    case .timestamp: timestamp = try readTime()
    case .sequence: sequence = try readInteger()
    case .localTime: localTime = try readTime()
    case .status: status = try readStatus()
    case .replyTo: replyTo = MessageID(try scanner.string())
    case .participants: participants = try readParticipants()
    case .title: title = try scanner.string()
    case .upTo: upTo = MessageID(try scanner.string())
    case .localMember: localMember = try scanner.string()
    }
  }

  private mutating func readInteger() throws(ToolError) -> Int64 {
    let place = scanner.mark()
    let decimal = try scanner.decimal()
    do throws(JSONDecimal.Problem) {
      return try decimal.integer()
    } catch {
      switch error {
      case .notWhole: throw scanner.error("has to be a whole number", at: place)
      case .outOfRange: throw scanner.error("the number does not fit 64 bits", at: place)
      }
    }
  }

  /// Milliseconds, with up to three digits behind the point.
  private mutating func readTime() throws(ToolError) -> Timestamp {
    let place = scanner.mark()
    let decimal = try scanner.decimal()
    do throws(JSONDecimal.Problem) {
      return Timestamp(microseconds: try decimal.integer(timesPowerOfTen: 3))
    } catch {
      switch error {
      case .notWhole: throw scanner.error("times are kept to the microsecond", at: place)
      case .outOfRange:
        throw scanner.error("the time in microseconds does not fit 64 bits", at: place)
      }
    }
  }

  private mutating func readStatus() throws(ToolError) -> MessageStatus {
    let place = scanner.mark()
    let name = try scanner.string()
    guard let status = MessageStatus(name: name) else {
      throw scanner.error("there is no status \"\(name)\"", at: place)
    }
    return status
  }

  private mutating func readParticipants() throws(ToolError) -> [MemberID] {
    try scanner.expect(UInt8(ascii: "["))
    var members: [MemberID] = []
    var isFirst = true
    while try scanner.hasNext(before: UInt8(ascii: "]"), isFirst: &isFirst) {
      members.append(MemberID(try scanner.string()))
    }
    return members
  }

  // MARK: The record

  /// The record, or nil when the line is of an unknown kind and that is fine.
  func record() throws(ToolError) -> JSONRecord? {
    guard let kind = JSONRecord.Kind(rawValue: kind) else {
      if isLenient { return nil }
      throw lineError("unknown kind \"\(kind)\"")
    }
    try check(kind)
    switch kind {
    case .store: return .store(localMember: MemberID(localMember))
    case .conversation:
      return .conversation(ConversationID(id), participants: participants, title: title)
    case .receipt: return .receipt(ConversationID(conversation), upTo: upTo)
    case .message:
      return .message(
        Message(
          id: MessageID(id), in: ConversationID(conversation), from: MemberID(sender), text: text,
          localTime: localTime, serverTimestamp: timestamp, sequence: sequence, status: status,
          replyTo: replyTo))
    }
  }

  private func check(_ kind: JSONRecord.Kind) throws(ToolError) {
    if let field = kind.requiredFields.firstField(notIn: fields) {
      throw lineError("the field \"\(field.name)\" is missing")
    }
    if let field = kind.requiredFields.firstField(notIn: fieldsWithValue), !field.isNullable {
      throw lineError("the field \"\(field.name)\" is null")
    }
    var allowed = kind.fields
    allowed.insert(.kind)
    if !isLenient, let field = fields.firstField(notIn: allowed) {
      throw lineError("the field \"\(field.name)\" does not belong to a \(kind.rawValue)")
    }
  }

  private func lineError(_ reason: String) -> ToolError {
    .badLine(line: scanner.lineNumber, column: nil, reason: reason)
  }
}

extension JSONField {
  /// Whether the field says something by being null, where it has to be there.
  fileprivate var isNullable: Bool { self == .timestamp || self == .upTo }
}
