import MsgStore
import PageFile

/// A store that somebody has done everything to.
struct RandomStore {
  private var random: SeededGenerator
  /// What has to be told in one of the conversations.
  private var pending: [PendingReceipt] = []
  private static let members: [MemberID] = ["me", "ann", "bob", "eve"]
  private static let conversations: [ConversationID] = ["a", "b", "c", "d"]

  private let packing: PackingSizes?
  private let idCount: Int
  /// Whether conversations grow: many messages come at once, and few are deleted.
  private var isFull: Bool { idCount > 30 }

  /// - Parameters:
  ///   - packing: nil: every message has a cell of its own.
  ///   - idCount: How many messages a conversation can have; with more than 30 it gets many.
  init(seed: UInt64, packing: PackingSizes?, idCount: Int = 30) {
    random = SeededGenerator(seed: seed)
    self.packing = packing
    self.idCount = idCount
  }

  init(seed: UInt64) { self.init(seed: seed, packing: .random(seed)) }

  /// - Parameter watch: Called before the first step and after each of them; then nothing goes on in
  ///   the background.
  mutating func make(
    stepCount: Int, in directory: MemoryDirectory = MemoryDirectory(),
    watch: ((MessageStore) throws -> Void)? = nil
  ) throws -> MessageStore {
    let clock = TickingClock()
    var options = StoreOptions(localMember: "me", clock: { clock.next() })
    options.packs = packing != nil
    options.packing = packing ?? PackingSizes()
    options.worksInBackground = watch == nil
    let store = try MessageStore(in: directory, name: "store", options: options)
    try watch?(store)
    for _ in 0..<stepCount {
      let (conversation, kind) = (
        Self.conversations[below(3)], random.chance(50) ? ReceiptKind.read : .delivered
      )
      let form = random.chance(50) ? PendingReceipt.Form.mark : .ids(countMax: 2)
      pending = try store.read { try $0.pendingReceipts(in: conversation, kind, as: form) }
      let count = isFull && random.chance(20) ? below(20) : 1
      try store.write(.relaxed) { writer in
        for _ in 0..<count { try attempt(writer) }
      }
      if isFull, random.chance(2) { try store.finishWork() }
      try watch?(store)
    }
    try store.finishWork()
    try watch?(store)
    return store
  }

  /// Does one thing, which may be refused.
  private mutating func attempt(_ writer: borrowing StoreWriter) throws(StoreError) {
    do throws(StoreError) {
      try step(writer)
    } catch {
      switch error {
      case .storage, .corruptRecord: throw error
      default: break
      }
    }
  }

  private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
  private mutating func id() -> MessageID { MessageID("m\(below(idCount))") }
  private mutating func member() -> MemberID { Self.members[below(Self.members.count)] }
  private mutating func time() -> Timestamp {
    Timestamp(microseconds: 1_000_000 + Int64(below(300)) * 50)
  }
  private mutating func text() -> String {
    random.chance(5) ? String(repeating: "long text ", count: 80) : "text \(below(50))"
  }
  private mutating func mentions() -> [MemberID] { random.chance(30) ? [member(), member()] : [] }

  private mutating func attachment() -> MsgStore.Attachment {
    MsgStore.Attachment(
      id: "x\(below(3))", kind: AttachmentKind.allCases[below(5)],
      remoteURL: random.chance(50) ? "https://\(below(9))" : nil,
      fileName: random.chance(50) ? "a \"file\" \(below(9)).jpg" : nil,
      contentHash: random.chance(50) ? random.bytes(8) : nil,
      byteCount: random.chance(50) ? Int64(below(99)) : nil,
      durationMicroseconds: random.chance(30) ? 1_234_567 : nil,
      width: random.chance(50) ? 17 : nil)
  }

  private mutating func received(in conversation: ConversationID) -> Message {
    var message = Message(
      id: id(), in: conversation, from: member(), text: text(),
      localTime: random.chance(30) ? time() : nil, serverTimestamp: time(),
      sequence: random.chance(70) ? Int64(below(60)) : nil,
      status: random.chance(20) ? .delivered : nil, replyTo: random.chance(20) ? id() : nil)
    message.mentions = mentions()
    if random.chance(20) { message.attachments = [attachment(), attachment()] }
    if random.chance(20) { message.reactions = [Reaction("👍", from: member(), at: time())] }
    if random.chance(5) { message.isDeleted = true }
    return message
  }

  private mutating func composed(in conversation: ConversationID) -> Message {
    var message = Message(id: id(), in: conversation, from: "me", text: text())
    message.mentions = mentions()
    if random.chance(20) { message.attachments = [attachment()] }
    return message
  }

  private mutating func step(_ writer: borrowing StoreWriter) throws(StoreError) {
    let conversation = Self.conversations[below(Self.conversations.count)]
    switch below(31) {
    case 0: if isFull { try reconcile(writer, conversation) }
    case 1...9:
      for _ in 0..<(isFull ? 1 + below(idCount / 10) : 1) {
        try writer.insert(received(in: conversation), as: random.chance(20) ? .history : .live)
      }
    case 10...12: try compose(writer, conversation)
    case 13...15: try sending(writer, conversation)
    case 16...21: try told(writer, conversation)
    case 22...27: try receipts(writer, conversation)
    default: try attributes(writer, conversation)
    }
  }

  /// The server's list of a few messages.
  private mutating func reconcile(
    _ writer: borrowing StoreWriter, _ conversation: ConversationID
  ) throws(StoreError) {
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
    try writer.reconcile(list, in: conversation, .times(range))
  }

