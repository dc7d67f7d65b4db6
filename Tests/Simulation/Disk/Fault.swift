import PageFile

/// What is wrong with a disk while a process uses it.
package enum Trouble: Sendable, Hashable {
  case fault(Fault)
  /// All files together may not be longer than this.
  case room(Int)
}

/// Calls that fail: from the n-th of a kind on, once, for a while, or for good.
package struct Fault: Sendable, Hashable {
  /// The kinds of calls that are counted apart.
  package enum Call: Int, Sendable, CaseIterable {
    case read, write, extend, sync, name, nameSync
  }

  package enum Reason: Sendable, Hashable, CaseIterable {
    /// EIO: of a write any part may be there, in the cache at least.
    case broken
    /// ENOSPC: nothing was written.
    case full
    /// EPERM: nothing was written.
    case locked
    /// EACCES, of a sync whose write-back was refused: a locked device is only one of its reasons.
    case refused

    /// Those that any call may give.
    package static let ofAnyCall: [Reason] = [.broken, .full, .locked]
  }

  /// What a failed sync has done to the bytes it was asked to write.
  package enum FailedSync: Sendable, Hashable, CaseIterable {
    /// They are pending as before.
    case keepsAll
    /// Lost, while the page cache goes on showing them (ext4, XFS).
    case showsNew
    /// Lost, and the page cache shows what is on the medium (Btrfs).
    case showsOld
    /// Lost; this file handle is told, and no other will be.
    case tellsOne
    /// Lost when the system wrote back on its own, before: the bytes were gone before the call.
    case tellsLate
  }

  /// The kind of calls; nil for all of them, counted together.
  package var call: Call?
  /// Which call of the kind is the first to fail, counted from 1.
  package var first: Int
  /// How many fail in a row; `Int.max` for all that follow.
  package var count: Int
  package var reason: Reason
  package var failedSync: FailedSync

  package init(
    _ call: Call?, first: Int, count: Int = 1, _ reason: Reason = .broken,
    failedSync: FailedSync = .keepsAll
  ) {
    self.call = call
    self.first = first
    self.count = count
    self.reason = reason
    self.failedSync = failedSync
  }

  /// Whether it hits the next call of a kind, when so many calls of each kind have been made.
  func hits(_ next: Call, _ callCounts: [Int]) -> Bool {
    if let call, call != next { return false }
    let number = call.map { callCounts[$0.rawValue] } ?? callCounts.reduce(0, +)
    return number + 1 >= first && number + 1 - first < count
  }

  func error(_ name: String, _ path: String) -> PageFileError {
    let isSync = name.hasSuffix("sync")
    return switch reason {
    case .broken: .ioError(call: name, errno: 5, path: path)
    case .full: isSync ? SystemCall.syncError(name, path, 28) : .diskFull
    case .locked: .deviceLocked(call: name, path: path)
    case .refused: SystemCall.syncError(name, path, 13)
    }
  }
}
