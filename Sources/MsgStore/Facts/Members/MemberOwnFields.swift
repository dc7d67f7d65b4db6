import PageFile

/// Merges the client's own fields of members.
///
/// See docs/message-format.md, N-8.
extension Profiles {
  /// Merges received statements; returns true if anything changed.
  func receive(_ fields: [OwnField], of id: MemberID) throws(StoreError) -> Bool {
    try id.validate()
    try OwnField.validate(fields)
    return try merge(fields.map(\.register), of: id)
  }

  /// Merges registers with whole values; those whose values were left out are passed over.
  package func merge(_ registers: [OwnRegister], of id: MemberID) throws(StoreError) -> Bool {
    if registers.allSatisfy(\.isLarge) { return false }
    let number = try transaction.memberNumber(of: id)
    let old = try view.directory.ownFields(number)
    var new = old
    for register in registers where !register.isLarge { new.merge(register) }
    guard new != old else { return false }
    transaction.hasAdded = true
    try writeFields(new, replacing: old, of: id, number)
    return true
  }

  @inline(never)
  func writeFields(
    _ new: OwnFields, replacing old: OwnFields, of id: MemberID, _ number: UInt32
  ) throws(StoreError) {
    if new.erases(old), !StoreDefect.forgottenFieldsKept.isPlanted {
      view.source.isErasing = true
    }
    if transaction.hasListeners { transaction.notes.profileChanged(of: id) }
    try transaction.put(MemberFields(new), at: MemberFields.key(number))
  }

  /// Gives a value its final time, in place of the provisional one, or merges it if another value
  /// counts by now.
  func confirmField(
    _ told: OwnRegister, _ provisional: Int64, of number: UInt32
  ) throws(StoreError) {
    let old = try view.directory.ownFields(number)
    var new = old
    new.confirm(told, provisional)
    if new != old { try writeFields(new, replacing: old, of: try view.member(number), number) }
  }

  /// Erases the values of all fields of a member; returns false for a member without fields.
  ///
  /// Removals stay known under a later time, so that earlier statements do not bring values back.
  func forget(_ id: MemberID, _ number: UInt32) throws(StoreError) -> Bool {
    let old = try view.directory.ownFields(number)
    var new = old
    for register in old.all where !register.isRemoved { new.put(register.removedLater) }
    guard new != old else { return false }
    try writeFields(new, replacing: old, of: id, number)
    return true
  }
}
