import MsgStore
import MsgStoreTools
import PageFile
import Simulation
import Testing

/// The same received facts, told in any order, any number of times, in any transactions, with the
/// store closed between, end in the same state.
struct MergingTests {
  private static let members: [MemberID] = ["me", "you", "ann", "bob"]
  private static let names: [MessageID] = ["m0", "m1", "n0", "c0", "c1", "s0", "s1"]
  private static let texts = ["", "a", "b", "hello", String(repeating: "long ", count: 80)]

  /// A case: its facts, and what the local member has composed before any of them.
  private struct Case {
    var composed: [Message] = []
    var facts: [Fact] = []
  }

  /// Local times of different messages differ: pending ones of the same time lie in the order in which
  /// they came to the store.
  private static func localTime(_ id: MessageID) -> Int64 {
    Int64((names.firstIndex(of: id) ?? 0) * 10)
  }

  private func randomTime(_ random: inout SeededGenerator) -> Timestamp {
    time(.random(in: 0..<8, using: &random))
  }

  private func randomCopy(_ id: MessageID, _ random: inout SeededGenerator) -> Message {
    // Few values, so that many facts contradict each other at equal times.
    var message = Message(
      id: id, in: "room", from: Self.members.randomElement(using: &random) ?? "you",
      text: Self.texts.randomElement(using: &random) ?? "",
      localTime: time(Self.localTime(id) + .random(in: 0..<4, using: &random)),
      serverTimestamp: random.chance(85) ? randomTime(&random) : nil,
      sequence: random.chance(40) ? .random(in: 1..<4, using: &random) : nil,
      status: [.sent, .delivered, .read].randomElement(using: &random),
      replyTo: random.chance(30)
        ? (Self.names + ["m2"]).randomElement(using: &random) : nil)
    if random.chance(30) {
      message.editedAt = randomTime(&random)
      message.editServerName = randomEditName(&random)
    }
    if random.chance(20) { message.mentions = ["ann", "bob"].filter { _ in random.chance(50) } }
    if random.chance(20) { message.reactions = [randomReaction(&random)] }
    if random.chance(20) { message.attachments = [randomAttachment(&random)] }
    if random.chance(20) { message.ownKind = random.chance(50) ? "call" : "poll" }
    if random.chance(20) { message.ownFields = [randomField(&random)] }
    if random.chance(10) { message.deliveredAt = randomTime(&random) }
    if random.chance(10) { message.readAt = randomTime(&random) }
    if random.chance(20) { message.expiresAt = randomExpiry(&random) }
    if random.chance(4) {
      message.isRetracted = true
      message.retractedAt = random.chance(50) ? randomTime(&random) : nil
    }
    return message
  }

  private func randomEditName(_ random: inout SeededGenerator) -> MessageID? {
    random.chance(40) ? random.chance(50) ? "e1" : "e2" : nil
  }

  /// A time that the clock of the test does not reach.
  private func randomExpiry(_ random: inout SeededGenerator) -> Timestamp {
    time(.random(in: 1000..<1004, using: &random))
  }

  private func randomReaction(_ random: inout SeededGenerator) -> Reaction {
    Reaction(
      random.chance(70) ? "👍" : "e\u{301}",
      from: Self.members.randomElement(using: &random) ?? "you", at: randomTime(&random),
      serverName: random.chance(40) ? random.chance(50) ? "r1" : "r2" : nil)
  }

  private func randomField(_ random: inout SeededGenerator) -> OwnField {
    let byte = UInt8.random(in: 0..<3, using: &random)
    let count = random.chance(40) ? 300 + Int(byte) / 2 : 1
    return OwnField(
      random.chance(70) ? "a" : "b",
      random.chance(80) ? [UInt8](repeating: byte, count: count) : nil,
      at: random.chance(70) ? randomTime(&random) : nil, isLocal: random.chance(20))
  }

