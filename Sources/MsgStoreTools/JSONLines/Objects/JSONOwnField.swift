import MsgStore

/// One of the client's own fields, or the kind, which has no name.
struct JSONOwnField: JSONObjectValue, Hashable {
  static let noun = "an own field"
  private(set) var register = OwnRegister(
    name: [], time: nil, isLocal: false, content: .removed)

  init() {}

  init(_ register: OwnRegister) { self.register = register }

  init(_ scanner: inout JSONScanner) throws(StoreToolError) {
    let place = scanner.mark()
    var fields = try JSONObjectReader(&scanner)
    self.init()
    let hasBoth = try visitContent(&fields)
    try fields.finish(Self.noun)
    if hasBoth { throw scanner.error("an own field has both a text and a value", at: place) }
  }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    _ = try visitContent(&fields)
  }

  /// Visits all fields; returns true if the value was given in both forms.
  private mutating func visitContent(
    _ fields: inout some JSONFieldVisitor
  ) throws(StoreToolError) -> Bool {
    var name = register.name.isEmpty ? nil : String(decoding: register.name, as: UTF8.self)
    var (text, value): (String?, [UInt8]?)
    if case .value(let bytes) = register.content {
      text = String(validating: bytes, as: UTF8.self)
      value = text == nil ? bytes : nil
    }
    var time = register.time.map { Timestamp(microseconds: $0) }
    try fields.optional("name", &name)
    try fields.optional("text", &text)
    try fields.bytes("value", &value)
    try fields.optional("time_ms", &time)
    try fields.flag("local", &register.isLocal)
    register.name = Array((name ?? "").utf8)
    register.time = time?.microseconds
    register.content = (text.map { Array($0.utf8) } ?? value).map { .value($0) } ?? .removed
    return text != nil && value != nil
  }
}

extension JSONFieldVisitor {
  /// Visits the client's own fields, which are left out if there are none.
  mutating func ownFields(_ own: inout OwnFields) throws(StoreToolError) {
    let given = own.all.map { JSONOwnField($0) }
    var list = given
    try self.list("own_fields", &list)
    guard list != given else { return }
    own = OwnFields()
    for field in list { own.put(field.register) }
  }
}
