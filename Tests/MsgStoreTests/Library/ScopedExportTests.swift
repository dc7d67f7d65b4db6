import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Exports of a part of a store: one conversation, messages since a time, or both.
struct ScopedExportTests {
  @Test func aPartRestoresToItself() {
    for seed in seeds(12, debugCount: 2) {
      var random = RandomStore(seed: seed)
      random.expiresLater = true
      random.expectSound(stepCount: 200) { made in
        var random = SeededGenerator(seed: seed ^ 0x5C0)
        let store = try made.play()
        let (ids, times) = try contents(of: store)
        for _ in 0..<4 {
          let scope = ExportScope(
            conversation: random.chance(70) ? ids.randomElement(using: &random) : nil,
            since: random.chance(70) ? times.randomElement(using: &random) : nil)
          if let defect = try defect(of: scope, in: store) { return "\(scope): \(defect)" }
        }
        return nil
      }
    }
  }

  private func contents(
    of store: MessageStore
  ) throws -> (ids: [ConversationID], times: [Timestamp]) {
    var (ids, times): ([ConversationID], [Timestamp]) = ([], [time(.min), time(.max)])
    for record in try records(of: store.lines()) {
      if case .conversation(let conversation) = record { ids.append(conversation.id) }
      if case .message(let message) = record, let time = message.serverTimestamp {
        times.append(time)
      }
    }
    return (ids, times)
  }

  /// What is wrong with the part and the store that is restored from it, from the specification.
  private func defect(of scope: ExportScope, in store: MessageStore) throws -> String? {
    let whole = try records(of: store.lines())
    let part = try records(of: store.lines(of: scope))
    let restored = try MessageStore.restored(from: try store.lines(of: scope))
    defer { try? restored.close() }
    if let defect = try restored.defect() { return defect }
    let (again, expected) = (settled(try records(of: restored.lines())), settled(part))
    guard again == expected else {
      return "the restored store has another export: \(again.difference(from: expected))"
    }
    // The messages are those of the scope, with all that is known of them.
    let wanted = messages(in: whole).filter { message in
      scope.conversation.map { $0 == message.conversation } ?? true
        && isIn(message.serverTimestamp, scope)
    }
    guard messages(in: part) == wanted else { return "other messages" }
    // The numbers of messages left out are not known, so that a client fetches them.
    for message in messages(in: whole) where !wanted.contains(message) {
      guard let sequence = message.sequence, message.serverTimestamp != nil else { continue }
      let runs = try restored.read { snapshot in
        try snapshot.exportedSequences(of: message.conversation, count: 10_000, after: nil)
      }
      let isShown = wanted.contains {
        $0.conversation == message.conversation && $0.sequence == sequence
      }
      if !isShown, runs.contains(where: { $0.contains(sequence) }) {
        return "\(sequence) of message \(message.id) is known"
      }
    }
    return foreign(part, scope)
  }

  private func isIn(_ time: Timestamp?, _ scope: ExportScope) -> Bool {
    guard let time, let since = scope.since else { return true }
    return time >= since
  }

  private func messages(in records: [JSONRecord]) -> [ExportedMessage] {
    records.compactMap { if case .message(let message) = $0 { message } else { nil } }
  }

  /// A record that the scope excludes; nil if there is none.
  private func foreign(_ part: [JSONRecord], _ scope: ExportScope) -> String? {
    for record in part {
      let owner: ConversationID?
      switch record {
      case .store: continue
      case .conversation(let value): owner = value.id
      case .receipt(let value): owner = value.conversation
      case .message(let value): owner = value.conversation
      case .facts(let value): owner = value.conversation
      case .reaction(let value): owner = value.conversation
      case .deleted(let value): owner = value.conversation
      case .waiting(let value): owner = value.conversation
      case .sync(let value):
        owner = value.conversation
        if scope.since != nil { return "a sync position" }
      case .sequences(let value): owner = value.conversation
      case .untold(let value): owner = value.conversation
      case .draft(let value): owner = value.conversation
      case .member:
        if scope.conversation != nil { return "a profile" }
        continue
      case .unneededFile:
        if scope.conversation != nil || scope.since != nil { return "an unneeded file" }
        continue
      case .outbox(let value): owner = value.conversation
      }
      if let conversation = scope.conversation, owner != conversation { return "\(record)" }
    }
    return nil
  }

  /// What a restore leaves as it is: what waits to go out is held, and entered where nothing was.
  private func settled(_ records: [JSONRecord]) -> [JSONRecord] {
    records.compactMap { record in
      switch record {
      case .outbox: return nil
      case .message(var message) where message.serverTimestamp == nil:
        if let status = message.status, !status.isServerKnowledge { message.status = nil }
        message.retryAt = nil
        return .message(message)
      default: return record
      }
    }
  }

