import MsgStore
import MsgStoreTools
import PageFile
import PageFileSalvage
import Testing

/// Receipts up to a sequence, from servers that say no id.
struct SequenceReceiptTests {
  private func receipt(
    _ member: MemberID, _ kind: ReceiptKind, upTo sequence: Int64, at moment: Int64? = nil
  ) -> ReceivedReceipt {
    ReceivedReceipt(
      in: "room", of: member, kind, .upToSequence(sequence), time: moment.map { time($0) })
  }

  /// A message whose time ascends with its sequence.
  private func numbered(_ sequence: Int64, from sender: MemberID = "me") -> Message {
    Message(
      id: MessageID("m\(sequence)"), in: "room", from: sender, text: "text",
      serverTimestamp: time(sequence * 10), sequence: sequence)
  }

  private func direct() throws -> MessageStore {
    let store = try memoryStore()
    try store.write { try $0.putConversation("room", participants: ["me", "you"]) }
    return store
  }

  private func statuses(_ store: MessageStore) throws -> [MessageStatus] {
    // One by one, as a slice ends at a gap of sequences.
    try (1...60).compactMap { try store.status(MessageID("m\($0)")) }
  }

  @Test func aReceiptUpToASequenceCoversAllMessagesUpToIt() throws {
    let store = try direct()
    try store.write { chat in
      for number in 1...5 { try chat.insert(numbered(Int64(number))) }
      #expect(try chat.receive(receipt("you", .delivered, upTo: 4, at: 90)))
      #expect(try chat.receive(receipt("you", .read, upTo: 2, at: 80)))
      #expect(try !chat.receive(receipt("you", .read, upTo: 2, at: 85)))
    }
    #expect(try statuses(store) == [.read, .read, .delivered, .delivered, .sent])
    let message = try #require(try store.read { try $0.message("m1", in: "room") })
    #expect(message.readAt == time(80) && message.deliveredAt == time(80))
    #expect(try store.readers("m4").map(\.deliveredAt) == [time(90)])
    #expect(try store.readers("m5").isEmpty)
    try store.expectSound()
  }

  @Test func theMessageWithTheSequenceNeedNotBeHere() throws {
    let store = try direct()
    try store.write { chat in
      try chat.receive(receipt("you", .read, upTo: 7, at: 500))
      try chat.insert(numbered(3))
    }
    #expect(try statuses(store) == [.read])
    try store.write { try $0.insert(numbered(6)) }
    try store.write { try $0.insert(numbered(9)) }
    #expect(try statuses(store) == [.read, .read, .sent])
    // One that lies behind the place of the mark so far, and one before it.
    try store.write { try $0.insert(contentsOf: [numbered(7), numbered(8)]) }
    try store.write { try $0.insert(numbered(1), as: .history) }
    #expect(try statuses(store) == [.read, .read, .read, .read, .sent, .sent])
    #expect(try store.readers("m7").first?.readAt == time(500))
    try store.expectSound()
  }

  @Test func aRunOfMessagesRaisesTheMark() throws {
    let store = try direct()
    try store.write { chat in
      try chat.insert(numbered(1))
      try chat.receive(receipt("you", .read, upTo: 40))
      try chat.insert(contentsOf: (2...60).map { numbered(Int64($0)) })
    }
    #expect(try statuses(store).filter { $0 == .read }.count == 40)
    try store.expectSound()
  }

  @Test func theLocalMembersReadingElsewhereIsCounted() throws {
    let store = try direct()
    try store.write { chat in
      try chat.receive(receipt("me", .read, upTo: 3))
      for number in [1, 2, 5, 4] { try chat.insert(numbered(Int64(number), from: "you")) }
    }
    #expect(try store.unread() == 2)
    try store.write { try $0.insert(numbered(3, from: "you")) }
    #expect(try store.unread() == 2)
    #expect(try store.firstUnread() == "m4")
    try store.expectSound()
  }

  @Test func aMessageThatGetsAnotherSequenceTakesTheMarkNoFurther() throws {
    let store = try direct()
    try store.write { chat in
      try chat.insert(numbered(1))
      try chat.insert(numbered(5))
      try chat.receive(receipt("you", .read, upTo: 6))
    }
    #expect(try statuses(store) == [.read, .read])
    try store.write {
      _ = try $0.acknowledge(
        "m5", in: "room", serverTimestamp: time(80), sequence: 8, revision: 1)
    }
    #expect(try statuses(store) == [.read, .sent])
    try store.expectSound()
  }

  @Test func pendingReceiptsSayTheSequenceOfTheirLastMessage() throws {
    let store = try direct()
    try store.write { chat in
      for number in 1...4 { try chat.insert(numbered(Int64(number), from: "you")) }
      try chat.markRead("room", upTo: "m3")
    }
    #expect(try store.pending(.read, as: .mark).map(\.upToSequence) == [3])
    try store.write { chat in
      try chat.insert(chatMessage("plain", in: "room", at: 70, from: "you"))
      try chat.markRead("room")
    }
    #expect(try store.pending(.read, as: .mark).map(\.upToSequence) == [nil])
  }

