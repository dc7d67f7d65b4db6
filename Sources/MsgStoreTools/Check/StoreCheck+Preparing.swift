import MsgStore
import PageFile

/// Checks of a store whose first opening with a local member was not finished; see `Preparation`.
extension StoreSnapshot {
  /// Returns the findings of a check.
  func check(between: (_ part: Int) -> Void) throws(StoreError) -> [CheckFinding] {
    let found = try check(between: between, localMember: view.localMemberNumber)
    guard !found.isEmpty, let coming = try comingMember() else { return found }
    // Unread messages have been counted for the coming local member in some conversations but not
    // in others. A real fault shows up for both members.
    let other = Set(try check(between: between, localMember: coming).map(\.description))
    return found.filter { other.contains($0.description) }
  }

  /// The member that the store is being prepared for, if any.
  private func comingMember() throws(StoreError) -> UInt32? {
    do throws(StoreError) {
      return try within { (view) throws(StoreError) in
        try view.source.value(of: .comingMember).flatMap { UInt32(exactly: $0) }
      }
    } catch .corruptRecord {
      return nil
    }
  }
}
