/// The fields that lines of JSON can have, of all kinds of lines.
enum JSONField: UInt16, CaseIterable {
  case kind
  case conversation
  case id
  case sender
  case text
  case timestamp
  case sequence
  case localTime
  case status
  case replyTo
  case participants
  case title
  case upTo
  case localMember

  /// How the field is called in a line.
  var name: String {
    switch self {
    case .kind: "kind"
    case .conversation: "conversation"
    case .id: "id"
    case .sender: "sender"
    case .text: "text"
    case .timestamp: "timestamp_ms"
    case .sequence: "sequence"
    case .localTime: "local_ms"
    case .status: "status"
    case .replyTo: "reply_to"
    case .participants: "participants"
    case .title: "title"
    case .upTo: "up_to"
    case .localMember: "local_member"
    }
  }

  private static let fieldsByName = Dictionary(
    uniqueKeysWithValues: allCases.map { ($0.name, $0) })

  init?(name: String) {
    guard let field = Self.fieldsByName[name] else { return nil }
    self = field
  }
}

/// A set of fields, in one word: a line is checked against several, and there are many lines.
struct JSONFieldSet: ExpressibleByArrayLiteral {
  private var bits: UInt16 = 0

  init(arrayLiteral fields: JSONField...) {
    for field in fields { insert(field) }
  }

  mutating func insert(_ field: JSONField) {
    bits |= 1 << field.rawValue
  }

  func contains(_ field: JSONField) -> Bool {
    bits & 1 << field.rawValue != 0
  }

  /// A field of this set that the other does not have.
  func firstField(notIn other: JSONFieldSet) -> JSONField? {
    let missing = bits & ~other.bits
    return missing == 0 ? nil : JSONField(rawValue: UInt16(missing.trailingZeroBitCount))
  }
}
