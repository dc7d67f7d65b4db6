import MsgStore

/// Checks of a store whose first opening with a local member was not finished; see `Preparation`.
extension StoreSnapshot {
  /// Returns the findings of a check.
  func check(between: (_ part: Int) -> Void) throws(StoreError) -> [CheckFinding] {
    let found = try check(between: between, localMember: view.localMemberNumber)
    guard !found.isEmpty, let coming = comingMember else { return found }
    // Unread messages have been counted for the coming local member in some conversations but not
    // in others. A real fault shows up for both members.
    let other = Set(try check(between: between, localMember: coming).map(\.description))
    return found.filter { other.contains($0.description) }
  }

  /// The member that the store is being prepared for, if any.
  private var comingMember: UInt32? {
    let coming = view.source[.comingMember]
    return coming == 0 ? nil : UInt32(exactly: coming)
  }
}
