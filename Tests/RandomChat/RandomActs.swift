package import MsgStore
import PageFile
import Simulation

/// Thinks of things to do to a store.
package struct RandomActs: Sendable {
  var random: SeededRandom
  let idCount: Int
  let steps: (any OutboxSteps)?
  /// Whether messages expire later than any clock says.
  package var expiresLater = false
  /// Whether the client says that it has removed files.
  package var confirmsFiles = true
  /// Whether conversations grow: many messages come at once, and few are deleted.
  var isFull: Bool { idCount > 30 }
  private static let members: [MemberID] = ["me", "ann", "bob", "eve"]
  package static let conversations: [ConversationID] = ["a", "b", "c", "d"]

  /// - Parameter steps: Steps that only tests can call one by one; without them they are left out.
  package init(seed: UInt64, idCount: Int, steps: (any OutboxSteps)? = nil) {
    random = SeededRandom(seed: seed)
    self.idCount = idCount
    self.steps = steps
  }

  package mutating func transaction() -> RandomTransaction {
    let (conversation, kind) = (
      Self.conversations[below(3)], random.chance(50) ? ReceiptKind.read : .delivered
    )
    let form = random.chance(50) ? PendingReceipt.Form.mark : .ids(maximumCount: 2)
    let count = isFull && random.chance(20) ? below(20) : 1
    let acts = (0..<count).flatMap { _ in act() }
    return RandomTransaction(
      asked: (conversation, kind, form), acts: acts, steps: steps, finishesWork: random.chance(5),
      compacts: random.chance(2), reopens: random.chance(2),
      setsClockBack: !expiresLater && random.chance(3))
  }

  mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
  mutating func id() -> MessageID { MessageID("m\(below(idCount))") }
  /// A name of the server's, or one like those of other messages.
  private mutating func serverName() -> MessageID {
    random.chance(70) ? MessageID("s\(below(15))") : id()
  }
  private mutating func serverNameOrID() -> MessageID {
    random.chance(25) ? serverName() : id()
  }
  mutating func member() -> MemberID { Self.members[below(Self.members.count)] }
  mutating func time() -> Timestamp {
    Timestamp(microseconds: 1_000_000 + Int64(below(300)) * 50)
  }
  private mutating func sequence() -> Int64? { random.chance(70) ? Int64(below(60)) : nil }
  /// A time that has passed, passes meanwhile, or comes later.
  mutating func expiry() -> Timestamp {
    let start: Int64 = expiresLater ? 4_000_000_000_000_000 : 1_000_000
    return Timestamp(microseconds: start + Int64(below(3000)) * 50)
  }
  mutating func text() -> String {
    if random.chance(5) { return String(repeating: "long text ", count: 80) }
    return random.chance(20) ? "text \(below(50)) https://x" : "text \(below(50))"
  }
  private mutating func mentions() -> [MemberID] { random.chance(30) ? [member(), member()] : [] }
  private mutating func emoji() -> String { random.chance(50) ? "👍" : "😀" }

  private mutating func attachment() -> MessageAttachment {
    MessageAttachment(
      id: "x\(below(3))", kind: AttachmentKind.allCases[below(5)],
      remoteURL: random.chance(50) ? "https://\(below(9))" : nil,
      localPath: random.chance(40) ? path() : nil,
      fileName: random.chance(50) ? "a \"file\" \(below(9)).jpg" : nil,
      contentHash: random.chance(50) ? random.bytes(8) : nil,
      byteCount: random.chance(50) ? Int64(below(99)) : nil,
      durationMicroseconds: random.chance(30) ? 1_234_567 : nil,
      width: random.chance(50) ? 17 : nil)
  }

  /// - Parameter burst: The time that it shares with others, and then it has no sequence.
  private mutating func received(
    in conversation: ConversationID, burst: Timestamp? = nil
  ) -> Message {
    let (own, sequence) = (time(), sequence())
    var message = Message(
      id: id(), in: conversation, from: member(), text: text(),
      localTime: random.chance(30) ? time() : nil, serverTimestamp: burst ?? own,
      sequence: burst == nil ? sequence : nil, status: random.chance(20) ? .delivered : nil,
      replyTo: random.chance(20) ? serverNameOrID() : nil)
    message.mentions = mentions()
    if random.chance(20) { message.attachments = [attachment(), attachment()] }
    if random.chance(20) { message.reactions = [Reaction("👍", from: member(), at: time())] }
    if random.chance(5) { message.isRetracted = true }
    if random.chance(15) { message.expiresAt = expiry() }
    if random.chance(10) { message.ownKind = "kind \(below(3))" }
    if random.chance(10) { message.ownFields = [ownField(), ownField()] }
    return message
  }

  private mutating func composed(in conversation: ConversationID) -> Message {
    var message = Message(
      id: id(), in: conversation, from: "me", text: text(),
      replyTo: random.chance(30) ? serverNameOrID() : nil)
    message.mentions = mentions()
    if random.chance(20) { message.attachments = [attachment()] }
    if random.chance(20) { message.ownFields = [ownField()] }
    if random.chance(15) { message.expiresAt = expiry() }
    return message
  }

  private mutating func act() -> [RandomAct] {
    let conversation = Self.conversations[below(Self.conversations.count)]
    switch below(40) {
    case 0: return isFull ? [reconciling(conversation)] : []
    case 1...9:
      let burst = random.chance(15) ? time() : nil
      let count = burst != nil ? 2 + below(idCount / 2) : isFull ? 1 + below(idCount / 10) : 1
      return (0..<count).map { _ in
        let message = received(in: conversation, burst: burst)
        let arrival = random.chance(20) ? Arrival.history : .live
        return RandomAct("insert \(message.short) as \(arrival)") { w throws(StoreError) in
          try w.insert(message, as: arrival)
        }
      }
    case 10...12: return [composing(conversation)]
    case 13...15: return [sending(conversation)]
    case 16...21: return told(conversation)
    case 22...27: return [receipts(conversation)]
    case 35:
      return [RandomAct("doWork") { w throws(StoreError) in try w.doWork() }]
    case 28...29: return [naming(conversation)]
    case 36...39: return [outbox(conversation)]
    case 30...31: return [answering(conversation)]
    default: return attributes(conversation)
    }
  }

  /// The server's list of a few messages.
  private mutating func reconciling(_ conversation: ConversationID) -> RandomAct {
    let (a, b) = (time(), time())
    let end = Timestamp(microseconds: min(a, b).microseconds + 400)
    let range = min(a, b)...min(max(a, b), end)
    var list: [Message] = []
    for _ in 0..<below(6) {
      let message = received(in: conversation)
      if let time = message.serverTimestamp, range.contains(time),
        !list.contains(where: { $0.id == message.id })
      {
        list.append(message)
      }
    }
    let messages = list
    let names = list.map(\.short).joined(separator: ", ")
    return RandomAct("reconcile [\(names)] in \(conversation), \(range)") { w throws(StoreError) in
      try w.reconcile(messages, in: conversation, within: .times(range))
    }
  }

  private mutating func composing(_ c: ConversationID) -> RandomAct {
    let (kind, id) = (below(5), id())
    switch kind {
    case 0...1:
      let message = composed(in: c)
      return RandomAct("send \(message.short)") { w throws(StoreError) in try w.send(message) }
    case 2:
      let (text, mentions) = (text(), mentions())
      return RandomAct("edit \(id) in \(c) \(text.prefix(9))") { w throws(StoreError) in
        try w.edit(id, in: c, text: text, mentions: mentions)
      }
    case 3:
      return RandomAct("retract \(id) in \(c)") { w throws(StoreError) in try w.retract(id, in: c) }
    default:
      let emoji = emoji()
      return RandomAct("react to \(id) in \(c)") { w throws(StoreError) in
        try w.react(emoji, to: id, in: c)
      }
    }
  }

  private mutating func sending(_ c: ConversationID) -> RandomAct {
    let failure = SendFailure(.timeOut, code: Int64(below(600)), text: "no \"answer\"")
    let (kind, id, time) = (below(9), id(), time())
    switch kind {
    case 7:
      let transfers: [AttachmentTransfer] = [
        .queued, .running(doneByteCount: 5), .done, .failed(failure, count: 1), .notRequested,
      ]
      let direction = random.chance(50) ? TransferDirection.upload : .download
      let (transfer, attachment) = (transfers[below(5)], "x\(below(3))")
      return RandomAct("setTransfer \(direction) \(attachment) of \(id) in \(c)") {
        w throws(StoreError) in
        try w.setTransfer(direction, to: transfer, of: attachment, message: id, in: c)
      }
    case 8: return file(of: id, in: c)
    case 0:
      return setting(.retrying, id, c, retryAt: time, failure)
    case 1: return setting(.failed, id, c, failure)
    case 2: return setting(.delivered, id, c, at: time)
    case 3: return setting(.held, id, c)
    case 4:
      let (sequence, revision) = (sequence(), Int64(below(3)))
      let name = random.chance(40) ? serverName() : nil
      return RandomAct(
        "acknowledge \(id) in \(c) at \(time) \(sequence ?? -1) revision \(revision) "
          + "as \(name?.string ?? "-")"
      ) { w throws(StoreError) in
        try w.acknowledge(
          id, in: c, serverTimestamp: time, sequence: sequence, revision: revision, as: name)
      }
    case 5:
      return step("confirmRetraction \(id) in \(c)") { (steps, w) throws(StoreError) in
        try steps.confirmRetraction(of: id, in: c, by: w)
      }
    default:
      return step("refuseRetraction \(id) in \(c)") { (steps, w) throws(StoreError) in
        try steps.refuseRetraction(of: id, in: c, because: failure, by: w)
      }
    }
  }

  /// The server's word of a message, under its own name for it.
  private mutating func naming(_ c: ConversationID) -> RandomAct {
    let (id, time, name, revision) = (id(), time(), serverName(), Int64(below(3)))
    return RandomAct("acknowledge \(id) in \(c) at \(time) revision \(revision) as \(name)") {
      w throws(StoreError) in
      try w.acknowledge(id, in: c, serverTimestamp: time, revision: revision, as: name)
    }
  }

  /// What the server says of an edit, and what it sends of attachments.
  private mutating func answering(_ c: ConversationID) -> RandomAct {
    let (id, time, later, attachment) = (id(), time(), time(), attachment())
    let failure = SendFailure(.permission)
    switch below(5) {
    case 0:
      return step("confirmEdit of the newest edit of \(id) in \(c)") {
        (steps, w) throws(StoreError) in
        guard let edit = try w.message(id, in: c)?.editedAt else { return false }
        return try steps.confirmEdit(of: id, in: c, at: edit, serverTime: later, by: w)
      }
    case 1:
      return step("refuseEdit of the newest edit of \(id) in \(c)") {
        (steps, w) throws(StoreError) in
        guard let edit = try w.message(id, in: c)?.editedAt else { return false }
        return try steps.refuseEdit(of: id, in: c, at: edit, because: failure, by: w)
      }
    case 2:
      return RandomAct("removeReaction from \(id) in \(c)") { w throws(StoreError) in
        try w.removeReaction("👍", from: id, in: c)
      }
    case 3:
      return RandomAct("receive attachment of \(id) in \(c)") { w throws(StoreError) in
        try w.receive(attachment, of: id, in: c)
      }
    default:
      return RandomAct("receive copy of \(id) in \(c) at \(time)") { w throws(StoreError) in
        var message = Message(
          id: id, in: c, from: "ann", text: "copy", serverTimestamp: time, sequence: nil)
        message.editedAt = later
        try w.insert(message)
      }
    }
  }

  private func setting(
    _ status: MessageStatus, _ id: MessageID, _ c: ConversationID, at time: Timestamp? = nil,
    retryAt: Timestamp? = nil, _ failure: SendFailure? = nil
  ) -> RandomAct {
    if let reported = ReportedStatus.allCases.first(where: { $0.messageStatus == status }) {
      return RandomAct("receiveStatus \(status) of \(id) in \(c)") { w throws(StoreError) in
        try w.receiveStatus(reported, of: id, in: c, at: time)
      }
    }
    return step("setStatus \(status) of \(id) in \(c)") { (steps, w) throws(StoreError) in
      try steps.setStatus(status, of: id, in: c, retryAt: retryAt, failure: failure, by: w)
    }
  }

  private mutating func told(_ c: ConversationID) -> [RandomAct] {
    let (kind, id, time) = (below(13), id(), time())
    switch kind {
    case 12: return [expiring(id, in: c)]
    case 9:
      let owners: [FieldOwner] = [
        .message(id, in: c), .message(id, in: c), .conversation(c), .member(member()),
      ]
      return [ownFields(of: owners[below(4)], time)]
    case 0...1:
      let (text, mentions) = (text(), mentions())
      let name: MessageID? = random.chance(30) ? MessageID("e\(below(5))") : nil
      let kept: [MessageAttachment]? =
        random.chance(30)
        ? (0..<below(3)).map { MessageAttachment(id: "x\($0)", kind: .image) } : nil
      let list = kept.map { " keeping \($0.map(\.id))" } ?? ""
      return [
        RandomAct("receiveEdit of \(id) in \(c) \(text.prefix(9)) at \(time)\(list)") {
          w throws(StoreError) in
          try w.receiveEdit(
            of: id, in: c, text: text, mentions: mentions, attachments: kept, at: time,
            serverName: name)
        }
      ]
    case 2:
      return [
        RandomAct("receiveRetraction of \(id) in \(c)") { w throws(StoreError) in
          try w.receiveRetraction(of: id, in: c, at: time)
        }
      ]
    case 3...4:
      let reaction = Reaction(emoji(), from: member(), at: time)
      let isRemoved = random.chance(30)
      return [
        RandomAct("receive reaction to \(id) in \(c)") { w throws(StoreError) in
          try w.receive(reaction, isRemoved: isRemoved, to: id, in: c)
        }
      ]
    case 5:
      return [RandomAct("delete \(id) in \(c)") { w throws(StoreError) in try w.delete(id, in: c) }]
    case 6:
      let first = Int64(below(80))
      let range = first...first + Int64(below(3))
      return [
        RandomAct("declareAbsent \(range) in \(c)") { w throws(StoreError) in
          try w.declareAbsent(range, in: c)
        }
      ]
    case 7: return [introducing(at: time)]
    case 10...11: return [tagging(id, in: c, at: time)]
    default:
      let (bytes, key, otherKey) = (random.bytes(5), "k\(below(3))", "k\(below(3))")
      return [
        RandomAct("setSyncPosition \(key) in \(c)") { w throws(StoreError) in
          try w.setSyncPosition(bytes, for: key, in: c)
        },
        RandomAct("setSyncPosition \(otherKey)") { w throws(StoreError) in
          try w.setSyncPosition(bytes, for: otherKey)
        },
      ]
    }
  }

  /// The server's profile of a member, or that it is to be forgotten.
  private mutating func introducing(at time: Timestamp) -> RandomAct {
    let member = member()
    if random.chance(25) {
      return RandomAct("forget \(member)") { w throws(StoreError) in
        try w.forgetMember(member)
      }
    }
    let profile = MemberProfile(
      of: member, name: random.chance(80) ? text() : nil,
      picture: random.chance(50) ? "https://\(below(9))" : nil, version: Int64(below(4)),
      fetchedAt: random.chance(50) ? time : nil)
    return RandomAct("receive \(profile)") { w throws(StoreError) in try w.receive(profile) }
  }

  /// A step of the outbox, if it can be called.
  private func step(
    _ name: String,
    _ run: @escaping (any OutboxSteps, borrowing StoreWriter) throws(StoreError) -> Bool
  ) -> RandomAct {
    let steps = steps
    return RandomAct(name) { w throws(StoreError) in
      guard let steps else { return false }
      return try run(steps, w)
    }
  }
}

extension Message {
  /// What matters most of it.
  fileprivate var short: String {
    "\(id) in \(conversation) from \(sender) at \(serverTimestamp?.microseconds ?? -1) "
      + "\(sequence ?? -1)\(isRetracted ? " deleted" : "")"
      + "\(attachments.isEmpty ? "" : " +attachments")\(reactions.isEmpty ? "" : " +reactions")"
  }
}
