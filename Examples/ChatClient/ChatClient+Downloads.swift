import Foundation
public import MsgStore

/// Files from the server, piece by piece.
extension ChatClient {
  private static let pieceByteCount = 256 << 10

  /// Why the bytes of a file do not come; another attempt is for the user to ask for.
  private struct DownloadFailure: Error {
    let kind: FailureKind
    let text: String
  }

  /// Asks for the bytes of an attachment; they come with the next rounds.
  ///
  /// The request is in the store, so a process that is killed has it again when it starts.
  public func requestDownload(_ state: AttachmentState) async throws {
    try await store.write { chat in try Self.set(.queued, of: state, chat) }
  }

  /// Fetches all files that somebody has asked for.
  ///
  /// A file that does not come has its reason in the store, and the others come all the same.
  ///
  /// - Returns: false when the server could not be reached.
  func downloadAll() async throws -> Bool {
    let states = try await store.read { chat in try chat.runningTransfers() }
    // One that runs already is from a round that was cancelled.
    for state in states where state.download == .queued || state.download.isRunning {
      do {
        let path = try await fetch(state)
        try await store.write { chat in
          try chat.setLocalPath(
            path, of: state.attachment.id, message: state.message, in: state.conversation)
          try Self.set(.done, of: state, chat)
        }
        log("fetched \(state.attachment.fileName ?? state.attachment.id)")
      } catch is LinkError {
        try await store.write(.relaxed) { chat in try Self.set(.queued, of: state, chat) }
        return false
      } catch let failure as DownloadFailure {
        let reason = SendFailure(failure.kind, text: failure.text)
        try await store.write { chat in try Self.set(.failed(reason, count: 1), of: state, chat) }
      }
    }
    return true
  }

  /// Fetches the rest of a file, and returns its path.
  ///
  /// The length of the part says where to go on. A real client also compares the hash of the whole.
  private func fetch(_ state: AttachmentState) async throws -> String {
    let attachment = state.attachment
    guard let url = attachment.remoteURL, let path = path(of: url) else {
      throw DownloadFailure(kind: .notFound, text: "the file has no address")
    }
    var expected = attachment.byteCount
    if try local({ try PartialFile.isWhole(path, byteCount: expected) }) { return path }
    var part = try local { try PartialFile(of: path, maximumByteCount: expected) }
    try await store.write(.relaxed) { [done = part.byteCount] chat in
      try Self.set(.running(doneByteCount: done), of: state, chat)
    }
    // Without a known length, the first piece tells it.
    while part.byteCount != expected {
      let (bytes, byteCount) = try await piece(of: url, at: part.byteCount)
      let rest = byteCount - part.byteCount
      guard byteCount == expected ?? byteCount, bytes.count <= rest, !bytes.isEmpty || rest == 0
      else {
        try local { try part.restart() }
        throw DownloadFailure(kind: .invalid, text: "the file has another length than it should")
      }
      expected = byteCount
      try local { try part.append(bytes) }
      _ = try store.reportProgress(
        .download, doneByteCount: part.byteCount, of: attachment.id, message: state.message,
        in: state.conversation)
    }
    try local { try part.finish() }
    return path
  }

  private func piece(of url: String, at offset: Int64) async throws -> (Data, byteCount: Int64) {
    let call = Call.downloadPiece(
      url: url, offset: Int(offset), byteCount: Self.pieceByteCount)
    switch try await transport.ask(Request(from: member, call)) {
    case .piece(let bytes, let byteCount): return (bytes, Int64(byteCount))
    case .refused(let refusal, let text):
      throw DownloadFailure(kind: FailureKind(refusal), text: text)
    default: throw DownloadFailure(kind: .invalid, text: "the server has answered something else")
    }
  }

  /// Works on files of this device; an error there is the failure of this download alone.
  private func local<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch { throw DownloadFailure(kind: .other, text: "\(error)") }
  }

  /// Returns a name in the directory that no URL leads out of, also where case does not count.
  private func path(of url: String) -> String? {
    let allowed = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyz0123456789-")
    return url.addingPercentEncoding(withAllowedCharacters: allowed).map { filesPath + "/" + $0 }
  }

  private static func set(
    _ transfer: AttachmentTransfer, of state: AttachmentState, _ chat: borrowing StoreWriter
  ) throws {
    try chat.setTransfer(
      .download, to: transfer, of: state.attachment.id, message: state.message,
      in: state.conversation)
  }
}
