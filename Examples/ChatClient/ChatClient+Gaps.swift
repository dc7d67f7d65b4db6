import MsgStore

/// Messages that the server has not told.
extension ChatClient {
  private static let pieceCount = 20

  /// Fetches the messages that are missing between known ones, the newest first.
  ///
  /// The store knows the gaps by the numbers of the messages. Each piece that has come makes its gap
  /// smaller, so a process that is killed goes on with the rest.
  ///
  /// - Returns: false when the server could not be reached.
  /// - Throws: `BadAnswer`; nothing of that answer is stored.
  func fillGaps() async throws -> Bool {
    let gaps = try await store.read { chat in try Self.allGaps(chat) }
    for (room, gap) in gaps.reversed() {
      guard try await fill(gap, in: room) else { return false }
    }
    return true
  }

  /// All gaps of all listed conversations; lowest first in each.
  private static func allGaps(
    _ chat: borrowing StoreSnapshot
  ) throws -> [(room: ConversationID, gap: ClosedRange<Int64>)] {
    var all: [(room: ConversationID, gap: ClosedRange<Int64>)] = []
    var rooms = try chat.conversations(count: 100)
    while true {
      for room in rooms.map(\.id) {
        var gaps = try chat.gaps(in: room)
        while let last = gaps.last {
          all += gaps.map { (room, $0) }
          gaps = try chat.gaps(in: room, after: last.upperBound)
        }
      }
      guard let position = rooms.older else { return all }
      rooms = try chat.conversations(count: 100, after: position)
    }
  }

  private func fill(_ gap: ClosedRange<Int64>, in room: ConversationID) async throws -> Bool {
    var upperBound = gap.upperBound
    while upperBound >= gap.lowerBound {
      let rest = gap.lowerBound...upperBound
      let call = Call.history(
        room, from: rest.lowerBound, upTo: rest.upperBound, count: Self.pieceCount)
      guard let answer = try? await transport.ask(Request(from: member, call)) else { return false }
      // A member who takes no part any more is told nothing; the gap stays.
      if case .refused = answer { return true }
      guard case .history(let messages) = answer else {
        throw BadAnswer("history of \(room): another kind of answer")
      }
      let covered = try Self.covered(by: messages, of: rest, in: room)
      // Missed, not old: they are unread as any other, and their senders hear that they have come.
      // Where a server says since when a member takes part, what came before would be history.
      try await store.write(.relaxed) { chat in
        try chat.insert(contentsOf: messages.map(\.message))
        try chat.markDelivered(room)
        if messages.count < covered.count { try chat.declareAbsent(covered, in: room) }
      }
      log("filled a gap, \(messages.count) messages, \(covered.lowerBound)…\(covered.upperBound)")
      // No number is below the least, so there is no number before it to go on with.
      guard covered.lowerBound > gap.lowerBound else { return true }
      upperBound = covered.lowerBound - 1
    }
    return true
  }

  /// Returns the numbers about which an answer says all there is.
  ///
  /// The server may be wrong or somebody else's: an answer with a message that was not asked for is
  /// refused as a whole, since no conclusion about missing numbers can be drawn from it.
  private static func covered(
    by messages: [WireMessage], of asked: ClosedRange<Int64>, in room: ConversationID
  ) throws -> ClosedRange<Int64> {
    let numbers = messages.compactMap(\.sequence)
    guard messages.count <= pieceCount, numbers.count == messages.count,
      messages.allSatisfy({ $0.room == room && $0.time != nil }),
      numbers.allSatisfy(asked.contains), zip(numbers, numbers.dropFirst()).allSatisfy(<)
    else { throw BadAnswer("history of \(room): messages that were not asked for") }
    guard messages.count == pieceCount, let first = numbers.first else { return asked }
    return first...asked.upperBound
  }
}

/// An answer that no correct server gives.
public struct BadAnswer: Error, CustomStringConvertible {
  /// The question and the fault.
  public let description: String

  init(_ description: String) { self.description = description }
}
