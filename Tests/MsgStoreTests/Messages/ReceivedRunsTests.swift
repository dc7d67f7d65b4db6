import MsgStore
import PageFile
import Simulation
import Testing

/// Messages that are stored as runs become what they become one after the other.
struct ReceivedRunsTests {
  private static let rooms: [ConversationID] = ["room", "hall"]

  @Test func runsBecomeWhatTheirMessagesDoOneByOne() throws {
    for seed in seeds(30, debugCount: 12) {
      var random = SeededGenerator(seed: seed)
      let packing = PackingSizes.random(seed)
      let together = try memoryStore(packing: packing)
      let alone = try memoryStore(packing: packing)
      let areShuffled = random.chance(50)
      let changes = random.chance(50) ? together.changes.makeAsyncIterator() : nil
      for step in 0..<25 {
        let action = Action(&random, step, areShuffled: areShuffled)
        let outcomes = try together.write(.relaxed) { try action.act(on: $0, isTogether: true) }
        let expected = try alone.write(.relaxed) { try action.act(on: $0, isTogether: false) }
        #expect(outcomes == expected, "seed \(seed), step \(step)")
        try expectEqual(together, alone, "seed \(seed), step \(step)")
      }
      withExtendedLifetime(changes) {}
      #expect(try Recount.defect(of: together, for: "me") == nil, "seed \(seed)")
      try together.expectSound()
      try together.compact()
      try expectEqual(together, alone, "seed \(seed), compacted")
      try together.expectSound()
      try together.close()
      try alone.close()
    }
  }

  /// Pages of older history are packed as they come: none of their messages gets a cell of its own.
  @Test(arguments: [false, true], [false, true])
  func olderPagesArePackedAtOnce(areRich: Bool, areShuffled: Bool) throws {
    let files = MemoryDirectory()
    let store = try memoryStore(files, packing: PackingSizes())
    for page in (0..<8).reversed() {
      try store.write(.relaxed) { chat in
        let messages = (0..<100).map { index in
          let number = Int64(page * 100 + index)
          var new = message(
            MessageID("m\(10_000 + (areShuffled ? number * 389 % 1000 : number))"),
            at: number * 1_000_000, number + 1,
            text: "A text of usual length, the one with number \(number).")
          if areRich {
            switch index % 4 {
            case 0: new.mentions = ["me", "you"]
            case 1: new.reactions = [Reaction("👍", from: "me", at: time(5))]
            case 2: new.attachments = [MessageAttachment(id: "picture", kind: .image)]
            default: new.editedAt = time(number * 1_000_000 + 5)
            }
          }
          return new
        }
        let outcomes = try chat.insert(contentsOf: messages, as: .history)
        #expect(outcomes.allSatisfy { $0 == .inserted })
      }
    }
    try store.close()
    let cells = Cells(files)
    #expect(try cells.segments.count == cells.all(Cells.messagesTree).count)
  }

  /// A server that sends an id twice in one list, at two places, means one message.
  @Test(arguments: [Arrival.live, .history]) func aNameTwiceInARunIsOneMessage(
    arrival: Arrival
  ) throws {
    // Names are in no order, or no run would take two of one name.
    let names = (0..<24).map { $0 * 7 % 24 } + [21, 5]
    let messages = names.enumerated().map { index, name in
      message(MessageID("m\(100 + name)"), at: Int64(index + 1) * 1_000_000, Int64(index + 1))
    }
    let (together, alone) = (try memoryStore(), try memoryStore())
    let outcomes = try together.write { try $0.insert(contentsOf: messages, as: arrival) }
    let expected = try alone.write { chat in
      var outcomes: [InsertOutcome] = []
      for message in messages { outcomes.append(try chat.insert(message, as: arrival)) }
      return outcomes
    }
    #expect(outcomes == expected)
    #expect(outcomes.count { $0 == .inserted } == 24)
    try expectEqual(together, alone, "\(arrival)")
    try together.expectSound()
    try together.close()
    try alone.close()
  }

  private func expectEqual(_ a: MessageStore, _ b: MessageStore, _ hint: String) throws {
    let (first, second) = (try state(a), try state(b))
    #expect(first == second, "\(hint)")
  }

  private func state(_ store: MessageStore) throws -> [String] {
    try store.read { chat in
      var lines: [String] = []
      for room in Self.rooms {
        guard let conversation = try chat.conversation(room) else { continue }
        lines.append(
          "\(room.string) \(conversation.messageCount) \(conversation.unreadCount) "
            + "\(conversation.lastActivity?.microseconds ?? -1) "
            + "\(conversation.preview?.messageID.string ?? "-") "
            + (conversation.preview?.text ?? "-"))
        lines.append("\(try chat.gaps(in: room))")
        for message in try chat.thread(room).tail(10_000) {
          lines.append(
            "\(message.id.string) \(message.position) \(message.sender.string) \(message.text) "
              + "\(message.status) \(message.localTime?.microseconds ?? -1) "
              + "\(message.replyTo?.string ?? "-") \(message.mentions) \(message.reactions) "
              + "\(message.reactionCounts) \(message.attachments) \(message.tags) "
              + "\(message.ownFields) \(message.isRetracted) "
              + "\([message.expiresAt, message.editedAt, message.deliveredAt, message.readAt])")
        }
      }
      return lines
    }
  }
}

