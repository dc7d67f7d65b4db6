import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// The examples of the DocC catalogues are code of this file, or of the tests of README and guide.
struct CatalogueExampleTests {
  /// A server that has one message for each number, and takes all that it is told.
  private struct Server {
    func take(_ field: OwnField, of owner: FieldOwner) async throws -> Timestamp {
      Timestamp(seconds: 2_000)
    }

    func messages(
      _ numbers: ClosedRange<Int64>, in room: ConversationID
    ) async throws -> [Message] {
      numbers.map { number in
        Message(
          id: MessageID("s-\(number)"), in: room, from: "bob", text: "\(number)",
          serverTimestamp: Timestamp(seconds: 1_000 + number), sequence: number)
      }
    }
  }

  private let noon = Timestamp(milliseconds: 1_704_110_400_000)

  private func show(_ message: Message) {}
  private func remove(_ path: String) {}
  private func show(_ slice: MessageSlice) {}

  private func runLandingPage(path: String) async throws -> (MessageStore, ConversationID) {
    let store = try await MessageStore.open(path: path, options: .init(localMember: "ann"))

    // One closure is one commit: all of it or nothing, and on the disk when the call returns.
    let room = try await store.write { chat in
      let room = try chat.findOrCreateConversation(with: ["ann", "bob"]).id
      try chat.send(Message(id: "m-1", in: room, from: "ann", text: "on my way"))
      return room
    }

    // A read sees one snapshot of the store and never waits for a writer.
    let newest = try await store.read { chat in try chat.thread(room).tail(50) }
    for message in newest { show(message) }
    #expect(newest.map(\.text) == ["on my way"])
    return (store, room)
  }

  private func runGettingStarted(_ store: MessageStore) async throws {
    let room = try await store.write { chat in
      let room = try chat.findOrCreateConversation(with: ["ann", "bob"]).id
      try chat.setDraft("see you at", in: room)
      return room
    }

    let sent = try await store.send(Message(in: room, from: "ann", text: "five minutes"))
    show(sent.value)
    try await sent.waitUntilDurable()

    let rooms = try await store.read { chat in try chat.conversations(count: 20) }
    for room in rooms {
      print(room.title ?? "\(room.participants)", room.unreadCount, room.preview?.text ?? "")
    }

    do {
      try await store.write { chat in _ = try chat.edit("m-2", in: room, text: "no hurry") }
    } catch StoreError.message(.notOwn, _, in: _) {
      print("only the author may edit a message")
    }
    #expect(rooms.count == 1 && rooms[0].hasDraft)
  }

  private func runSending(_ store: MessageStore, _ room: ConversationID) async throws {
    try await store.write { chat in
      try chat.edit("m-1", in: room, text: "on my way")
      try chat.react("❤️", to: "m-2", in: room)
      try chat.markRead(room)
    }

    let waiting = try await store.read { chat in
      try chat.outbox.entries(in: room, count: 20).entries
    }
    for entry in waiting { print(entry.kind, entry.state, entry.text ?? "") }
    #expect(
      waiting.map(\.kind) == [.createConversation, .send, .send, .react, .readReceipt])

