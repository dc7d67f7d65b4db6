/// The state of an attachment's transfer in one direction.
///
/// Upload and download are tracked separately, since a file uploaded here was never downloaded. The
/// state belongs to this device.
///
/// Stored form:
///
///     size  field
///        1  0 none, 1 queued, 2 running, 3 done, 4 failed
///     1–10  running: bytes done, varint
///     1–10  failed: number of failures, varint
///        n  failed: the failure
public enum AttachmentTransfer: Sendable, Hashable {
  /// Not requested.
  case notRequested
  /// Waiting for its turn.
  case queued
  /// In progress; `doneByteCount` bytes have been transferred.
  ///
  /// Progress is the process's: a snapshot that is held shows it as it is, and a transfer that no
  /// longer runs as queued.
  case running(doneByteCount: Int64)
  /// Complete.
  case done
  /// The last attempt failed; `count` attempts failed in a row.
  case failed(SendFailure, count: Int)

  /// True while bytes are being transferred.
  public var isRunning: Bool { if case .running = self { true } else { false } }

  /// The number of attempts that failed in a row; 0 unless the transfer has failed.
  var failureCount: Int { if case .failed(_, let count) = self { count } else { 0 } }

  /// The state after the store is opened.
  ///
  /// The process that moved the bytes is gone, so a running transfer becomes queued.
  public var afterRestart: AttachmentTransfer { isRunning ? .queued : self }
}

/// The direction in which an attachment's bytes move.
public enum TransferDirection: UInt8, Sendable, Hashable, CaseIterable {
  /// From this device to the server.
  case upload = 0
  /// From the server to this device.
  case download = 1
}

/// One count for each direction.
package struct TransferCounts: Equatable, Sendable {
  package internal(set) var uploads = 0
  package internal(set) var downloads = 0

  package init(uploads: Int = 0, downloads: Int = 0) {
    self.uploads = uploads
    self.downloads = downloads
  }

  subscript(direction: TransferDirection) -> Int {
    get { direction == .upload ? uploads : downloads }
    set { if direction == .upload { uploads = newValue } else { downloads = newValue } }
  }
}
