import MsgStore

/// Messages that the server has not told.
extension ChatClient {
  private static let pieceCount = 20

  /// Fetches what is missing between known messages, the newest first.
  ///
  /// The store knows what is missing by the numbers of the messages, so each piece that has come makes
  /// the gap smaller, and whoever is killed goes on with the rest.
  ///
  /// - Returns: false when the server could not be reached.
  func fillGaps() async throws -> Bool {
    let rooms = try await store.read { chat in try chat.conversations(count: 100).map(\.id) }
    for room in rooms {
      while let gap = try await store.read({ chat in try chat.gaps(in: room).last }) {
        let call = Call.history(
          room, from: gap.lowerBound, upTo: gap.upperBound, count: Self.pieceCount)
        guard let answer = try? await transport.ask(Request(from: member, call)) else {
          return false
        }
        // Who takes no part any more is told nothing; the gap stays.
        guard case .history(let messages) = answer else { break }
        let first =
          messages.count < Self.pieceCount
          ? gap.lowerBound : messages.compactMap(\.sequence).min() ?? gap.lowerBound
        let covered = first...gap.upperBound
        try await store.write(.relaxed) { chat in
          try chat.insert(contentsOf: messages.map(\.message), as: .history)
          if messages.count < covered.count { try chat.declareAbsent(covered, in: room) }
        }
      }
    }
    return true
  }
}
