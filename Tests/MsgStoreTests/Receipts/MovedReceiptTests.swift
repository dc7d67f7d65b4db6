import MsgStore
import Testing

/// What was read or delivered here, while the server moves the messages.
struct MovedReceiptTests {
  private func acknowledgement(_ end: Int64, revision: Int64) -> ToldFact {
    { chat in
      _ = try chat.acknowledge("u", in: "room", serverTimestamp: time(end), revision: revision)
    }
  }

  private let group: ToldFact = {
    try $0.putConversation("room", participants: ["me", "you", "ann", "bob"])
  }

  /// The export of the message, which has what the record says of it.
  private func exported(_ facts: [ToldFact]) throws -> [String] {
    let store = try TestClock().store()
    for fact in facts { try store.write { try fact($0) } }
    return try OrderPicture.export(of: store).filter { $0.contains("\"u\"") }
  }

  @Test func aMessageBehindTheMarkWaitsForNoName() throws {
    let acts: [ToldFact] = [
      group, { _ = try $0.insert(chatMessage("u", in: "room", at: 50)) },
      { _ = try $0.markDelivered("room") },
    ]
    let moves = [acknowledgement(30, revision: 0), acknowledgement(60, revision: 1)]
    let (first, second) = (try exported(acts + moves), try exported(acts + moves.reversed()))
    #expect(first == second)
  }

  @Test func whatTheServersMarkCoversByNowIsNotToldByName() throws {
    let acts: [ToldFact] = [
      group, { _ = try $0.insert(chatMessage("u", in: "room", at: 60)) },
      { _ = try $0.insert(chatMessage("v", in: "room", at: 20)) },
      { _ = try $0.markRead(["u"], in: "room") },
    ]
    let facts: [ToldFact] = [
      { _ = try $0.receive(receipt("me", .read, upTo: "v")) },
      acknowledgement(10, revision: 1),
    ]
    let seen = try outcomes(after: acts, of: facts) { chat in
      try "\(chat.pendingReceipts(in: "room", .read, as: .mark)) \(chat.outbox.counts().total)"
    }
    #expect(seen == ["[] 0"])
  }
}
