import Foundation
public import MsgStore

/// Files from the server, piece by piece.
extension ChatClient {
  private static let pieceByteCount = 256 << 10

  /// Asks for the bytes of an attachment; they come with the next rounds.
  ///
  /// The request is in the store, so a process that is killed has it again when it starts.
  public func requestDownload(_ state: AttachmentState) async throws {
    try await store.write { chat in try Self.set(.queued, of: state, chat) }
  }

  /// Fetches all files that somebody has asked for.
  ///
  /// - Returns: false when the server could not be reached.
  func downloadAll() async throws -> Bool {
    let states = try await store.read { chat in try chat.runningTransfers() }
    for state in states where state.download == .queued {
      guard try await download(state) else { return false }
    }
    return true
  }

  /// Fetches the rest of a file.
  ///
  /// It has another name until it is whole. The length of the part says where to go on. A real client
  /// also compares the hash of the whole.
  private func download(_ state: AttachmentState) async throws -> Bool {
    guard let url = state.attachment.remoteURL else { return true }
    let whole = path(of: url)
    let part = whole + ".part"
    let files = FileManager.default
    if !files.fileExists(atPath: whole) {
      try files.createDirectory(atPath: filesPath, withIntermediateDirectories: true)
      if !files.fileExists(atPath: part) { _ = files.createFile(atPath: part, contents: nil) }
      guard let file = FileHandle(forUpdatingAtPath: part) else { return true }
      defer { try? file.close() }
      var done = Int(try file.seekToEnd())
      try await store.write(.relaxed) { [done] chat in
        try Self.set(.running(doneByteCount: Int64(done)), of: state, chat)
      }
      while true {
        let call = Call.downloadPiece(url: url, offset: done, byteCount: Self.pieceByteCount)
        guard let answer = try? await transport.ask(Request(from: member, call)) else {
          try await store.write(.relaxed) { chat in try Self.set(.queued, of: state, chat) }
          return false
        }
        guard case .piece(let bytes, let byteCount) = answer else {
          let failure = SendFailure(FailureKind(.notFound))
          try await store.write { chat in
            try Self.set(.failed(failure, count: 1), of: state, chat)
          }
          return true
        }
        try file.write(contentsOf: bytes)
        done += bytes.count
        _ = try store.reportProgress(
          .download, doneByteCount: Int64(done), of: state.attachment.id, message: state.message,
          in: state.conversation)
        if bytes.isEmpty || done >= byteCount { break }
      }
      // On the disk before it has its name: nothing half-made is taken for whole.
      try file.synchronize()
      try files.moveItem(atPath: part, toPath: whole)
    }
    try await store.write { chat in
      try chat.setLocalPath(
        whole, of: state.attachment.id, message: state.message, in: state.conversation)
      try Self.set(.done, of: state, chat)
    }
    return true
  }

  /// A name that no URL can lead out of the directory with.
  private func path(of url: String) -> String {
    let name = url.utf8.map { String($0, radix: 16) }.joined(separator: "-")
    return filesPath + "/" + name
  }

  private static func set(
    _ transfer: AttachmentTransfer, of state: AttachmentState, _ chat: borrowing StoreWriter
  ) throws {
    try chat.setTransfer(
      .download, to: transfer, of: state.attachment.id, message: state.message,
      in: state.conversation)
  }
}