  private func randomAttachment(_ random: inout SeededGenerator) -> MessageAttachment {
    var attachment = MessageAttachment(
      id: random.chance(60) ? "a1" : "a2", kind: random.chance(50) ? .other : .image)
    if random.chance(50) { attachment.fileName = random.chance(50) ? "x.png" : "y.png" }
    if random.chance(50) { attachment.byteCount = .random(in: 0..<3, using: &random) }
    return attachment
  }

  private func randomFact(_ names: [MessageID], _ random: inout SeededGenerator) -> Fact {
    let id = names.randomElement(using: &random) ?? "m0"
    switch Int.random(in: 0..<100, using: &random) {
    case ..<35: return .copy(randomCopy(id, &random), random.chance(80) ? .live : .history)
    case ..<55:
      return .acknowledgement(
        id, randomTime(&random),
        sequence: random.chance(50) ? .random(in: 1..<4, using: &random) : nil,
        revision: random.chance(30) ? .random(in: 1..<3, using: &random) : 0, serverName: nil)
    case ..<67:
      return .edit(
        id, Self.texts.randomElement(using: &random) ?? "", randomTime(&random),
        mentions: random.chance(30) ? ["ann"] : [], serverName: randomEditName(&random))
    case ..<69: return .expiry(id, randomExpiry(&random))
    case ..<71: return .retract(id, random.chance(70) ? randomTime(&random) : nil)
    case ..<75:
      return .fields(
        id, random.chance(80) ? [randomField(&random)] : [.kind(nil, at: randomTime(&random))])
    case ..<85: return .reaction(id, randomReaction(&random), isRemoved: random.chance(40))
    default:
      return .status(
        [.sent, .delivered, .read].randomElement(using: &random) ?? .sent, id,
        random.chance(60) ? randomTime(&random) : nil)
    }
  }

  private func randomCase(_ random: inout SeededGenerator) -> Case {
    var result = Case()
    // "n0" is never told as a message; "c0" is what the server calls "s0".
    let hasAlias = random.chance(60)
    let names = Array(hasAlias ? Self.names[...] : Self.names.prefix(3))
    for _ in 0..<Int.random(in: 2..<26, using: &random) {
      let fact = randomFact(names, &random)
      if case .copy(let message, _) = fact, message.id == "n0" { continue }
      result.facts.append(fact)
    }
    if hasAlias {
      // Sometimes two devices have named it, or the server twice.
      let pairs: [(MessageID, MessageID)] = [("c0", "s0"), ("c0", "s1"), ("c1", "s1")]
      for (own, serverName) in pairs.prefix(random.chance(50) ? 1 : 3) where random.chance(80) {
        result.facts.append(
          .acknowledgement(
            own, randomTime(&random), sequence: random.chance(50) ? 2 : nil, revision: 0,
            serverName: serverName))
      }
    }
    if random.chance(50) {
      let names: [MessageID] = hasAlias ? ["m0", "c0"] : ["m0"]
      for name in names {
        result.composed.append(
          Message(
            id: name, in: "room", from: "me", text: "mine",
            localTime: time(Self.localTime(name) + 2)))
      }
    }
    return result
  }

