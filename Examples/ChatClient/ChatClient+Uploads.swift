import Foundation
import MsgStore

/// Files, piece by piece.
extension ChatClient {
  private static let pieceByteCount = 256 << 10

  /// Sends what the server has not got of a file.
  ///
  /// Where to go on is for the server to say: what is stored here of the progress may be some seconds
  /// old after a crash. The name of the upload is its token, the same on every attempt, so a file that
  /// is there already is found and not sent again.
  func upload(
    _ state: AttachmentState, for item: OutboxItem
  ) async throws(LinkError) -> Answer {
    guard let path = state.attachment.localPath, let file = FileHandle(forReadingAtPath: path),
      let byteCount = try? file.seekToEnd()
    else { return .refused(.notFound, "the file is not there any more") }
    defer { try? file.close() }
    let name = "\(item.token)"
    var item = item
    var answer = try await transport.ask(Request(from: member, .uploadState(name)))
    while case .received(let done) = answer {
      // Kept in memory: it may be said for every packet. A screen reads it from the attachment.
      _ = try? store.reportProgress(
        .upload, doneByteCount: Int64(done), of: state.attachment.id, message: state.message,
        in: state.conversation)
      // It takes as long as it takes; nobody else is to begin with it meanwhile.
      guard let renewed = try? renew(item) else { throw .noConnection }
      item = renewed
      guard (try? file.seek(toOffset: UInt64(done))) != nil,
        let piece = try? file.read(upToCount: Self.pieceByteCount)
      else { return .refused(.notFound, "the file cannot be read") }
      answer = try await transport.ask(
        Request(
          from: member,
          .uploadPiece(
            name, offset: done, bytes: piece, isLast: done + piece.count >= Int(byteCount))))
    }
    return answer
  }

  private func renew(_ item: OutboxItem) throws -> OutboxItem? {
    try store.write(.relaxed) { chat in try chat.outbox.renew(item) }
  }
}
