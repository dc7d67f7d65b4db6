package import MsgStore
import PageFile

extension MessageStore {
  /// Reads one moment of the store, once.
  ///
  /// `read` runs its closure again on a newer moment when its own has expired, but what a closure
  /// has handed out cannot be taken back. So here an expired moment is an error.
  package func readOneMoment(_ body: (borrowing StoreSnapshot) throws -> Void) throws {
    struct MomentExpired: Error {}
    do {
      try read { snapshot in
        do {
          try body(snapshot)
        } catch StoreError.storage(.snapshotExpired) {
          throw MomentExpired()
        }
      }
    } catch is MomentExpired {
      throw StoreError.storage(.snapshotExpired)
    }
  }
}
