import PageFile

/// Keeps the profiles of members.
///
/// See docs/message-format.md, N-6 and N-7. Profiles are merged by their version, so the order in
/// which they are received makes no difference.
package struct Profiles: TransactionPart {
  package let transaction: Transaction

  /// Stores a profile unless the stored one counts.
  ///
  /// Returns true if the stored profile has changed.
  func receive(_ profile: MemberProfile) throws(StoreError) -> Bool {
    try Self.validate(profile)
    return try merge(ProfileRecord(profile), of: profile.id)
  }

  /// Merges the record of a member.
  package func merge(_ record: ProfileRecord, of id: MemberID) throws(StoreError) -> Bool {
    try id.validate()
    let number = try transaction.memberNumber(of: id)
    if let old = try view.directory.record(number), !old.precedes(record) { return false }
    transaction.hasAdded = true
    try writeRecord(record, of: id, number)
    return true
  }

  /// Erases the profile of a member.
  ///
  /// Returns false if no profile of the member is stored.
  func forget(_ id: MemberID) throws(StoreError) -> Bool {
    guard let number = try view.number(of: id),
      let old = try view.directory.record(number), !old.isForgotten
    else { return false }
    if !StoreDefect.forgottenProfileKept.isPlanted { view.source.isErasing = true }
    try writeRecord(
      ProfileRecord(forgottenAt: old.version, fetchedAt: old.fetchedAt), of: id, number)
    return true
  }

  private func writeRecord(
    _ record: ProfileRecord, of id: MemberID, _ number: UInt32
  ) throws(StoreError) {
    if transaction.hasListeners { transaction.notes.profileChanged(of: id) }
    try transaction.put(record, at: KeyEncoding.key(number))
  }

  private static func validate(_ profile: MemberProfile) throws(StoreError) {
    try profile.id.validate()
    try profile.fetchedAt?.validate()
    try validate(name: profile.name, picture: profile.picture)
  }

  package static func validate(name: String?, picture: String?) throws(StoreError) {
    try validate(name, .memberName, limit: MemberProfile.maximumNameByteCount)
    try validate(picture, .avatar, limit: MemberProfile.maximumPictureByteCount)
  }

  private static func validate(
    _ text: String?, _ value: InputFault.Bytes, limit: Int
  ) throws(StoreError) {
    guard let byteCount = text?.utf8.count, byteCount > limit else { return }
    throw .input(.tooLong(value, byteCount: byteCount, limit: limit))
  }
}

extension Transaction {
  package var profiles: Profiles { Profiles(transaction: self) }
}
