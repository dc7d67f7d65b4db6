import PageFile

/// Merges the client's own fields of conversations.
///
/// See docs/message-format.md, C-23.
extension Conversations {
  /// Merges received statements; returns true if anything changed.
  func receiveFields(_ fields: [OwnField], of id: ConversationID) throws(StoreError) -> Bool {
    try id.validate()
    try OwnField.validate(fields)
    let registers = fields.map(\.register)
    if registers.allSatisfy(\.isLarge) { return false }
    let open = try transaction.conversation(id) { ConversationDetails(id: id) }
    return try mergeFields(registers, of: open.number)
  }

  /// Merges registers with whole values; those whose values were left out are passed over.
  package func mergeFields(
    _ registers: [OwnRegister], of conversation: UInt32
  ) throws(StoreError) -> Bool {
    let old = try view.conversations.ownFields(conversation)
    var new = old
    for register in registers where !register.isLarge { new.merge(register) }
    guard new != old else { return false }
    transaction.hasAdded = true
    try writeFields(new, replacing: old, of: conversation)
    return true
  }

  /// Writes the fields of a conversation; the bytes of a removed value do not stay in the files.
  func writeFields(
    _ new: OwnFields, replacing old: OwnFields, of conversation: UInt32
  ) throws(StoreError) {
    if new.erases(old) { view.source.isErasing = true }
    try transaction.put(ConversationFields(new), at: ConversationFields.key(conversation))
  }

  /// Gives a value its final time, in place of the provisional one, or merges it if another value
  /// counts by now.
  func confirmField(
    _ told: OwnRegister, _ provisional: Int64, of conversation: UInt32
  ) throws(StoreError) {
    let old = try view.conversations.ownFields(conversation)
    var new = old
    new.confirm(told, provisional)
    if new != old { try writeFields(new, replacing: old, of: conversation) }
  }
}
