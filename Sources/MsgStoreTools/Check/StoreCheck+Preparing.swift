import MsgStore
import PageFile

/// A store whose first opening with a local member was not finished, see `Preparation`.
extension StoreSnapshot {
  /// Returns what is not as it must be.
  func check(between: (_ part: Int) -> Void) throws(StoreError) -> [Finding] {
    let found = try check(between: between, localMember: view.localMemberNumber)
    guard !found.isEmpty, let coming = try comingMember() else { return found }
    // Of some conversations it was found out what is unread to who is to be the local member, of the
    // others not: what is wrong is so for both.
    let other = Set(try check(between: between, localMember: coming).map(\.description))
    return found.filter { other.contains($0.description) }
  }

  /// The member that the store is being prepared for.
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