  /// All that can be seen of the conversation.
  private func play(
    _ played: Case, _ order: [Fact], _ random: inout SeededGenerator
  ) throws -> [String] {
    let directory = MemoryDirectory()
    let packing = PackingSizes.random(random.next())
    var store = try memoryStore(directory, clock: 100, packing: packing)
    try store.write { chat in
      // No gap shall cut the slice that is compared.
      try chat.declareAbsent(0...4, in: "room")
      for message in played.composed { try chat.send(message) }
    }
    var rest = order[...]
    while !rest.isEmpty {
      let count = Int.random(in: 1..<6, using: &random)
      try store.write(.relaxed) { chat in
        for fact in rest.prefix(count) { try fact.tell(chat) }
      }
      rest = rest.dropFirst(count)
      if random.chance(10) {
        if random.chance(50) { try store.checkpoint() }
        try store.close()
        store = try memoryStore(directory, clock: 100, packing: packing)
      }
    }
    let findings = try store.check()
    let seen = try store.read { chat in
      let messages = try chat.thread("room").tail(1000)
      var lines = try messages.map { message in
        "\(describe(message)) history \(try chat.history(of: message.id, in: "room").map { "\($0.time?.microseconds ?? -1):\($0.text.prefix(9)):\($0.serverName?.string ?? "-")" })"
      }
      for name in Self.names {
        let message = try chat.message(name, in: "room")
        let fields = try chat.ownFields(of: .message(name, in: "room"))
        lines.append("\(name) has \(fields.map { "\($0.name) \($0.value ?? [])" })")
        let replies = try chat.replies(to: name, in: "room")
        let answers = try replies.newest(1000).ids
        lines.append("\(name) is \(message?.id.string ?? "nothing"), answered by \(answers)")
        if try replies.count() != answers.count { lines.append("of replies to \(name)") }
      }
      let conversation = try chat.conversation("room")
      lines.append(
        "\(conversation?.messageCount ?? -1) \(conversation?.unreadCount ?? -1)"
          + " \(conversation?.lastActivity?.microseconds ?? -1)"
          + " \(conversation.map { "\(String(describing: $0.preview))" } ?? "none")")
      return lines
    }
    try store.close()
    return seen + findings.map(\.description)
  }

  private func describe(_ message: Message) -> String {
    let place =
      "\(message.serverTimestamp?.microseconds ?? -1)/\(message.sequence ?? -1)"
      + "/\(message.localTime?.microseconds ?? -1)"
    let texts =
      "\(message.sender) \"\(message.text.prefix(9))\" re \(message.replyTo?.string ?? "-")"
    let marks =
      "\(message.status) \(message.deliveredAt?.microseconds ?? -1)"
      + " \(message.readAt?.microseconds ?? -1) edited \(message.editedAt?.microseconds ?? -1)"
      + " \(message.editServerName?.string ?? "-")"
      + " until \(message.expiresAt?.microseconds ?? -1)"
      + " deleted \(message.isRetracted) \(message.retractedAt?.microseconds ?? -1)"
    let lists =
      "\(message.mentions.map(\.string)) \(message.reactions) "
      + "\(message.reactions.map { $0.serverName?.string ?? "-" }) "
      + "\(message.attachments.map { "\($0.id) \($0.kind) \($0.fileName ?? "-") \($0.byteCount ?? -1)" })"
    let own = message.ownFields.map {
      "\($0.name) \($0.time?.microseconds ?? -1) \($0.byteCount) \($0.isLocal)"
    }
    return "\(message.id) \(place) \(texts) \(marks) \(lists) \(message.ownKind ?? "-") \(own)"
  }

  /// The first difference between two ways to tell a case, or nil.
  private func difference(_ played: Case, _ orders: [[Fact]], seed: UInt64) throws -> String? {
    var random = SeededGenerator(seed: seed)
    let first = try play(played, orders[0], &random)
    for order in orders.dropFirst() {
      let other = try play(played, order, &random)
      if other != first {
        let lines = zip(first, other).first { $0 != $1 }
        return "\(lines?.0 ?? "\(first)")\n\(lines?.1 ?? "\(other)")"
      }
    }
    return nil
  }

  private func shuffled(_ facts: [Fact], _ random: inout SeededGenerator) -> [Fact] {
    facts.shuffled(using: &random)
      + facts.filter { _ in random.chance(40) }.shuffled(using: &random)
  }

  /// Takes facts away for as long as what is left still differs.
  private func shrink(_ played: Case, _ random: inout SeededGenerator) throws -> String {
    var (small, found) = (played, "")
    var isShorter = true
    while isShorter {
      isShorter = false
      for index in small.facts.indices.reversed() {
        var smaller = small
        smaller.facts.remove(at: index)
        for _ in 0..<12 {
          let orders = (0..<4).map { _ in shuffled(smaller.facts, &random) }
          let seed = random.next()
          guard let difference = try difference(smaller, orders, seed: seed) else { continue }
          (small, found) = (smaller, difference)
          isShorter = true
          break
        }
      }
    }
    let composed = small.composed.map { "composed \(describe($0))" }
    return (composed + small.facts.map { "\($0)" } + [found]).joined(separator: "\n")
  }

