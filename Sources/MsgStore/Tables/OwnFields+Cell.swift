/// The own fields of a conversation or a member, which lie with whole values in one cell.
///
/// See docs/message-format.md, C-23 and N-8.
extension OwnFields {
  /// Visits fields with whole values, which a record has that nothing is beside.
  mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    var count = all.count
    fields.varint(&count, maximum: OwnField.maximumCount + 1, "number of fields")
    var registers = all
    let empty = OwnRegister(name: [], time: nil, isLocal: false, content: .removed)
    fields.elements(
      &registers, of: empty, count: count, "them, ascending by the bytes of the names"
    ) { fields, register in
      var name = String(decoding: register.name, as: UTF8.self)
      fields.bytes(
        &name, .byte, in: 0...OwnField.maximumNameByteCount, "name, empty: the kind")
      register.name = Array(name.utf8)
      register.isLocal = fields.follows(register.isLocal, "1 if it is local, else 0")
      if fields.follows(register.time != nil, "1 with a time, else 0") {
        var time = register.time ?? 0
        fields.fixed(&time, "the time")
        register.time = time
      }
      if fields.follows(!register.isRemoved, "1 with a value, else 0") {
        var value: [UInt8] = if case .value(let bytes) = register.content { bytes } else { [] }
        fields.bytes(&value, .varint, in: 0...OwnField.maximumByteCount, "the value")
        register.content = .value(value)
      }
    }
    let read = OwnFields(sorted: registers)
    fields.require(read.isOrdered && read.hasValidKind && read.namedCount <= OwnField.maximumCount)
    self = read
  }

  /// Gives a value its final time, in place of the provisional one, or merges it if another value
  /// counts by now.
  mutating func confirm(_ told: OwnRegister, _ provisional: Int64) {
    guard let known = self[told.name], !known.isLocal else { return }
    if known.time == provisional { put(told) } else { merge(told) }
  }

  /// Returns true if these fields lack the value of an older one, whose bytes are to go.
  func erases(_ old: OwnFields) -> Bool {
    old.all.contains { !$0.isRemoved && self[$0.name]?.isRemoved ?? true }
  }

  private var isOrdered: Bool {
    zip(all, all.dropFirst()).allSatisfy { $0.name.lexicographicallyPrecedes($1.name) }
  }

  private var hasValidKind: Bool {
    guard let first = all.first, first.name.isEmpty else { return true }
    guard case .value(let bytes) = first.content else { return !first.isLocal }
    return !first.isLocal && 1...OwnField.maximumKindByteCount ~= bytes.count
      && String(validating: bytes, as: UTF8.self) != nil
  }
}
