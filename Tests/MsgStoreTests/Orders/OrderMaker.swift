import MsgStore

/// Makes random facts, of few kinds, messages, and times, so that many meet.
struct OrderMaker {
  private(set) var random: SeededGenerator
  let beginning: OrderBeginning
  let kinds: [OrderKind]
  let messages: [MessageID]
  /// True if the server says the same of a message's place, sender, and text in all copies.
  let isConsistent: Bool
  private var basics: [String: Basics] = [:]

  /// What all copies of a message say alike, if the server is consistent.
  struct Basics {
    var time: Int
    var sequence: Int64?
    var sender: MemberID
    var text: String
    var localTime: Int?
  }

  init(_ seed: UInt64, _ beginning: OrderBeginning) {
    random = SeededGenerator(seed: seed)
    self.beginning = beginning
    isConsistent = random.chance(75) || beginning.hasDeleted
    let isConsistent = isConsistent
    let hasRetention = random.chance(15)
    var allowed = OrderKind.anywhere.filter {
      OrderExclusions.allows($0, after: beginning, isConsistent: isConsistent)
        && ($0 != .retention || hasRetention)
    }
    allowed.shuffle(using: &random)
    var chosen = Array(allowed.prefix(.random(in: 1...5, using: &random))) + beginning.kinds
    if hasRetention, allowed.contains(.retention) { chosen.append(.retention) }
    if random.chance(50) || chosen == [.retention] { chosen.append(.copy) }
    if beginning.isOwn {
      chosen += [.receiptUpTo, .receiptSequence, .receiptNames, .receiptPosition, .members]
    }
    kinds = OrderExclusions.without(chosen)
    let added = Int.random(in: beginning.messages.isEmpty ? 1...2 : 0...2, using: &random)
    messages = beginning.messages + (["m0", "m1"] as [MessageID]).prefix(added)
  }

  mutating func pick<T>(_ values: [T]) -> T {
    values[Int.random(in: 0..<values.count, using: &random)]
  }

  /// True in one of n cases.
  mutating func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

  mutating func time() -> Int { pick([10, 20, 30, 40, 50, 60, 70, 80]) }

  mutating func room() -> ConversationID {
    beginning.merges ? pick([orderLocalRoom, orderRoom]) : orderRoom
  }

  /// The id of a message, or the name that the server gives it.
  mutating func name() -> MessageID {
    let id = pick(messages)
    return kinds.contains(.namedAcknowledgement) && one(in: 3) ? Self.serverName(id) : id
  }

  static func serverName(_ id: MessageID) -> MessageID { MessageID("s-\(id)") }

  private static let fixedTimes: [String: Int] = [
    "u": 50, "d0": 30, "n0": 25, "n1": 35, "o0": 10, "o1": 20, "o2": 30, "v0": 20, "v1": 60,
    "w0": 20, "w1": 60,
  ]

  mutating func basics(of id: MessageID) -> Basics {
    var base = id.string
    if base.hasPrefix("s-") { base = String(base.dropFirst(2)) }
    if isConsistent, let known = basics[base] { return known }
    let fixed = Self.fixedTimes[base]
    let isMine = ["p", "q"].contains(base.prefix(1)) || base == "o0" || base == "o1"
    let made = Basics(
      time: isConsistent ? fixed ?? time() : time(),
      sequence: fixed == nil && !beginning.merges && one(in: 2)
        ? Int64(pick([1, 2, 4, 6, 7, 9])) : nil,
      sender: isMine || beginning.isOwn ? "me" : isConsistent ? "bob" : one(in: 6) ? "cid" : "bob",
      text: fixed != nil ? "text" : pick(["a", "b", "http://x"]),
      localTime: one(in: 3) ? time() - 5 : nil)
    basics[base] = made
    return made
  }

