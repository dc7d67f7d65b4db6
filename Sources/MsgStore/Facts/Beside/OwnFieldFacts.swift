import PageFile

/// Merges the client's own fields of messages: short ones into their records, long ones beside
/// them.
///
/// See docs/message-format.md, X-9 and F-20. The record has a packed register of each field, so
/// that merging two records needs nothing else. The fact of a long one has the whole register, so
/// that facts can be merged when they move.
extension MessageFacts {
  /// Merges registers with whole values into the fields in a message's record.
  ///
  /// Registers whose values were left out are passed over.
  package func mergeOwnFields(
    _ given: [OwnRegister], into fields: inout OwnFields, of id: MessageID,
    in conversation: UInt32
  ) throws(StoreError) {
    let old = fields
    for register in given where !register.isLarge { fields.merge(register.packed) }
    try writeFacts(given, from: old, to: fields, of: id, in: conversation)
  }

  /// Sets a field in a message's record, whatever is known of it.
  ///
  /// A removal that came with the message leaves nothing.
  @inline(never)
  func setOwnField(
    _ register: OwnRegister, in fields: inout OwnFields, of id: MessageID,
    in conversation: UInt32
  ) throws(StoreError) {
    let old = fields
    if register.isRemoved, register.time == nil {
      fields.forget(register.name)
    } else {
      fields.put(register.packed)
    }
    try writeFacts([register], from: old, to: fields, of: id, in: conversation)
  }

  /// Gives a value its final time, in place of the provisional one, or merges it if another value
  /// counts by now.
  func confirmOwnField(
    _ told: OwnRegister, _ provisional: Int64, in fields: inout OwnFields, of id: MessageID,
    in conversation: UInt32
  ) throws(StoreError) {
    guard let known = fields[told.name], !known.isLocal else { return }
    if known.time == provisional {
      try setOwnField(told, in: &fields, of: id, in: conversation)
    } else {
      try mergeOwnFields([told], into: &fields, of: id, in: conversation)
    }
  }

  /// Writes and removes the facts of long fields that have changed.
  private func writeFacts(
    _ given: [OwnRegister], from old: OwnFields, to fields: OwnFields, of id: MessageID,
    in conversation: UInt32
  ) throws(StoreError) {
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
      if new?.isRemoved ?? true, !register.isRemoved { view.source.isErasing = true }
    }
  }

  /// Removes the facts of long fields that the record of a message does not have (any more).
  ///
  /// Called after records were merged whose facts had been moved to one name.
  func removeUnnamedFields(
    besides fields: OwnFields, of id: MessageID, in conversation: UInt32
  ) throws(StoreError) {
    let prefix = FactKey.prefix(conversation, id, .ownField)
    guard try hasFacts(prefix) else { return }
    for register in try view.facts.ownFields(of: id, in: conversation)
    where fields[register.name] != register.packed {
      try transaction.remove(
        FactKey.key(conversation, id, ownField: register.name), in: Schema.facts)
    }
  }

  /// Copies the long fields under one name of a message to another, unless those there count.
  func copyOwnFields(
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