  @Test(arguments: seeds(4)) func theSameFactsEndTheSameInAnyOrder(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<Scale.count(debug: 8, release: 20) {
      let played = randomCase(&random)
      let orders = (0..<5).map { _ in shuffled(played.facts, &random) }
      guard try difference(played, orders, seed: random.next()) != nil else { continue }
      let story = try shrink(played, &random)
      Issue.record("\(story)")
      return
    }
  }
}

/// What a server can tell of messages.
private enum Fact: CustomStringConvertible {
  case copy(Message, Arrival)
  case acknowledgement(
    MessageID, Timestamp, sequence: Int64?, revision: Int64, serverName: MessageID?)
  case edit(MessageID, String, Timestamp, mentions: [MemberID], serverName: MessageID?)
  case retract(MessageID, Timestamp?)
  case reaction(MessageID, Reaction, isRemoved: Bool)
  case status(MessageStatus, MessageID, Timestamp?)
  case fields(MessageID, [OwnField])
  case expiry(MessageID, Timestamp)

  func tell(_ chat: borrowing StoreWriter) throws {
    switch self {
    case .copy(let message, let arrival):
      try chat.insert(message, as: arrival)
    case .acknowledgement(let id, let time, let sequence, let revision, let serverName):
      try chat.acknowledge(
        id, in: "room", serverTimestamp: time, sequence: sequence, revision: revision,
        as: serverName)
    case .edit(let id, let text, let time, let mentions, let name):
      try chat.receiveEdit(
        of: id, in: "room", text: text, mentions: mentions, at: time, serverName: name)
    case .retract(let id, let time):
      try chat.receiveRetraction(of: id, in: "room", at: time)
    case .reaction(let id, let reaction, let isRemoved):
      try chat.receive(reaction, isRemoved: isRemoved, to: id, in: "room")
    case .status(let status, let id, let time):
      try chat.setStatus(status, of: id, in: "room", at: time)
    case .expiry(let id, let time):
      try chat.receiveExpiry(of: id, in: "room", at: time)
    case .fields(let id, let fields):
      try chat.receive(fields, of: .message(id, in: "room"))
    }
  }

  var description: String {
    switch self {
    case .copy(let message, let arrival):
      "copy \(arrival) \(message.id) from \(message.sender) \(message.status)"
        + " at \(message.serverTimestamp?.microseconds ?? -1)/\(message.sequence ?? -1)"
        + "/\(message.localTime?.microseconds ?? -1) \"\(message.text.prefix(9))\""
        + " edited \(message.editedAt?.microseconds ?? -1) deleted \(message.isRetracted)"
        + " re \(message.replyTo?.string ?? "-") \(message.mentions) \(message.reactions)"
        + " \(message.attachments.count)"
    case .acknowledgement(let id, let time, let sequence, let revision, let serverName):
      "acknowledge \(id) at \(time.microseconds)/\(sequence ?? -1) revision \(revision)"
        + " as \(serverName?.string ?? "-")"
    case .edit(let id, let text, let time, let mentions, let name):
      "edit \(id) \"\(text.prefix(9))\" at \(time.microseconds) \(mentions)"
        + " as \(name?.string ?? "-")"
    case .retract(let id, let time): "retract \(id) at \(time?.microseconds ?? -1)"
    case .reaction(let id, let reaction, let isRemoved):
      "\(isRemoved ? "remove " : "")\(reaction.emoji) of \(reaction.member) to \(id)"
        + " at \(reaction.time.microseconds)"
    case .status(let status, let id, let time):
      "\(status) \(id) at \(time?.microseconds ?? -1)"
    case .expiry(let id, let time): "expiry of \(id) at \(time.microseconds)"
    case .fields(let id, let fields):
      "fields of \(id): "
        + fields.map {
          "\($0.name) \($0.value?.first ?? 255)/\($0.byteCount) \($0.time?.microseconds ?? -1)"
        }.joined(separator: ", ")
    }
  }
}
