/// The stored form of a failure.
///
/// See docs/message-format.md, X-6.
extension SendFailure: FieldRecord {
  package init() { self.init(.other) }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    var (kind, code, text) = (kind, code ?? 0, text)
    fields.code(
      &kind,
      "kind: 0 other, 1 no connection, 2 time out, 3 permission, 4 not found, 5 invalid")
    let hasCode = fields.follows(self.code != nil, "1 with a code, else 0")
    if hasCode { fields.signedVarint(&code, "code") }
    fields.bytes(&text, .varint, in: 0...Self.maximumTextByteCount, "text, UTF-8")
    self = SendFailure(kind, code: hasCode ? code : nil, text: text)
  }
}
