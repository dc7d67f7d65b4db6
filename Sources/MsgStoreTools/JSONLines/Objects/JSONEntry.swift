import MsgStore

/// An entry that waits to be sent.
///
/// Each kind of task has fields of its own; fields of other kinds may not appear on its line.
extension ExportedEntry: JSONObjectValue {
  static var noun: String { "an entry of the outbox" }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("task", &task)
    switch task {
    case .client: try fields.optional("conversation", &conversation)
    case .setMemberField:
      var id = member ?? ""
      try fields.required("member", &id)
      member = id
    default:
      var id = conversation ?? ""
      try fields.required("conversation", &id)
      conversation = id
    }
    try visitSubject(&fields)
    try fields.optional("state", &state, assumed: .queued)
    var digits = token.map(JSONToken.init)
    try fields.optional("token", &digits)
    token = digits?.token
    try fields.optional("created_ms", &created)
    try fields.optional("attempts", &attemptCount, assumed: 0)
    try fields.optional("failure", &failure)
    var sum = JSONSum(value: contentSum)
    try fields.optional("content_sum", &sum, assumed: JSONSum(value: 0))
    contentSum = sum.value
  }

  /// Visits the fields that name the subject of the entry.
  private mutating func visitSubject(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    switch task {
    case .send, .edit, .retract, .react, .upload, .setMessageField:
      var id = message ?? ""
      try fields.required("message", &id)
      message = id
    default: break
    }
    switch task {
    case .edit:
      var time = editTime ?? Timestamp(microseconds: 0)
      try fields.required("edited_ms", &time)
      editTime = time
    case .react:
      try fields.required("emoji", &emoji)
      try fields.flag("removed", &isRemoved)
    case .upload: try fields.required("attachment", &attachment)
    case .changeMembers:
      try fields.list("members_added", &added)
      try fields.list("members_removed", &removed)
    case .client:
      try fields.required("name", &name)
      var bytes = JSONBytes(payload)
      try fields.optional("payload", &bytes, assumed: JSONBytes([]))
      payload = bytes.bytes
    case .setMessageField, .setConversationField, .setMemberField:
      var time = editTime ?? Timestamp(microseconds: 0)
      try fields.required("set_ms", &time)
      editTime = time
      try fields.optional("field", &field, assumed: "")
    default: break
    }
  }
}

/// A token, as 32 hexadecimal digits.
private struct JSONToken: JSONValue {
  let token: OutboxToken

  init(token: OutboxToken) { self.token = token }

  init(_ scanner: inout JSONScanner) throws(StoreToolError) {
    let place = scanner.mark()
    guard let token = OutboxToken(try scanner.string()) else {
      throw scanner.error("token: expected 32 hexadecimal digits", at: place)
    }
    self.token = token
  }

  func append(to bytes: inout [UInt8]) { token.description.append(to: &bytes) }
}

/// A checksum, as 16 hexadecimal digits: not all programs support every 64-bit number in JSON.
private struct JSONSum: JSONValue, Equatable {
  let value: UInt64

  init(value: UInt64) { self.value = value }

  init(_ scanner: inout JSONScanner) throws(StoreToolError) {
    let place = scanner.mark()
    let bytes = try JSONBytes(&scanner).bytes
    guard bytes.count == 8 else {
      throw scanner.error("checksum: expected 16 hexadecimal digits", at: place)
    }
    value = bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  func append(to bytes: inout [UInt8]) {
    JSONBytes((0..<8).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) })
      .append(to: &bytes)
  }
}
