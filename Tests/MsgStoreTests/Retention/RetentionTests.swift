import MsgStore
import MsgStoreTools
import PageFile
import PageFileSalvage
import Testing

/// Rules for the history that is kept, and its pruning.
struct RetentionTests {
  static let day: Int64 = 24 * 3600 * 1_000_000

  /// A store whose clock is at day 1,000, with a thread of one message a day up to then.
  ///
  /// It prunes only where a test says so, whenever its worker comes to it.
  private func daily(
    _ count: Int, in directory: MemoryDirectory = MemoryDirectory(), numbered: Bool = true,
    clockDay: Int64 = 1000, packs: Bool = true
  ) throws -> MessageStore {
    let store = try memoryStore(
      directory, clock: clockDay * Self.day, packs: packs, prunesByItself: false)
    try store.write { chat throws in
      for index in 0..<count {
        let day = Int64(1001 - count + index)
        try chat.insert(
          message(MessageID("d\(day)"), at: day * Self.day, numbered ? day : nil), as: .history)
      }
    }
    return store
  }

  private func prune(_ store: MessageStore, _ rule: Retention) throws {
    try store.write { chat in try chat.setRetention(rule) }
    try store.finishWork()
  }

  private func days(_ range: ClosedRange<Int>) -> [String] { range.map { "d\($0)" } }

  private func all(_ store: MessageStore) throws -> [String] {
    try store.read { try $0.thread("room").allMessages().map(\.id.string) }
  }

  @Test(arguments: [true, false]) func messagesOlderThanTheDaysArePruned(packs: Bool) throws {
    let store = try daily(100, packs: packs)
    try prune(store, Retention(days: 30))
    #expect(try all(store) == days(970...1000))
    try store.read { chat throws in
      #expect(try chat.thread("room").tail(31).older == .pruned(beyond: nil))
      #expect(try chat.thread("room").tail(32).older == .pruned(beyond: nil))
      #expect(try chat.conversation("room")?.messageCount == 31)
      #expect(try chat.message("d969", in: "room") == nil)
      #expect(try chat.retention == Retention(days: 30))
    }
    try store.expectSound()
  }

  @Test(arguments: [true, false]) func theNewestMessagesAreKept(numbered: Bool) throws {
    let store = try daily(100, numbered: numbered)
    try prune(store, Retention(messageCount: 10))
    #expect(try all(store) == days(991...1000))
    // Whatever comes, the newest ten stay.
    try store.write { chat throws in
      for day in 1001...1005 as ClosedRange<Int64> {
        try chat.insert(message(MessageID("d\(day)"), at: day * Self.day, day), as: .history)
      }
      try chat.prune()
    }
    try store.finishWork()
    #expect(try all(store) == days(996...1005))
    try store.expectSound()
  }

  @Test func messagesOfOneTimeArePrunedByTheirOrder() throws {
    let store = try memoryStore(clock: Self.day)
    try store.write { chat throws in
      for index in 10..<60 { try chat.insert(message(MessageID("m\(index)"), at: 5), as: .history) }
    }
    try prune(store, Retention(messageCount: 20))
    #expect(try all(store) == (40..<60).map { "m\($0)" })
    let slice = try store.read { try $0.thread("room").tail(20) }
    #expect(slice.count == 20)
    #expect(slice.older == .pruned(beyond: nil))
    try store.expectSound()
  }

