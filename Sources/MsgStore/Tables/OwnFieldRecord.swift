package import PageFile

/// An own field whose value is too long to lie with its owner: the whole of its register but the
/// name, which the key has.
///
/// See docs/message-format.md, F-20.
package struct OwnFieldRecord: StoredRecord, Equatable {
  package static let table = Table(Schema.facts, "own field")

  package private(set) var isLocal = false
  package private(set) var time: Int64?
  package private(set) var value: [UInt8] = []

  package init() {}

  /// Creates the record of a register; nil if its value is not a long one.
  package init?(_ register: OwnRegister) {
    guard case .value(let value) = register.content,
      value.count > OwnField.maximumPackedByteCount
    else { return nil }
    (isLocal, time, self.value) = (register.isLocal, register.time, value)
  }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.tag(1)
    fields.flags(.byte)
    fields.mark(1, &isLocal)
    fields.optional(2, &time, or: 0) { $0.fixed(&$1, "time") }
    fields.bytes(
      &value, .rest, in: OwnField.maximumPackedByteCount + 1...OwnField.maximumByteCount, "value")
  }

  /// Returns the register with the whole value.
  package func register(_ name: [UInt8]) -> OwnRegister {
    OwnRegister(name: name, time: time, isLocal: isLocal, content: .value(value))
  }
}

extension FactKey {
  /// Returns the key of a long own field.
  @inline(never)
  package static func key(
    _ conversation: UInt32, _ id: MessageID, ownField name: [UInt8]
  ) -> ByteBuffer {
    var key = prefix(conversation, id, .ownField)
    key.append(name)
    return key
  }

  /// Returns true if the bytes of a key behind the kind are the name of an own field.
  package static func isOwnFieldName(_ rest: Bytes) -> Bool {
    1...OwnField.maximumNameByteCount ~= rest.count && rest.isText
  }
}

extension FactReader {
  /// Returns the long own fields among the facts of a message, with their values.
  package func ownFields(
    of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> [OwnRegister] {
    var found: [OwnRegister] = []
    let prefix = FactKey.prefix(conversation, id, .ownField)
    try forEachFact(prefix) { (rest, value) throws(StoreError) in
      guard FactKey.isOwnFieldName(rest), let record = OwnFieldRecord(value) else {
        throw view.corrupt(Schema.facts, "message \"\(id)\": malformed own field")
      }
      found.append(record.register(rest.array()))
    }
    return found
  }

  /// Returns own fields with the values that lie among the facts.
  package func whole(
    _ fields: OwnFields, of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> OwnFields {
    guard fields.hasLarge else { return fields }
    var whole = fields
    for register in fields.all where register.isLarge {
      let key = FactKey.key(conversation, id, ownField: register.name)
      let record: OwnFieldRecord? = try view.record(key)
      guard let record, record.register(register.name).packed == register else {
        throw view.corrupt(
          Schema.facts, "message \"\(id)\": missing or wrong value of a long own field")
      }
      whole.put(record.register(register.name))
    }
    return whole
  }
}
