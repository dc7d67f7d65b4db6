extension StoreWriter {
  /// Stores the profile of a member as the server has it.
  ///
  /// Stored in the same commit as everything else of the transaction. Profiles may be received in
  /// any order and any number of times; see ``MemberProfile`` for the one that counts. The member
  /// need not take part in any conversation. Costs two lookups, and a cell if the profile is news.
  ///
  /// - Parameter profile: The whole profile; a name or picture that it lacks is gone.
  /// - Returns: False if the stored profile counts, or is the same; nothing is written then.
  /// - Throws: `input(.identifier)`, `input(.tooLong)`.
  @discardableResult
  public func receive(_ profile: MemberProfile) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.profiles.receive(profile))
  }

  /// Erases the name and the picture of a member, as ``retract(_:in:)`` erases a text.
  ///
  /// After the next checkpoint the bytes are in none of the files. The id of the member stays, as
  /// messages and receipts refer to it, and so do the version and the time of the fetch: what is
  /// received later of that version or an older one is ignored, unless it was fetched later. A
  /// newer profile is stored again. Costs two lookups.
  ///
  /// - Returns: False if no profile of the member is stored.
  /// - Throws: `storage`, `corruptRecord`.
  @discardableResult
  public func forgetMember(_ id: MemberID) throws(StoreError) -> Bool {
    try transaction.perform(try transaction.profiles.forget(id))
  }
}
