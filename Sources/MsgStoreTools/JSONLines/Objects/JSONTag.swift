import MsgStore

/// A tag that was set or removed.
extension ExportedTag: JSONObjectValue {
  static var noun: String { "a tag" }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("tag", &tag)
    try fields.required("time_ms", &time)
    try fields.flag("removed", &isRemoved)
  }
}

/// The name of a tag that can be set; one of the client's own has `own:` before it.
extension MessageTag: JSONValue {
  init(_ scanner: inout JSONScanner) throws(StoreToolError) {
    let place = scanner.mark()
    let name = try scanner.string()
    if name.utf8.starts(with: Self.ownNamePrefix.utf8) {
      self = .own(String(name.utf8.dropFirst(Self.ownNamePrefix.utf8.count)) ?? "")
    } else if let known = Self.settable.first(where: { $0.name == name }) {
      self = known
    } else {
      throw scanner.error("there is no tag \"\(name)\" that can be set", at: place)
    }
  }

  func append(to bytes: inout [UInt8]) { name.append(to: &bytes) }
}