  @Test func aConversationHasARuleOfItsOwn() throws {
    let store = try daily(20)
    try store.write { chat throws in
      for index in 1...20 as ClosedRange<Int64> {
        try chat.insert(
          chatMessage(MessageID("o\(index)"), in: "other", at: (980 + index) * Self.day),
          as: .history)
      }
      try chat.setRetention(.everything, of: "room")
      try chat.setRetention(Retention(messageCount: 3))
    }
    try store.finishWork()
    try store.read { chat throws in
      #expect(try chat.conversation("room")?.messageCount == 20)
      #expect(try chat.conversation("other")?.messageCount == 3)
      #expect(try chat.retention(of: "room") == .everything)
      #expect(try chat.retention(of: "other") == nil)
      #expect(try chat.retention(of: "none") == nil)
    }
    try store.write { chat in try chat.setRetention(Retention(messageCount: 5), of: "room") }
    try store.finishWork()
    #expect(try all(store) == days(996...1000))
    try store.write { chat in try chat.setRetention(nil, of: "room") }
    try store.finishWork()
    #expect(try all(store) == days(998...1000))
    try store.write { chat in try chat.setRetention(.everything) }
    try store.read { chat throws in #expect(try chat.retention == .everything) }
    try store.expectSound()
  }

  @Test func rulesBeyondTheLimitsAreRefused() throws {
    let store = try daily(3)
    try store.write { chat throws in
      for rule in [
        Retention(days: 0), Retention(days: 36_501), Retention(messageCount: 0),
        Retention(messageCount: -1), Retention(days: 1, messageCount: 1_000_000_001),
      ] {
        #expect(throws: StoreError.self) { try chat.setRetention(rule) }
        #expect(throws: StoreError.self) { try chat.setRetention(rule, of: "room") }
      }
      #expect(throws: StoreError.conversation(.notFound, "none")) {
        try chat.setRetention(Retention(days: 1), of: "none")
      }
    }
    try store.finishWork()
    #expect(try all(store).count == 3)
  }

  @Test func aClockThatIsAheadPrunesNothingTooEarly() throws {
    let store = try daily(100, clockDay: 80_000)
    try store.write { chat throws in
      // A pending message has the time of the same clock.
      try chat.send(message("mine", at: nil, from: "me", local: 80_000 * Self.day))
    }
    try prune(store, Retention(days: 30))
    #expect(try all(store) == days(970...1000) + ["mine"])
    // Nor does a message from the future, if the clock is right.
    let right = try daily(100)
    try right.write { chat throws in
      try chat.insert(chatMessage("far", in: "other", at: 80_000 * Self.day), as: .history)
    }
    try prune(right, Retention(days: 30))
    #expect(try all(right) == days(970...1000))
  }

  @Test func whatIsUnreadStays() throws {
    let store = try memoryStore(clock: 1000 * Self.day)
    try store.write { chat throws in
      for day in 900...1000 as ClosedRange<Int64> {
        try chat.insert(message(MessageID("d\(day)"), at: day * Self.day, day))
      }
      try chat.markRead("room", upTo: "d949" as MessageID)
      // Late: below the mark, and unread.
      try chat.insert(message("late", at: 920 * Self.day + 1))
    }
    try prune(store, Retention(messageCount: 10))
    #expect(try all(store) == ["late"] + days(950...1000))
    try store.read { chat throws in
      #expect(try chat.conversation("room")?.unreadCount == 52)
      let first = try chat.thread("room").tail(100)
      #expect(first.ids == days(950...1000))
      let beyond = try #require(first.older.next)
      #expect(first.older == .pruned(beyond: beyond))
      let island = try chat.thread("room").before(beyond, count: 5)
      #expect(island.ids == ["late"])
      #expect(island.older == .pruned(beyond: nil))
      let back = try #require(island.newer.next)
      #expect(island.newer == .pruned(beyond: back))
      #expect(try chat.thread("room").after(back, count: 3).ids == days(950...952))
    }
    try store.write { chat throws in
      try chat.markRead("room")
      try chat.prune()
    }
    try store.finishWork()
    #expect(try all(store) == days(991...1000))
    try store.expectSound()
  }

