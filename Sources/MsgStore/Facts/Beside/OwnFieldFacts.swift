import PageFile

/// Merges the client's own fields of messages: short ones into their records, long ones beside
/// them.
///
/// See docs/message-format.md, X-9 and F-20. The record has a packed register of each field, so
/// that merging two records needs nothing else. The fact of a long one has the whole register, so
/// that facts can be merged when they move.
package struct OwnFieldFacts: TransactionPart {
  package let transaction: Transaction

  /// Merges registers with whole values into the fields in a message's record.
  ///
  /// Registers whose values were left out are passed over.
  package func merge(
    _ given: [OwnRegister], into fields: inout OwnFields, of id: MessageID,
    in conversation: UInt32
  ) throws(StoreError) {
    let old = fields
    for register in given where !register.isLarge { fields.merge(register.packed) }
    guard fields != old else { return }
    transaction.hasAdded = true
    for register in given {
      guard let record = OwnFieldRecord(register), case let packed = register.packed,
        fields[register.name] == packed, old[register.name] != packed
      else { continue }
      try transaction.put(record, at: FactKey.key(conversation, id, ownField: register.name))
    }
    for register in old.all {
      let new = fields[register.name]
      if new == register { continue }
      if register.isLarge, new?.isLarge != true {
        let key = FactKey.key(conversation, id, ownField: register.name)
        try transaction.remove(key, in: Schema.facts)
      }
      if new?.isRemoved == true, !register.isRemoved { view.source.isErasing = true }
    }
  }

  /// Removes the facts of long fields that the record of a message does not have (any more).
  ///
  /// Called after records were merged whose facts had been moved to one name.
  func removeUnnamed(
    besides fields: OwnFields, of id: MessageID, in conversation: UInt32
  ) throws(StoreError) {
    let prefix = FactKey.prefix(conversation, id, .ownField)
    guard try transaction.messageFacts.hasFacts(prefix) else { return }
    for register in try view.facts.ownFields(of: id, in: conversation)
    where fields[register.name] != register.packed {
      try transaction.remove(
        FactKey.key(conversation, id, ownField: register.name), in: Schema.facts)
    }
  }

  /// Copies the long fields under one name of a message to another, unless those there count.
  func copy(
    of id: MessageID, in conversation: UInt32, to other: MessageID, in target: UInt32
  ) throws(StoreError) {
    for register in try view.facts.ownFields(of: id, in: conversation) {
      let key = FactKey.key(target, other, ownField: register.name)
      let known: OwnFieldRecord? = try view.record(key)
      if let known, !known.register(register.name).packed.precedes(register.packed) { continue }
      if let record = OwnFieldRecord(register) { try transaction.put(record, at: key) }
    }
  }
}

extension Transaction {
  package var ownFieldFacts: OwnFieldFacts { OwnFieldFacts(transaction: self) }
}