    while let work = try await store.write({ chat in try chat.outbox.next(for: "sync") }) {
      guard case .send(let message) = work.task, message.id == "m-1" else {
        try await store.write { chat in _ = try chat.outbox.complete(work) }
        continue
      }
      try await storeAnswer(store, work, room, noon)
    }
  }

  private func storeAnswer(
    _ store: MessageStore, _ work: OutboxItem, _ room: ConversationID, _ noon: Timestamp
  ) async throws {
    try await store.write { chat in
      try chat.acknowledge("m-1", in: room, serverTimestamp: noon, sequence: 1)
      try chat.outbox.complete(work)
    }
  }

  private func runShowing(_ store: MessageStore, _ room: ConversationID) async throws {
    let newest = try await store.read { chat in try chat.thread(room).tail(50) }
    if case .more(let position) = newest.older {
      let older = try await store.read { chat in
        try chat.thread(room).before(position, count: 50)
      }
      for message in older { show(message) }
    }

    let bob = MemberProfile(of: "bob", name: "Bob", version: 3)
    try await store.write { chat in try chat.receive(bob) }
    let named = try await store.read { chat in try chat.thread(room).tail(50) }
    for message in named { print(message.senderProfile?.name ?? "unknown", message.text) }
    #expect(named.contains { $0.senderProfile == bob })

    let unread = try await store.read { chat in try chat.thread(room).firstUnread(count: 50) }
    let found = try await store.read { chat in try chat.thread(room).around("m-2", count: 50) }

    let images = try await store.read { chat in try chat.thread(room).tagged(.image).tail(50) }
    try await store.write { chat in try chat.setTag(.starred, of: "m-2", in: room) }
    let starred = try await store.read { chat in try chat.tagged(.starred).newest(20) }
    let replies = try await store.read { chat in try chat.replies(to: "m-1", in: room).newest(20) }
    #expect(images.isEmpty && starred.map(\.id) == ["m-2"] && replies.isEmpty)

    try await store.write { chat in try chat.markRead(room) }

    let delivery = try await store.read { chat in try chat.delivery(of: "m-1", in: room) }
    if let delivery { print("read by", delivery.readCount, "of", delivery.recipientCount) }
    #expect(unread == newest && found == newest && delivery?.recipientCount == 1)
  }

  private func runGrowing(_ store: MessageStore, _ room: ConversationID) async throws {
    let live = store.thread(room).live(newest: 50)
    let screen = Task { for try await value in live { show(value.slice) } }
    live.loadOlder(50)
    screen.cancel()
    try await screen.value
  }

  private func runReceipts(_ store: MessageStore, _ room: ConversationID) async throws {
    for try await value in store.thread(room).live(newest: 50, countsReceipts: true) {
      for (message, delivery) in zip(value.slice, value.deliveries) {
        if let delivery { print(message.id, "read by", delivery.readCount) }
      }
    }
  }

  private func runDraft(_ store: MessageStore, _ room: ConversationID) async throws {
    let draft = store.live(.conversation(room)) { chat in try chat.draft(of: room)?.text }
    for try await text in draft { print(text ?? "no draft") }
  }

  private func runList(_ store: MessageStore) async throws {
    for try await value in store.conversations.live(newest: 30) {
      for room in value.conversations { print(room.id, room.unreadCount) }
    }
  }

  private func runKeepingInStep(_ store: MessageStore, _ room: ConversationID) async throws {
    let (server, noon) = (Server(), noon)
    try await store.write(.relaxed) { chat in
      try chat.receive(Reaction("👍", from: "ann", at: noon), to: "m-2", in: room)
      try chat.insert(
        Message(
          id: "m-2", in: room, from: "bob", text: "hurry!", serverTimestamp: noon, sequence: 2))
      try chat.receive(ReceivedReceipt(in: room, of: "bob", .read, .upTo("m-1"), time: noon))
      try chat.setSyncPosition([42], for: "server")
    }

    let position = try await store.read { chat in try chat.syncPosition(for: "server") }
    #expect(position == [42])

    let fetched = try await server.messages(-7 ... -5, in: room)
    try await store.write(.relaxed) { chat in
      try chat.insert(contentsOf: fetched, as: .history)
    }

    let gaps = try await store.read { chat in try chat.gaps(in: room) }
    for gap in gaps {
      let missing = try await server.messages(gap, in: room)
      try await store.write(.relaxed) { chat in
        try chat.insert(contentsOf: missing)
        // The numbers without a message will not come any more.
        try chat.declareAbsent(gap, in: room)
      }
    }
    #expect(!gaps.isEmpty)
    #expect(try await store.read { chat in try chat.gaps(in: room) }.isEmpty)
  }

  private func runOwnFields(_ store: MessageStore, _ room: ConversationID) async throws {
    try await store.write(.relaxed) { chat in
      try chat.receive(
        [.kind("call"), OwnField("seconds", Array("93".utf8), at: noon)],
        of: .message("m-2", in: room))
    }

    let call = try await store.read { chat in try chat.message("m-2", in: room) }
    print(call?.ownKind ?? "text", call?.ownField("seconds")?.text ?? "")

    try await store.write { chat in
      try chat.setOwnField("stars", [5], of: .message("m-2", in: room))
      try chat.setOwnField("color", Array("red".utf8), of: .conversation(room), isLocal: true)
    }

    while let work = try await store.write({ chat in try chat.outbox.next(for: "sync") }) {
      try await tell(work, store, Server())
    }
    let fields = try await store.read { chat in try chat.ownFields(of: .message("m-2", in: room)) }
    #expect(fields.map(\.time) == [noon, Timestamp(seconds: 2_000)] && call?.ownKind == "call")
  }

  private func tell(_ work: OutboxItem, _ store: MessageStore, _ server: Server) async throws {
    if case .setOwnField(let field, let owner) = work.task {
      let time = try await server.take(field, of: owner)
      try await store.write { chat in try chat.outbox.complete(work, serverTime: time) }
    }
  }

  private func runReconciling(
    _ store: MessageStore, _ room: ConversationID, _ fetched: [Message]
  ) async throws {
    try await store.write(.relaxed) { chat in
      try chat.reconcile(fetched, in: room, within: .newest(count: 50))
    }
  }

  private func runStoreCheck(_ store: MessageStore) async throws {
    let findings = try await store.check()
    for finding in findings { print(finding) }
    #expect(findings.isEmpty)
  }

  private func runExportAndSizes(
    _ store: MessageStore, _ room: ConversationID, to linesPath: String, _ newPath: String
  ) async throws {
    try await store.export(to: linesPath) { progress in
      print(progress.messageCount, "of", progress.totalMessageCount)
    }

    let restored = try await MessageStore.restore(from: linesPath, to: newPath)
    print(restored.messageCount, "messages")

    print(try store.fileSizes.totalByteCount, "bytes on the disk")
    try await store.forEachConversationSizes { id, sizes in
      print(id, sizes.messageCount, sizes.storedByteCount, sizes.attachmentByteCount)
    }
    #expect(try await store.sizes(of: room)?.messageCount ?? 0 <= restored.messageCount)
    #expect(restored.messageCount > 0)
  }

  private func runSalvage(path: String, newPath: String) async throws {
    let salvaged = try await MessageStore.salvage(damaged: path, to: newPath)
    if !salvaged.isWhole { print(salvaged.lines.joined(separator: "\n")) }
    #expect(salvaged.isWhole)
  }

  private func runLookingAfter(_ store: MessageStore, _ room: ConversationID) async throws {
    try await store.suspend()
    // The system may stop the process here, or another process may own the store.
    try await store.resume()

    try await store.compact { progress in
      print(progress.stage, progress.byteCount, "of", progress.byteCountBefore)
    }

    try await store.write { chat in try chat.setRetention(Retention(days: 365)) }

    let paths = try await store.read { chat in try chat.unneededFiles(count: 100) }
    for path in paths { remove(path) }
    try await store.write { chat in _ = try chat.confirmRemoval(ofFiles: paths) }

    try await store.write { chat in try chat.delete("m-2", in: room) }
    try await store.checkpoint()

    try await store.close()
  }

  private func runBackup(_ store: MessageStore, path: String) async throws {
    try await store.backUp(to: path + ".backup") { byteCount in print(byteCount, "bytes copied") }
  }

  private func runRemoval(path: String) throws {
    try MessageStore.remove(path: path)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  private func runInExtension(path: String, _ message: Message) async throws {
    var options = StoreOptions(localMember: "ann", cacheByteCount: 1 << 20)
    options.access = .readOnly
    let shared = try await MessageStore.open(path: path, options: options)
    let unread = try await shared.read { chat in try chat.unreadTotals.messages }
    #expect(unread >= 0)

    do {
      let owned = try await MessageStore.open(path: path, options: .init(localMember: "ann"))
      try await owned.write { chat in try chat.insert(message) }
      try await owned.close()
    } catch StoreError.storage(.busy) {
      // The app is running, and fetches the message itself.
    }
    #expect(try await shared.read { chat in try chat.unreadTotals.messages } == unread + 1)
  }

  private func runSendingWithDraft(_ store: MessageStore, _ room: ConversationID) async throws {
    let sent = try await store.writeWithoutWaiting { chat in
      try chat.send(Message(in: room, from: "ann", text: "five minutes"))
      try chat.setDraft(nil, in: room)
    }
    try await sent.waitUntilDurable()
  }

  private func runExpiring(_ store: MessageStore, _ room: ConversationID, now: Int64) async throws {
    var message = Message(id: "m-9", in: room, from: "ann", text: "for an hour")
    message.expiresAt = Timestamp(seconds: now + 3600)
    try await store.write { [message] chat in try chat.send(message) }
    try await store.write { chat in
      try chat.receiveExpiry(of: "m-9", in: room, at: Timestamp(seconds: now + 60))
    }
  }

  private func runCheck(path: String) throws {
    var options = DatabaseOptions()
    options.access = .readOnly
    let database = try Database(path: path, options: options)

    // The last commit that this snapshot sees.
    let snapshot = try database.beginRead()
    print(snapshot.lsn)

    // Every page is read once. A sound file has no findings.
    try database.check { finding in print(finding) }
    try database.close()
  }

  private func runCompaction(path: String) throws {
    let database = try Database(path: path)
    var compaction = Compaction()
    while try database.compact(&compaction) {
      print(compaction.stage, compaction.movedPageCount)
    }
    try database.close()
  }

  @Test(.timeLimit(.minutes(30))) func theExamplesRun() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.url.appendingPathComponent("chat").path
    let (store, room) = try await runLandingPage(path: path)
    try await runKeepingInStep(store, room)
    try await runGettingStarted(store)
    try await runSending(store, room)
    try await runOwnFields(store, room)
    try await runShowing(store, room)
    try await runGrowing(store, room)
    try await runSendingWithDraft(store, room)
    let followers = [
      Task { try await runList(store) }, Task { try await runReceipts(store, room) },
      Task { try await runDraft(store, room) },
    ]
    try await runReconciling(
      store, room, try await Server().messages(1...2, in: room))
    try await runStoreCheck(store)
    try await runBackup(store, path: path)
    try await runExportAndSizes(store, room, to: path + ".jsonl", path + ".restored")
    try await runExpiring(store, room, now: 4_000_000_000)
    try await runLookingAfter(store, room)
    for follower in followers { try await follower.value }
    let message = Message(
      id: "pushed", in: room, from: "bob", text: "new", serverTimestamp: Timestamp(seconds: 1 << 31)
    )
    try await runInExtension(path: path, message)
    try await runSalvage(path: path, newPath: path + ".saved")
    try runCheck(path: path)
    try runCompaction(path: path)
    try runRemoval(path: path)
  }

  @Test(arguments: ["MsgStore", "MsgStoreTools", "PageFile"]) func everyExampleIsTestedCode(
    _ target: String
  ) throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let root = tests.deletingLastPathComponent().deletingLastPathComponent()
    let tested = ["CatalogueExampleTests", "ReadmeExampleTests", "GuideLoopTests"].map {
      "Tests/MsgStoreTests/\($0).swift"
    }
    // The code of this example runs in ReliabilityTests.
    let moving = ["Move", "BatchWriter"].map { "Examples/MovingFromSQLite/\($0).swift" }
    let code = try (tested + moving + ["Tests/ReliabilityTests/MovingTests.swift"])
      .map { try String(contentsOf: root.appendingPathComponent($0), encoding: .utf8) }
      .joined()
    let catalogue = root.appendingPathComponent("Sources/\(target)/\(target).docc")
    var count = 0
    for page in try FileManager.default.subpathsOfDirectory(atPath: catalogue.path)
    where page.hasSuffix(".md") {
      let text = try String(contentsOf: catalogue.appendingPathComponent(page), encoding: .utf8)
      for part in text.components(separatedBy: "```swift\n").dropFirst() {
        let example = part.components(separatedBy: "```")[0]
          .split(separator: "\n", omittingEmptySubsequences: false)
          .map { $0.isEmpty ? "" : "    " + $0 }.joined(separator: "\n")
        count += 1
        #expect(code.contains(example), "\(page): \(example)")
      }
    }
    #expect(count >= 1)
  }
}
