import PageFile

/// The transfers that were begun since the store was opened, and their progress.
///
///  1. A transfer is stored as running for as long as it runs. Only this object knows if its bytes
///     are still being moved. A transfer that is stored as running and is not here was begun by a
///     process that is gone, and reads as queued. So opening a store needs no writing.
///  2. Progress goes here. It is stored with the next commit that is made anyway, or after some
///     seconds when more of it is reported.
package final class RunningTransfers: Sendable {
  /// The key of an attachment's fact, and the direction in which its bytes move.
  struct Key: Hashable, Sendable {
    let fact: [UInt8]
    let direction: TransferDirection
  }

  fileprivate struct Progress {
    var doneByteCount: Int64
    /// The time at which the first unsaved progress was reported.
    var unsavedSince: Timestamp?
  }

  /// The time for which progress may be kept only here, in microseconds.
  static let maximumUnsavedMicroseconds: Int64 = 3_000_000

  private let state = Locked<[Key: Progress]>([:])

  /// Returns the number of bytes done, or nil if the transfer is not running here.
  func doneByteCount(_ key: Key) -> Int64? { state.withLock { $0[key]?.doneByteCount } }

  /// The transfers that begin with a commit, as they were before it.
  struct Former {
    fileprivate var progress: [Key: Progress?] = [:]
  }

  /// Records transfers that begin.
  ///
  /// Must be called before their commit is visible, so that no reader takes them for queued. If it
  /// never is, `takeBack` gets the result.
  func begin(_ changes: [Key: Int64?]) -> Former {
    var former = Former()
    if changes.isEmpty { return former }
    state.withLock { state in
      for case (let key, let byteCount?) in changes {
        former.progress.updateValue(state[key], forKey: key)
        state[key] = Progress(doneByteCount: byteCount)
      }
    }
    return former
  }

  /// Forgets that transfers have begun.
  func takeBack(_ former: Former) {
    if former.progress.isEmpty { return }
    state.withLock { state in
      for (key, progress) in former.progress { state[key] = progress }
    }
  }

  /// Removes transfers that have ended.
  func end(_ changes: [Key: Int64?]) {
    if changes.isEmpty { return }
    state.withLock { state in
      for case (let key, nil) in changes { state[key] = nil }
    }
  }

  /// Records progress.
  ///
  /// Returns true if it should be stored now, and nil if the transfer is not running.
  func report(_ byteCount: Int64, _ key: Key, at now: Timestamp) -> Bool? {
    state.withLock { state in
      guard var progress = state[key] else { return nil }
      if progress.doneByteCount != byteCount {
        progress.doneByteCount = byteCount
        if progress.unsavedSince == nil { progress.unsavedSince = now }
        state[key] = progress
      }
      guard let since = progress.unsavedSince else { return false }
      // A clock that was set back says nothing about the age: then progress is stored, too.
      let (age, isOverflow) = now.microseconds.subtractingReportingOverflow(since.microseconds)
      return isOverflow || age < 0 || age >= Self.maximumUnsavedMicroseconds
    }
  }

  /// Returns the progress that is not stored.
  func unsaved() -> [Key: Int64] {
    state.withLock { state in
      var unsaved: [Key: Int64] = [:]
      for (key, progress) in state where progress.unsavedSince != nil {
        unsaved[key] = progress.doneByteCount
      }
      return unsaved
    }
  }

  /// Marks progress as stored, except for transfers that have moved on since it was looked up.
  func wereSaved(_ saved: [Key: Int64]) {
    if saved.isEmpty { return }
    state.withLock { state in
      for (key, byteCount) in saved where state[key]?.doneByteCount == byteCount {
        state[key]?.unsavedSince = nil
      }
    }
  }
}