  private mutating func compose(
    _ writer: borrowing StoreWriter, _ conversation: ConversationID
  ) throws(StoreError) {
    switch below(5) {
    case 0...1: try writer.send(composed(in: conversation))
    case 2: try writer.edit(id(), in: conversation, text: text(), mentions: mentions())
    case 3: try writer.unsend(id(), in: conversation)
    default: try writer.react(random.chance(50) ? "👍" : "😀", to: id(), in: conversation)
    }
  }

  private mutating func sending(
    _ writer: borrowing StoreWriter, _ conversation: ConversationID
  ) throws(StoreError) {
    let failure = Failure(.timeOut, code: Int64(below(600)), text: "no \"answer\"")
    switch below(9) {
    case 7:
      let transfers: [AttachmentTransfer] = [
        .queued, .running(doneByteCount: 5), .done, .failed(failure, count: 1), .none,
      ]
      try writer.setTransfer(
        random.chance(50) ? .upload : .download, to: transfers[below(5)], of: "x\(below(3))",
        message: id(), in: conversation)
    case 8:
      try writer.setLocalPath("/tmp/\(below(9))", of: "x0", message: id(), in: conversation)
    case 0:
      try writer.setStatus(
        .retrying, of: id(), in: conversation, retryAt: time(), failure: failure)
    case 1: try writer.setStatus(.failed, of: id(), in: conversation, failure: failure)
    case 2: try writer.setStatus(.delivered, of: id(), in: conversation, at: time())
    case 3: try writer.setStatus(.held, of: id(), in: conversation)
    case 4:
      try writer.acknowledge(
        id(), in: conversation, serverTimestamp: time(),
        sequence: random.chance(70) ? Int64(below(60)) : nil, revision: Int64(below(3)),
        as: random.chance(40) ? MessageID("s\(below(15))") : nil)
    case 5: try writer.confirmUnsend(of: id(), in: conversation)
    default: try writer.refuseUnsend(of: id(), in: conversation, because: failure)
    }
  }

  private mutating func told(
    _ writer: borrowing StoreWriter, _ conversation: ConversationID
  ) throws(StoreError) {
    switch below(8) {
    case 0...1:
      try writer.receiveEdit(
        of: id(), in: conversation, text: text(), mentions: mentions(), at: time())
    case 2: try writer.receiveUnsend(of: id(), in: conversation, at: time())
    case 3...4:
      try writer.receive(
        Reaction(random.chance(50) ? "👍" : "😀", from: member(), at: time()),
        isRemoved: random.chance(30), to: id(), in: conversation)
    case 5: try writer.delete(id(), in: conversation)
    case 6:
      let first = Int64(below(80))
      try writer.declareAbsent(first...first + Int64(below(3)), in: conversation)
    default:
      try writer.setSyncPosition(random.bytes(5), for: "k\(below(3))", in: conversation)
      try writer.setSyncPosition(random.bytes(5), for: "k\(below(3))")
    }
  }

  private mutating func receipts(
    _ writer: borrowing StoreWriter, _ conversation: ConversationID
  ) throws(StoreError) {
    switch below(7) {
    case 0: try writer.markRead(conversation, upTo: id())
    case 1: try writer.markRead([id(), id()], in: conversation)
    case 2: try writer.markDelivered(conversation, upTo: id())
    case 3: try writer.markDelivered([id()], in: conversation)
    case 4...5:
      try writer.receive(
        ReceivedReceipt(
          in: conversation, of: member(), random.chance(50) ? .read : .delivered,
          random.chance(50) ? .upTo(id()) : .messages([id(), id()]),
          time: random.chance(70) ? time() : nil))
    default:
      for receipt in pending where random.chance(50) { try writer.confirm(receipt) }
    }
  }

  private mutating func attributes(
    _ writer: borrowing StoreWriter, _ conversation: ConversationID
  ) throws(StoreError) {
    switch below(12) {
    case 8: if random.chance(isFull ? 8 : 30) { try writer.deleteConversation(conversation) }
    case 9:
      // Seldom nearly all there is.
      let time =
        isFull && random.chance(92)
        ? Timestamp(microseconds: 1_000_000 + Int64(below(1000))) : time()
      try writer.receiveConversationDeletion(conversation, at: time)
    case 0: try writer.setPinned(random.chance(50), of: conversation)
    case 1: try writer.setMuted(random.chance(50), of: conversation)
    case 2: try writer.setArchived(random.chance(50), of: conversation)
    case 3: try writer.setDraft(random.chance(70) ? text() : nil, replyTo: id(), in: conversation)
    case 4: try writer.setTitle(random.chance(70) ? text() : nil, of: conversation)
    case 5:
      try writer.putConversation(conversation, participants: ["me", member(), member()])
    case 6: try writer.addParticipants([member()], to: conversation)
    case 10:
      guard random.chance(25) else { return }
      let other = Self.conversations[below(Self.conversations.count)]
      try writer.renameConversation(conversation, to: other)
    default:
      var received = ReceivedConversation(conversation, at: time())
      received.members = [.init(member(), joinedAt: time()), .init(member(), isActive: false)]
      received.hasAllMembers = random.chance(50)
      received.createdBy = member()
      received.createdAt = random.chance(50) ? time() : nil
      try writer.receive(received)
    }
  }
}

/// A clock that goes on a little each time.
final class TickingClock: Sendable {
  private let state = Locked<Int64>(1_005_000)

  func next() -> Timestamp {
    state.withLock { time in
      time += 7
      return Timestamp(microseconds: time)
    }
  }
}
