import MsgStore
import PageFile

/// Checks of the client's own fields: a long one has a fact with the length and the digest that its
/// record says, and each such fact has its record.
extension StoreCheck {
  func ownFields(
    _ fields: OwnFields, of id: MessageID, _ name: String, _ view: StoreView,
    in conversation: UInt32
  ) throws(StoreError) {
    for register in fields.all where register.isLarge {
      let key = FactKey.key(conversation, id, ownField: register.name)
      var value = ByteBuffer()
      guard try view.value(of: key.bytes, in: Schema.facts, appendTo: &value) else {
        report("\(name): own field \"\(Self.text(register.name))\": missing value")
        continue
      }
      // A malformed one is reported where facts are checked.
      guard let record = OwnFieldRecord(value.bytes) else { continue }
      if record.register(register.name).packed != register {
        report("\(name): own field \"\(Self.text(register.name))\": another value than stated")
      }
    }
  }

  /// Checks that the record of a message, or of a waiting one, names a long own field.
  func ownField(
    named field: Bytes, of id: MessageID, _ name: String, _ view: StoreView,
    in conversation: UInt32
  ) throws(StoreError) {
    var fields = OwnFields()
    var waiting = ByteBuffer()
    let key = FactKey.prefix(conversation, id, .waiting)
    if try view.value(of: key.bytes, in: Schema.facts, appendTo: &waiting) {
      // A malformed one is reported in its own place.
      guard let facts = WaitingFacts(waiting.bytes) else { return }
      fields = facts.traits.ownFields
      try ownFields(fields, of: id, name, view, in: conversation)
    } else if let (_, message, own) = try view.messages.found(id, in: conversation), own == id {
      fields = message.traits.ownFields
    }
    if fields[field.array()]?.isLarge != true {
      report("\(name): own field \"\(Self.text(field.array()))\" not in its record")
    }
  }

  private static func text(_ name: [UInt8]) -> String { String(decoding: name, as: UTF8.self) }
}
