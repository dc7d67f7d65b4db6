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

extension AttachmentRecord {
  subscript(direction: TransferDirection) -> AttachmentTransfer {
    get { direction == .upload ? upload : download }
    set { if direction == .upload { upload = newValue } else { download = newValue } }
  }

  /// Whether somebody has to move bytes, or is about it.
  var isMoving: Bool {
    TransferDirection.allCases.contains { direction in
      switch self[direction] {
      case .queued, .running: true
      case .none, .done, .failed: false
      }
    }
  }

  /// Takes a transfer a step on.
  ///
  ///  1. What is done stays done, whatever comes late; only `none` begins anew.
  ///  2. Each `failed` is one more failed attempt. Queueing and running keep the number, `done` and
  ///     `none` end it.
  mutating func step(_ direction: TransferDirection, to transfer: AttachmentTransfer) {
    let count = failureCounts[direction]
    switch (self[direction], transfer) {
    case (.done, .queued), (.done, .running), (.done, .failed), (.done, .done): return
    case (_, .none), (_, .done):
      failureCounts[direction] = 0
      self[direction] = transfer
    case (_, .queued):
      self[direction] = transfer
    case (_, .running(let byteCount)):
      self[direction] = .running(doneByteCount: max(byteCount, 0))
    case (_, .failed(let failure, _)):
      let next = count == .max ? count : count + 1
      failureCounts[direction] = next
      self[direction] = .failed(failure, count: next)
    }
  }
}
