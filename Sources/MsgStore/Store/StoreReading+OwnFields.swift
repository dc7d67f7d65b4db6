extension StoreReading where Self: ~Copyable {
  /// Returns the client's own fields of an owner, with all values, by the bytes of their names.
  ///
  /// Returns none for a message that is not here or was retracted. ``Message/ownFields`` has the
  /// short ones already. Costs a lookup of the owner, and of a message one for each long value.
  ///
  /// - Parameter owner: The message, the conversation, or the member, by any of its names.
  /// - Throws: `storage`, `corruptRecord`.
  public func ownFields(of owner: FieldOwner) throws(StoreError) -> [OwnField] {
    try access.read { (view) throws(StoreError) in try view.ownFields.fields(of: owner).fields }
  }

  /// Returns the kind of an owner in the client's own terms, or nil for a plain one.
  ///
  /// ``Message/ownKind`` has that of a message already.
  ///
  /// - Parameter owner: The message, the conversation, or the member, by any of its names.
  /// - Throws: `storage`, `corruptRecord`.
  public func ownKind(of owner: FieldOwner) throws(StoreError) -> String? {
    try access.read { (view) throws(StoreError) in try view.ownFields.fields(of: owner).kind }
  }
}
