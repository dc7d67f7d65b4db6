extension StoreWriter {
  /// Stores the profile of a member as the server has it.
  ///
  /// Stored in the same commit as everything else of the transaction. Profiles may be received in
  /// any order and any number of times; see ``MemberProfile`` for the one that counts. The member
  /// need not take part in any conversation. Costs two lookups, and a cell if the profile is news.
  ///
  /// - Parameter profile: The whole profile; a name or picture that it lacks is gone.
  /// - Returns: False if the stored profile counts, or is the same; nothing is written then.
  /// - Throws: `input(.identifier)`, `input(.tooLong)`, `input(.implausibleTime)`.
  @discardableResult
  public func receive(_ profile: MemberProfile) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.profiles.receive(profile))
  }

  /// Erases the name, the picture, and the own fields of a member.
  ///
  /// The bytes go as those of a text do with ``retract(_:in:)``: after the next checkpoint they are
  /// in none of the files. The id of the member stays, as messages and receipts refer to it, and so
  /// do the version and the time of the fetch: what is received later of that version or an older
  /// one is ignored, unless it was fetched later. A newer profile is stored again, and so is a
  /// later statement about an own field. Costs three lookups.
  ///
  /// - Returns: False if neither a profile nor a field of the member is stored.
  /// - Throws: `storage`, `corruptRecord`.
  @discardableResult
  public func forgetMember(_ id: MemberID) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.ownFieldActs.forgetMember(id))
  }
}