/// A batch of messages of any kind, or a fact about some of them.
private struct Action {
  private enum Kind { case insert, markRead, edit, delete, deleteConversation, wait }

  private var kind = Kind.insert
  private var messages: [Message] = []
  private var arrival = Arrival.live
  private var id = MessageID("none")
  private var room = ConversationID("room")
  /// Whether names are in another order than the messages, as a server's random ones are.
  private let areShuffled: Bool

  init(_ random: inout SeededGenerator, _ step: Int, areShuffled: Bool) {
    self.areShuffled = areShuffled
    room = random.chance(70) ? "room" : "hall"
    id = name(Int.random(in: 0..<400, using: &random))
    switch Int.random(in: 0..<20, using: &random) {
    case 0: kind = .markRead
    case 1: kind = .edit
    case 2: kind = .delete
    case 3: kind = random.chance(20) ? .deleteConversation : .wait
    default: makeMessages(&random)
    }
  }

  private func name(_ number: Int) -> MessageID {
    // 389 has no divisor in common with 1,000, so each number has a name of its own.
    MessageID("m\(1000 + (areShuffled ? number * 389 % 1000 : number))")
  }

  private mutating func makeMessages(_ random: inout SeededGenerator) {
    arrival = random.chance(50) ? .live : .history
    var room = room
    var number = Int.random(in: 0..<400, using: &random)
    let isNumbered = random.chance(70)
    for _ in 0..<Int.random(in: 1...80, using: &random) {
      if random.chance(3) { room = ReceivedRunsTests.room(&random) }
      // Mostly the next one; sometimes one again, or out of order.
      number = random.chance(4) ? Int.random(in: 0..<400, using: &random) : number + 1
      // A pending message of the local member would be in the outbox.
      let isPending = random.chance(3)
      var message = Message(
        id: name(number), in: room, from: !isPending && random.chance(30) ? "me" : "you",
        text: String(repeating: "word \(number) ", count: Int.random(in: 0..<9, using: &random)),
        localTime: random.chance(10) ? Timestamp(microseconds: Int64(number)) : nil,
        serverTimestamp: isPending
          ? nil : Timestamp(microseconds: Int64(number / 3 + 1) * 1_000_000),
        sequence: isNumbered ? Int64(number) : nil)
      if random.chance(5) { message.replyTo = name(number - 1) }
      if !isPending, random.chance(12) { makeRich(&message, number, &random) }
      messages.append(message)
    }
  }

  /// Gives a message one of the fields that few have.
  private func makeRich(_ message: inout Message, _ number: Int, _ random: inout SeededGenerator) {
    let moment = time(Int64(number + 1) * 1_000_000)
    switch Int.random(in: 0..<10, using: &random) {
    case 0: message.mentions = ["me"]
    case 1: message.mentions = ["you", "they"]
    case 2:
      message.reactions = ["me", "you"].map { Reaction("👍", from: $0, at: moment) }
    case 3:
      message.attachments = [AttachmentKind.image, .other].map {
        MessageAttachment(id: "\($0)", kind: $0)
      }
    case 4: message.editedAt = moment
    case 5: message.ownKind = "call"
    case 6: message.ownFields = [OwnField("long", [UInt8](repeating: 1, count: 300), at: moment)]
    case 7: message.readAt = moment
    case 8: message.expiresAt = time(7_000_000_000_000_000)
    default:
      message.isRetracted = true
      message.retractedAt = moment
    }
  }

  func act(on chat: borrowing StoreWriter, isTogether: Bool) throws -> [InsertOutcome] {
    switch kind {
    case .insert:
      if isTogether { return try chat.insert(contentsOf: messages, as: arrival) }
      var outcomes: [InsertOutcome] = []
      for message in messages { outcomes.append(try chat.insert(message, as: arrival)) }
      return outcomes
    case .markRead: _ = try chat.markRead(room, upTo: id)
    case .edit:
      try chat.receiveEdit(of: id, in: room, text: "edited", at: time(77))
    case .delete: try chat.delete(id, in: room)
    case .deleteConversation: _ = try chat.deleteConversation(room)
    case .wait: try chat.receiveStatus(.read, of: id, in: room)
    }
    return []
  }
}

extension ReceivedRunsTests {
  fileprivate static func room(_ random: inout SeededGenerator) -> ConversationID {
    rooms[Int.random(in: 0..<rooms.count, using: &random)]
  }
}