  /// A copy of a message, with what belongs to the kinds of this case.
  mutating func copy(_ id: MessageID, in room: ConversationID) -> Message {
    let basics = basics(of: id)
    var message = Message(
      id: id, in: room, from: basics.sender, text: basics.text,
      localTime: basics.localTime.map(orderTime), serverTimestamp: orderTime(basics.time),
      sequence: basics.sequence)
    if one(in: 6) { message.mentions = [pick(["me", "bob"])] }
    if kinds.contains(.file) || kinds.contains(.editOfFiles), one(in: 2) {
      message.attachments = [file()]
    }
    if kinds.contains(.expiry), one(in: 4) { message.expiresAt = orderTime(5000 + time()) }
    if kinds.contains(.reply), one(in: 2) { message.replyTo = pick(messages) }
    if kinds.contains(.edit), one(in: 4) { message.editedAt = orderTime(time()) }
    if kinds.contains(.reaction), one(in: 4) {
      message.reactions = [
        Reaction(pick(["+", "-"]), from: pick(["bob", "cid"]), at: orderTime(time()))
      ]
    }
    if kinds.contains(.messageField), one(in: 4) {
      message.ownFields = [OwnField("f", [pick([1, 2])], at: orderTime(time()))]
    }
    if kinds.contains(.status), one(in: 4) {
      message.status = pick([.sent, .delivered, .read])
      if one(in: 2) { message.readAt = orderTime(time()) }
    }
    if kinds.contains(.retraction), one(in: 8) {
      message.isRetracted = true
      if one(in: 2) { message.retractedAt = orderTime(time()) }
    }
    return message
  }

  mutating func file() -> MessageAttachment {
    MessageAttachment(
      id: pick(["a0", "a1", "a2"]), kind: pick([.image, .document]),
      remoteURL: one(in: 2) ? pick(["u1", "u2"]) : nil, byteCount: one(in: 3) ? 7 : nil,
      remoteURLAt: one(in: 3) ? orderTime(time()) : nil)
  }

  /// Makes one fact.
  mutating func fact() -> OrderFact {
    let kind = pick(kinds)
    return messageFact(kind) ?? memberFact(kind) ?? conversationFact(kind)
  }

  /// Makes a copy of a message.
  mutating func copy() -> OrderFact {
    let (message, arrival) = (copy(name(), in: room()), one(in: 4) ? Arrival.history : Arrival.live)
    return OrderFact(.copy, "\(arrival) \(message.line)") { writer, _ in
      try writer.insert(message, as: arrival)
    }
  }

  /// Makes a list of the server's that lacks a message, or a conversation; nil if the facts name
  /// messages that no such list could.
  mutating func list() -> OrderFact? {
    guard isConsistent, !beginning.merges, !kinds.contains(.retention),
      ![OrderKind.namedAcknowledgement, .copyOfServerName, .clock].contains(where: kinds.contains)
    else { return nil }
    return conversationFact(one(in: 3) ? .completeConversationList : .incompleteList)
  }

  /// Makes the copies that come behind all else, of every message of the case.
  mutating func lastCopies() -> [OrderFact] {
    let arrival = kinds.contains(.retention) ? Arrival.history : .live
    return messages.map { id in
      let message = copy(
        id,
        in: beginning.messages == ["p0"] && beginning.merges
          ? orderLocalRoom : orderRoom)
      return OrderFact(.copy, "at last \(message.line)") { writer, _ in
        try writer.insert(message, as: arrival)
      }
    }
  }
}

extension Message {
  /// The fields that facts give.
  var line: String {
    var line = "\(id) in \(conversation) from \(sender) \"\(text)\" at \(serverTimestamp.brief)"
    line += " sequence \(sequence.map { "\($0)" } ?? "-") \(status)"
    if let localTime { line += " local \(Timestamp?(localTime).brief)" }
    if let replyTo { line += " replies to \(replyTo)" }
    if !mentions.isEmpty { line += " mentions \(mentions)" }
    if !attachments.isEmpty { line += " files \(attachments.map(\.line))" }
    if let expiresAt { line += " expires \(Timestamp?(expiresAt).brief)" }
    if let editedAt { line += " edited \(Timestamp?(editedAt).brief)" }
    if let readAt { line += " read \(Timestamp?(readAt).brief)" }
    if isRetracted { line += " retracted \(retractedAt.brief)" }
    if !ownFields.isEmpty { line += " fields \(ownFields)" }
    for reaction in reactions {
      line += " \(reaction.emoji) of \(reaction.member) at \(Timestamp?(reaction.time).brief)"
    }
    return line
  }
}

extension MessageAttachment {
  var line: String {
    "\(id) \(kind) url \(remoteURL ?? "-") at \(remoteURLAt.brief) bytes \(byteCount ?? -1)"
  }
}

extension Timestamp? {
  /// Milliseconds after the first moment of facts.
  var brief: String {
    map { "\($0.millisecondsSince1970 - orderTime(0).millisecondsSince1970)" } ?? "-"
  }
}