  @Test func marksUpToSequencesAreExportedAndRestored() throws {
    let store = try direct()
    try store.write { chat in
      for number in 1...4 { try chat.insert(numbered(Int64(number))) }
      try chat.receive(receipt("you", .read, upTo: 2, at: 70))
      try chat.receive(receipt("you", .delivered, upTo: 9, at: 75))
    }
    let lines = try store.lines()
    let copy = try MessageStore.restored(from: lines)
    #expect(try copy.lines() == lines)
    #expect(try statuses(copy) == [.read, .read, .delivered, .delivered])
    // It goes on covering what comes later.
    try copy.write { try $0.insert(numbered(7)) }
    #expect(try statuses(copy).last == .delivered)
    try copy.expectSound()
  }

  @Test func aSalvageSavesMarksUpToSequences() throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write { chat in
      try chat.putConversation("room", participants: ["me", "you"])
      for number in 1...4 { try chat.insert(numbered(Int64(number))) }
      try chat.receive(receipt("you", .read, upTo: 9, at: 70))
    }
    let lines = try store.lines()
    try store.close()
    _ = try MessageSalvage(PageSalvage(in: directory, name: "store"))
      .run(in: directory, name: "new")
    let saved = try MessageStore(in: directory, name: "new", options: StoreOptions())
    #expect(try saved.lines() == lines)
    try saved.expectSound()
  }

  /// A received fact, to be told in any order and repeatedly.
  private enum Fact {
    case message(Int64, MemberID)
    case receipt(ReceivedReceipt)
  }

  private func tell(_ facts: [Fact], _ random: inout SeededGenerator) throws -> MessageStore {
    let store = try direct()
    var index = 0
    while index < facts.count {
      let end = min(facts.count, index + .random(in: 1...4, using: &random))
      try store.write { chat in
        for fact in facts[index..<end] {
          switch fact {
          case .message(let sequence, let sender):
            try chat.insert(numbered(sequence, from: sender), as: .live)
          case .receipt(let receipt): try chat.receive(receipt)
          }
        }
      }
      index = end
    }
    return store
  }

  /// What readers see of the receipts.
  private func picture(_ store: MessageStore) throws -> [String] {
    try store.read { chat in
      var lines: [String] = []
      for number in 1...40 {
        guard let message = try chat.message(MessageID("m\(number)"), in: "room") else { continue }
        let readers = try chat.readers(of: message.id, in: "room").filter { $0.member != "me" }
        let readAt = message.readAt?.microseconds ?? -1
        lines.append("\(message.id) \(message.status) \(readAt) \(readers)")
      }
      lines.append("unread \(try chat.conversation("room")?.unreadCount ?? 0)")
      return lines
    }
  }

  @Test(arguments: seeds(40)) func anyOrderEndsTheSame(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var facts: [Fact] = []
    let sequences = (1...30).filter { _ in random.chance(60) }
    for sequence in sequences {
      facts.append(.message(Int64(sequence), random.chance(60) ? "me" : "you"))
    }
    // As many marks as are kept, so that no time falls out.
    for member in ["you", "me"] as [MemberID] {
      for _ in 0..<6 {
        let moment = random.chance(70) ? Int64.random(in: 0..<900, using: &random) : nil
        let sequence = Int64.random(in: 0...32, using: &random)
        let kind: ReceiptKind = random.chance(60) ? .read : .delivered
        let at = moment.map { time($0) }
        facts.append(
          .receipt(
            ReceivedReceipt(
              in: "room", of: member, kind,
              random.chance(70) ? .upToSequence(sequence) : .upTo(MessageID("m\(sequence)")),
              time: at)))
      }
    }
    var first: [String]?
    for _ in 0..<4 {
      let store = try tell(facts.shuffled(using: &random), &random)
      let lines = try picture(store)
      #expect(lines == first ?? lines)
      first = first ?? lines
      for case .message(let sequence, "me") in facts {
        // Exactly the messages up to the greatest sequence, or up to a mark, are read.
        let isRead = facts.contains { fact in
          guard case .receipt(let receipt) = fact, receipt.member == "you", receipt.kind == .read
          else { return false }
          switch receipt.extent {
          case .upToSequence(let limit): return sequence <= limit
          case .upTo(let id):
            return sequences.contains { MessageID("m\($0)") == id && sequence <= $0 }
          default: return false
          }
        }
        let status = try store.status(MessageID("m\(sequence)"))
        #expect((status == .read) == isRead)
      }
      try store.expectSound()
    }
  }
}
