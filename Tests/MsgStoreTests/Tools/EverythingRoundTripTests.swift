import MsgStore
import PageFile
import Testing
import msgdump

/// A store that is restored from an export is the same store: everything that can be in one comes
/// back, and the second export has the same bytes.
@Suite struct EverythingRoundTripTests {
  @Test func aRestoredStoreHasTheSameExport() throws {
    for seed in seeds(12) {
      var random = RandomStore(seed: seed)
      let store = try random.make(stepCount: 400)
      try store.expectSound()
      let exported = try export(store)
      let (restored, _) = try restore(exported)
      let again = try export(restored)
      expectSame(again, exported, "seed \(seed)")
      try restored.expectSound()
      try expectSameView(restored, store, seed)
    }
  }

  /// Nothing is lost of an undamaged store.
  @Test func aSalvagedStoreHasTheSameExport() throws {
    for seed in seeds(8) {
      let directory = MemoryDirectory()
      var random = RandomStore(seed: seed)
      let store = try random.make(stepCount: 400, in: directory)
      let exported = try export(store)
      try store.close()
      let target = MemoryDirectory()
      let source = try PageSalvage(in: directory, name: "store")
      let report = try MessageSalvage(source).run(in: target, name: "new")
      #expect(report.isWhole, "seed \(seed): \(report.repairs) \(report.lostRecords)")
      let salvaged = try MessageStore(in: target, name: "new", options: StoreOptions())
      expectSame(try export(salvaged), exported, "seed \(seed)")
      try salvaged.expectSound()
      try salvaged.close()
    }
  }

  /// Compacted beside whatever else is done with it, a store keeps everything.
  @Test func aCompactedStoreHasTheSameExport() throws {
    for seed in seeds(6) {
      let directory = MemoryDirectory()
      var random = RandomStore(seed: seed)
      let store = try random.make(stepCount: 300, in: directory)
      let exported = try export(store)
      try store.compact { _ in
        expectSame(try export(store), exported, "seed \(seed)")
        try store.expectSound()
      }
      expectSame(try export(store), exported, "seed \(seed)")
      try store.close()
      let reopened = try MessageStore(in: directory, name: "store")
      expectSame(try export(reopened), exported, "seed \(seed)")
      try reopened.expectSound()
    }
  }

  /// What somebody sees of two stores.
  private func expectSameView(
    _ a: MessageStore, _ b: MessageStore, _ seed: UInt64
  ) throws {
    func views(_ store: MessageStore) throws -> [String] {
      try store.read { snapshot in
        var views = ["\(try snapshot.unreadTotals)"]
        for conversation in try snapshot.conversations(count: 100) {
          let id = conversation.id
          views.append(
            "\(id) \(conversation.unreadCount) \(conversation.unreadMentionCount) "
              + "\(conversation.messageCount) \(conversation.participants) "
              + "\(String(describing: conversation.preview))")
          views.append("\(id) \(try snapshot.participations(in: id))")
          views.append("\(id) \(try snapshot.gaps(in: id))")
          for message in try snapshot.thread(id).tail(1000) {
            views.append("\(message.id) \(message.status) \(message.text)")
          }
        }
        return views
      }
    }
    for (mine, theirs) in zip(try views(a), try views(b)) {
      #expect(mine == theirs, "seed \(seed)")
    }
  }

  private func expectSame(_ a: [UInt8], _ b: [UInt8], _ comment: String) {
    guard a != b else { return }
    let (mine, theirs) = (
      String(decoding: a, as: UTF8.self).split(separator: "\n"),
      String(decoding: b, as: UTF8.self).split(separator: "\n")
    )
    let index = zip(mine, theirs).enumerated().first { $1.0 != $1.1 }?.offset
    let line = index ?? min(mine.count, theirs.count)
    let shown = [mine, theirs].map { line < $0.count ? String($0[line]) : "nothing" }
    Issue.record("\(comment), line \(line + 1): \(shown[0]) where \(shown[1]) was")
  }

  private func export(_ store: MessageStore) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try StoreExport.records(of: store) { JSONLineWriter.append($0, to: &bytes) }
    return bytes
  }

  private func restore(_ lines: [UInt8]) throws -> (MessageStore, MemoryDirectory) {
    let directory = MemoryDirectory()
    let restorer = Restorer(isLenient: false, numbersFromOrder: false, localMember: nil)
    try restorer.restore(JSONRecordReader(isLenient: false, source: source(of: lines))) {
      options throws(StoreError) in
      try MessageStore(in: directory, name: "store", options: options)
    }
    return (try MessageStore(in: directory, name: "store", options: StoreOptions()), directory)
  }
}

/// A store that somebody has done everything to.
private struct RandomStore {
  private var random: SeededGenerator
  /// What has to be told in one of the conversations.
  private var pending: [PendingReceipt] = []
  private static let members: [MemberID] = ["me", "ann", "bob", "eve"]
  private static let conversations: [ConversationID] = ["a", "b", "c", "d"]

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func make(
    stepCount: Int, in directory: MemoryDirectory = MemoryDirectory()
  ) throws -> MessageStore {
    let clock = TickingClock()
    let store = try MessageStore(
      in: directory, name: "store",
      options: StoreOptions(localMember: "me", clock: { clock.next() }))
    for _ in 0..<stepCount {
      let (conversation, kind) = (
        Self.conversations[below(3)], random.chance(50) ? ReceiptKind.read : .delivered
      )
      let form = random.chance(50) ? PendingReceipt.Form.mark : .ids(countMax: 2)
      pending = try store.read { try $0.pendingReceipts(in: conversation, kind, as: form) }
      try store.write(.relaxed) { writer in
        do throws(StoreError) {
          try step(writer)
        } catch {
          switch error {
          case .storage, .corruptRecord: throw error
          default: break
          }
        }
      }
    }
    try store.finishWork()
    return store
  }

  private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
  private mutating func id() -> MessageID { MessageID("m\(below(30))") }
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
    switch below(10) {
    case 0...2:
      try writer.insert(
        received(in: conversation), as: random.chance(20) ? .history : .live)
    case 3: try compose(writer, conversation)
    case 4: try sending(writer, conversation)
    case 5...6: try told(writer, conversation)
    case 7...8: try receipts(writer, conversation)
    default: try attributes(writer, conversation)
    }
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
    case 8: if random.chance(30) { try writer.deleteConversation(conversation) }
    case 9: try writer.receiveConversationDeletion(conversation, at: time())
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
private final class TickingClock: Sendable {
  private let state = Locked<Int64>(1_005_000)

  func next() -> Timestamp {
    state.withLock { time in
      time += 7
      return Timestamp(microseconds: time)
    }
  }
}