  @Test func whatSomebodyStillNeedsStays() throws {
    let store = try daily(100)
    try store.write { chat throws in
      try chat.insert(message("mine", at: 910 * Self.day + 1, from: "me"), as: .history)
      try chat.edit("mine", in: "room", text: "edited")
      try chat.react("👍", to: "d920", in: "room")
      try chat.setDraft("hm", replyTo: "d930", in: "room")
      try chat.setTag(.pinned, of: "d940", in: "room")
      try chat.setTag(.starred, of: "d941", in: "room")
      // Nobody asks for it.
      try chat.setTag(.link, of: "d942", in: "room")
      try chat.send(message("pending", at: nil, from: "me"))
    }
    try prune(store, Retention(days: 10, messageCount: 5))
    #expect(
      try all(store) == ["mine", "d920", "d930", "d940", "d941"] + days(997...1000)
        + ["pending"])
    try store.expectSound()
    try store.write { chat throws in
      try chat.removeTag(.pinned, of: "d940", in: "room")
      try chat.prune()
    }
    try store.finishWork()
    #expect(try !all(store).contains("d940"))
    let starred = try store.read { try $0.tagged(.starred).newest(9).map(\.id) }
    #expect(starred == ["d941"])
    try store.expectSound()
  }

  @Test func slicesEndWhereMessagesWerePruned() throws {
    let store = try daily(60, numbered: false)
    try store.write { chat throws in
      for day in [951, 952, 960] { try chat.react("👍", to: MessageID("d\(day)"), in: "room") }
    }
    try prune(store, Retention(messageCount: 4))
    try store.read { chat throws in
      let thread = try chat.thread("room")
      let parts = [["d951"], ["d952"], ["d960"], days(997...1000)]
      // Without numbers nobody knows whether there was a message between two islands.
      let backwards = try walk(thread, backwards: true)
      #expect(backwards == parts.reversed())
      let forwards = try walk(thread, backwards: false)
      #expect(forwards == parts)
      for (index, part) in parts.enumerated() {
        for id in part {
          for count in [1, 3, 50] {
            let around = try thread.around(MessageID(id), count: count)
            #expect(around.allSatisfy { part.contains($0.id.string) }, "\(id)")
            #expect(around.contains { $0.id.string == id })
          }
        }
        let first = try chat.message(MessageID(part[0]), in: "room")
        let before = try thread.before(first?.position ?? .start, count: 9)
        #expect(before.isEmpty)
        #expect((before.older.next == nil) == (index == 0))
      }
    }
  }

  /// The ids of the slices of a thread, from one end to the other.
  private func walk(_ thread: borrowing MessageThread, backwards: Bool) throws -> [[String]] {
    var found: [[String]] = []
    var slice =
      backwards ? try thread.tail(50) : try thread.at(Timestamp(microseconds: 0), count: 50)
    while true {
      found.append(slice.ids)
      guard let next = backwards ? slice.older.next : slice.newer.next else { return found }
      slice = backwards ? try thread.before(next, count: 50) : try thread.after(next, count: 50)
      if found.count > 100 { return found }
    }
  }

  @Test func prunedTextsAreInNoneOfTheFiles() throws {
    let directory = MemoryDirectory()
    let store = try daily(40, in: directory)
    let canary = Array("Kanarienvogel".utf8)
    try store.write { chat throws in
      try chat.insert(message("old", at: 970 * Self.day + 1, text: "Kanarienvogel"), as: .history)
    }
    try store.checkpoint()
    #expect(["store", "store-wal0", "store-wal1"].contains { directory.holds(canary, in: $0) })
    try prune(store, Retention(days: 5))
    try store.checkpoint()
    #expect(!["store", "store-wal0", "store-wal1"].contains { directory.holds(canary, in: $0) })
  }

  @Test func aSnapshotKeepsWhatItHas() throws {
    let store = try daily(40)
    try store.read { chat throws in
      try prune(store, Retention(messageCount: 5))
      #expect(try chat.thread("room").tail(50).count == 40)
      #expect(try chat.thread("room").tail(50).older == .end)
    }
    #expect(try all(store).count == 5)
  }

  @Test func aReadOnlyOpenerSeesTheEdges() throws {
    let directory = MemoryDirectory()
    let store = try daily(40, in: directory)
    try prune(store, Retention(messageCount: 5))
    try store.close()
    var options = StoreOptions(localMember: "me")
    options.access = .readOnly
    let reader = try MessageStore(in: directory, name: "store", options: options)
    let slice = try reader.read { try $0.thread("room").tail(9) }
    #expect(slice.ids == days(996...1000))
    #expect(slice.older == .pruned(beyond: nil))
    try reader.expectSound()
  }

  @Test func aDeletedHistoryHasNoPrunedPart() throws {
    let store = try daily(40)
    try store.write { chat in try chat.setRetention(Retention(messageCount: 5), of: "room") }
    try store.finishWork()
    try store.write { chat throws in
      try chat.deleteConversation("room")
      try chat.insert(message("new", at: 1002 * Self.day))
    }
    try store.finishWork()
    try store.read { chat throws in
      #expect(try chat.thread("room").tail(9).older == .end)
      #expect(try chat.retention(of: "room") == Retention(messageCount: 5))
    }
    try store.expectSound()
  }

  @Test func mergedConversationsKeepTheLaterEnd() throws {
    let store = try daily(40)
    try store.write { chat throws in
      for index in 1...20 as ClosedRange<Int64> {
        try chat.insert(
          chatMessage(MessageID("o\(index)"), in: "other", at: (900 + index) * Self.day),
          as: .history)
      }
      try chat.setRetention(Retention(messageCount: 5), of: "room")
    }
    try store.finishWork()
    try store.write { chat in try chat.renameConversation("room", to: "other") }
    try store.finishWork()
    try store.read { chat throws in
      #expect(try chat.retention(of: "other") == Retention(messageCount: 5))
      let slice = try chat.thread("other").tail(9)
      #expect(slice.ids == days(996...1000))
      guard case .pruned(beyond: let beyond?) = slice.older else {
        Issue.record("\(slice.older)")
        return
      }
      #expect(try chat.thread("other").before(beyond, count: 1).ids == ["o20"])
    }
    try store.expectSound()
  }

  @Test func rulesAndEndsAreExportedAndRestored() throws {
    let store = try daily(40)
    try store.write { chat throws in
      try chat.setRetention(Retention(days: 400))
      try chat.setRetention(Retention(days: 60, messageCount: 5), of: "room")
    }
    try store.finishWork()
    let lines = try store.lines()
    let restored = try MessageStore.restored(from: lines)
    #expect(try restored.lines() == lines)
    let slice = try restored.read { try $0.thread("room").tail(9) }
    #expect(slice.older == .pruned(beyond: nil))
    let rule = try restored.read { try $0.retention }
    #expect(rule == Retention(days: 400))
    try restored.expectSound()
    let wrong = #"{"kind":"store","local_member":"me","retention":{"days":0}}"# + "\n"
    #expect(throws: (any Error).self) { try MessageStore.restored(from: Array(wrong.utf8)) }
  }

  @Test func aSalvageSavesRulesAndEnds() throws {
    let directory = MemoryDirectory()
    let store = try daily(40, in: directory)
    try store.write { chat throws in
      try chat.setRetention(Retention(days: 400))
      try chat.setRetention(Retention(messageCount: 5), of: "room")
    }
    try store.finishWork()
    let lines = try store.lines()
    try store.close()
    let report = try MessageSalvage(PageSalvage(in: directory, name: "store"))
      .run(in: directory, name: "new")
    #expect(report.lostRecordCount == 0)
    let saved = try MessageStore(in: directory, name: "new", options: StoreOptions())
    #expect(try saved.lines() == lines)
    try saved.expectSound()
  }

  @Test func aCheckReportsMalformedRecords() throws {
    let directory = MemoryDirectory()
    let store = try daily(10, in: directory)
    try prune(store, Retention(messageCount: 5))
    try store.close()
    let cells: [(key: [UInt8], value: [UInt8])] = [
      ([0, 0, 0, 9], [1, 1]), ([0, 0, 0, 2], [7]), ([5], [1, 1]), ([0, 0, 0, 3], [1, 0]),
    ]
    try directory.plant(in: "store") { source in
      for cell in cells {
        try Bytes.with(cell.key) { (key) throws(PageFileError) in
          try Bytes.with(cell.value) { (value) throws(PageFileError) in
            _ = try BTree(source, Schema.retention).insert(key, value)
          }
        }
      }
    }
    let findings = try memoryStore(directory).check().map(\.description)
    #expect(findings.count == 5, "\(findings)")
  }
}

extension MemoryDirectory {
  fileprivate func holds(_ needle: [UInt8], in name: String) -> Bool {
    let bytes = self[name] ?? []
    return bytes.indices.contains { bytes[$0] == needle[0] && bytes[$0...].starts(with: needle) }
  }
}
