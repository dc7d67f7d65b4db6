import PageFile

/// The transfers that were begun since the store was opened, and how far they are.
///
///  1. A transfer is stored as running for as long as it runs. Whether somebody still moves its bytes
///     is known here alone: what is stored as running and is not here was begun by a process that is
///     gone, and reads as queued. So nothing has to be written when a store is opened.
///  2. Progress goes here, and is stored with the next commit that is made anyway, or when it has
///     been here for some seconds and more of it is told.
package final class RunningTransfers: Sendable {
  /// The key of an attachment's fact, and which way its bytes move.
  struct Key: Hashable, Sendable {
    let fact: [UInt8]
    let direction: TransferDirection
  }

  private struct Progress {
    var doneByteCount: Int64
    /// When the first progress was told that is not stored.
    var unsavedSince: Timestamp?
  }

  /// How long progress may be here alone, in microseconds.
  static let unsavedMicrosecondsMax: Int64 = 3_000_000

  private let state = Locked<[Key: Progress]>([:])

  /// How many bytes are done; nil when nobody here moves any.
  func doneByteCount(_ key: Key) -> Int64? { state.withLock { $0[key]?.doneByteCount } }

  /// Notes transfers that begin.
  ///
  /// Before the commit that says so can be seen, so that nobody takes them for queued.
  func begin(_ changes: [Key: Int64?]) {
    if changes.isEmpty { return }
    state.withLock { state in
      for case (let key, let byteCount?) in changes {
        state[key] = Progress(doneByteCount: byteCount)
      }
    }
  }

  /// Forgets transfers that have ended.
  func end(_ changes: [Key: Int64?]) {
    if changes.isEmpty { return }
    state.withLock { state in
      for case (let key, nil) in changes { state[key] = nil }
    }
  }

  /// Notes progress; returns whether it should be stored now, and nil when nothing runs.
  func report(_ byteCount: Int64, _ key: Key, at now: Timestamp) -> Bool? {
    state.withLock { state in
      guard var progress = state[key] else { return nil }
      if progress.doneByteCount != byteCount {
        progress.doneByteCount = byteCount
        if progress.unsavedSince == nil { progress.unsavedSince = now }
        state[key] = progress
      }
      guard let since = progress.unsavedSince else { return false }
      // A clock that was set back tells nothing: then it is stored, too.
      let (age, isOverflow) = now.microseconds.subtractingReportingOverflow(since.microseconds)
      return isOverflow || age < 0 || age >= Self.unsavedMicrosecondsMax
    }
  }

  /// The progress that is not stored.
  func unsaved() -> [Key: Int64] {
    state.withLock { state in
      var unsaved: [Key: Int64] = [:]
      for (key, progress) in state where progress.unsavedSince != nil {
        unsaved[key] = progress.doneByteCount
      }
      return unsaved
    }
  }

  /// Notes that progress is stored now, but for what was told since it was looked up.
  func wereSaved(_ saved: [Key: Int64]) {
    if saved.isEmpty { return }
    state.withLock { state in
      for (key, byteCount) in saved where state[key]?.doneByteCount == byteCount {
        state[key]?.unsavedSince = nil
      }
    }
  }
}