  @Test func numbersUpToThoseLeftOutAreNotDeclaredKnown() throws {
    let store = try memoryStore()
    try store.write { chat in
      // The numbers do not follow the times.
      for (number, time) in [(1, 10), (2, 20), (7, 30), (4, 40), (9, 50), (12, 60)] {
        try chat.insert(message(MessageID("m\(number)"), at: Int64(time), Int64(number)))
      }
      try chat.declareAbsent(3...3, in: "room")
      try chat.declareAbsent(8...8, in: "room")
      try chat.declareAbsent(10...11, in: "room")
      try chat.setSyncPosition([1], for: "cursor", in: "room")
      try chat.setSyncPosition([2], for: "cursor")
      try chat.delete("m9", in: "room")
    }
    let scope = ExportScope(conversation: "room", since: time(40))
    let restored = try MessageStore.restored(from: store.lines(of: scope))
    #expect(
      try restored.read { try $0.thread("room").allMessages().map(\.id) } == ["m4", "m12"])
    // 7 was left out, so nothing is said up to it but that m4 is here. 9 was deleted.
    #expect(try known(restored) == [4...4, 8...12])
    #expect(try restored.read { try $0.gaps(in: "room", count: 10) } == [5...7])
    #expect(try restored.read { try $0.syncPositions() } == [])
    #expect(try restored.read { try $0.syncPositions(in: "room") } == [])
    // The whole conversation keeps all of it but the store's own position.
    let whole = try MessageStore.restored(from: store.lines(of: ExportScope(conversation: "room")))
    #expect(try known(whole) == [1...4, 7...12])
    #expect(try whole.read { try $0.syncPositions() } == [])
    #expect(try whole.read { try $0.syncPositions(in: "room") }.count == 1)
    // What was deleted does not come back, in either.
    for store in [restored, whole] {
      try store.write { try $0.insert(message("m9", at: 50, 9)) }
      #expect(try store.read { try $0.message("m9", in: "room") } == nil)
    }
  }

  /// The sequence numbers that are known in the room.
  private func known(_ store: MessageStore) throws -> [ClosedRange<Int64>] {
    try store.read { try $0.exportedSequences(of: "room", count: 10, after: nil) }
  }

  @Test func whatConcernsAMessageLeftOutStaysOut() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("old", at: 10, 1, from: "me"))
      try chat.insert(message("new", at: 20, 2))
      _ = try chat.edit("old", in: "room", text: "changed")
      try chat.react("👍", to: "new", in: "room")
      try chat.send(message("pending", at: nil, from: "me"))
    }
    let part = try records(of: store.lines(of: ExportScope(since: time(20))))
    let entries = part.compactMap { record in
      if case .outbox(let entry) = record { entry.message } else { nil }
    }
    #expect(entries == ["new", "pending"])
    let restored = try MessageStore.restored(
      from: store.lines(of: ExportScope(since: time(20))))
    try restored.expectSound()
    #expect(try restored.read { try $0.thread("room").tail(5).ids } == ["new", "pending"])
    #expect(try restored.read { try $0.outbox.entries(count: 9).entries.count } == 2)
  }

  @Test func progressCountsWhatIsLeftOut() throws {
    let store = try MessageStore.restored(from: sampleLines(messageCount: 3500))
    let scope = ExportScope(conversation: "book-club", since: time(.max))
    var calls: [ExportProgress] = []
    try store.exportLines(of: scope, { _ in }, progress: { calls.append($0) })
    #expect(calls.map(\.messageCount).sorted() == calls.map(\.messageCount))
    #expect(calls.count > 4 && calls.first?.messageCount == 0)
    #expect(calls.last?.messageCount == 3500 && calls.last?.totalMessageCount == 3500)
    #expect(calls.last?.conversationCount == 1 && calls.last?.totalConversationCount == 1)
  }

  @Test func aConversationIsFoundByAnyOfItsNames() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("m", at: 10, 1))
      try chat.renameConversation("room", to: "hall")
    }
    let lines = try store.lines(of: ExportScope(conversation: "hall"))
    #expect(try store.lines(of: ExportScope(conversation: "room")) == lines && !lines.isEmpty)
    #expect(throws: StoreError.conversation(.notFound, "nowhere")) {
      try store.lines(of: ExportScope(conversation: "nowhere"))
    }
  }

  @Test func theToolExportsTheSameParts() throws {
    let directory = try TemporaryDirectory()
    var pieces = [sampleLines(messageCount: 300)]
    try MessageStore.restore(to: directory.path("chat"), reading: { pieces.popLast() ?? [] })
    let store = try MessageStore(path: directory.path("chat"))
    let thread = try store.read { try $0.thread("book-club").tail(100) }
    let since = try #require(thread.first?.serverTimestamp)
    let part = try store.lines(of: ExportScope(conversation: "book-club", since: since))
    let run = try directory.run(
      "export", "chat", "--conversation", "book-club", "--since", "\(since)")
    #expect(run.status == 0 && Array(run.output) == part, "\(run.errorText)")
    #expect(part.count { $0 == 0x0a } > 100)
    let all = try directory.run("export", "chat", "--since", "\(since)")
    #expect(Array(all.output) == (try store.lines(of: ExportScope(since: since))))

    let unknown = try directory.run("export", "chat", "--conversation", "nowhere")
    #expect(unknown.status == 2 && unknown.output.isEmpty)
    #expect(unknown.errorText == "msgdump: there is no conversation \"nowhere\"\n")
    let soon = try directory.run("export", "chat", "--since", "soon")
    #expect(soon.status == 2 && soon.errorText.contains("--since takes a date"))
  }
}
