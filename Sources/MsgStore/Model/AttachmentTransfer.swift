/// How far the bytes of an attachment have come, in one direction.
///
/// Up and down are apart: what is uploaded here was not downloaded. A fact of this device.
///
/// As it is stored:
///
///     size  field
///        1  0 none, 1 queued, 2 running, 3 done, 4 failed
///     1–10  running: bytes done, varint
///     1–10  failed: how often, varint
///        n  failed: the failure
public enum AttachmentTransfer: Sendable, Hashable {
  /// Nobody has asked for it.
  case none
  /// Waits for its turn.
  case queued
  /// Bytes are moving; so many have arrived.
  case running(doneByteCount: Int64)
  /// All bytes are there.
  case done
  /// The last attempt failed; `count` attempts in a row have.
  case failed(Failure, count: Int)

  /// Whether bytes are moving.
  public var isRunning: Bool { if case .running = self { true } else { false } }

  /// How many attempts in a row have failed, where that is what it says.
  var failureCount: Int { if case .failed(_, let count) = self { count } else { 0 } }

  /// What it is when a store is opened: whoever moved the bytes is gone, so what was running is
  /// queued.
  public var afterRestart: AttachmentTransfer { isRunning ? .queued : self }
}

/// Which way the bytes of an attachment move.
public enum TransferDirection: UInt8, Sendable, Hashable, CaseIterable {
  /// From this device to the server.
  case upload = 0
  /// From the server to this device.
  case download = 1
}

/// A number for each direction.
package struct TransferCounts: Hashable, Sendable {
  package var uploads = 0
  package var downloads = 0

  package init(uploads: Int = 0, downloads: Int = 0) {
    self.uploads = uploads
    self.downloads = downloads
  }

  subscript(direction: TransferDirection) -> Int {
    get { direction == .upload ? uploads : downloads }
    set { if direction == .upload { uploads = newValue } else { downloads = newValue } }
  }
}
