import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Mutes that end at a time: over by the clock at once, and for the counters with the first step.
struct MuteEndTests {
  private let clock = TestClock(1000)

  private func filled(_ change: (inout StoreOptions) -> Void = { _ in }) throws -> MessageStore {
    let store = try expiringStore(clock, change)
    try fill(store)
    return store
  }

  /// Three unread messages in "room", and two in "other".
  private func fill(_ store: MessageStore) throws {
    try store.write { chat throws in
      for index in 1...3 as ClosedRange<Int64> {
        try chat.insert(message(MessageID("m\(index)"), at: index, index))
      }
      for index in 1...2 as ClosedRange<Int64> {
        try chat.insert(chatMessage(MessageID("o\(index)"), in: "other", at: index))
      }
    }
  }

  private func room(_ store: MessageStore) throws -> Conversation {
    try #require(try store.read { try $0.conversation("room") })
  }

  private func totals(_ store: MessageStore) throws -> [Int] {
    let totals = try store.read { try $0.unreadTotals }
    return [totals.messages, totals.mutedMessages]
  }

  /// Tells the store a time of the server's.
  private func hear(_ time: Int64, _ store: MessageStore) throws {
    try store.write { chat in
      try chat.insert(chatMessage(MessageID("news\(time)"), in: "news", at: time, from: "me"))
    }
    try store.finishWork()
  }

  private func isUnused(_ store: MessageStore) throws -> Bool {
    try store.read { $0.view.expiry.isUnused }
  }

  @Test func listsFollowTheClockAndTotalsTheStep() throws {
    let store = try filled()
    #expect(try isUnused(store))
    #expect(try store.write { try $0.setMuted(true, of: "room", until: time(2000)) })
    #expect(try !store.commits { try $0.setMuted(true, of: "room", until: time(2000)) })
    clock.set(1999)
    try store.finishWork()
    #expect(try room(store).isMuted && room(store).mutedUntil == time(2000))
    #expect(try totals(store) == [2, 3])
    #expect(try store.read { try $0.nextExpiry } == time(2000))
    try store.expectSound()
    clock.set(2000)
    // Nothing has been written since.
    #expect(try !room(store).isMuted && room(store).mutedUntil == nil)
    let listed = try store.read { try $0.conversations(count: 9).map(\.isMuted) }
    #expect(listed == [false, false])
    #expect(try store.read { try $0.nextExpiry } == nil)
    #expect(try store.write { try $0.conversation("room")?.isMuted } == false)
    #expect(try totals(store) == [2, 3])
    try store.expectSound()
    try store.finishWork()
    #expect(try totals(store) == [5, 0])
    try store.expectSound()
    try store.close()
  }

  @Test func aClockThatIsSetBackMutesAgain() throws {
    let store = try filled()
    try store.write { _ = try $0.setMuted(true, of: "room", until: time(2000)) }
    clock.set(9000)
    try store.finishWork()
    #expect(try totals(store) == [5, 0])
    clock.set(1500)
    #expect(try room(store).isMuted && room(store).mutedUntil == time(2000))
    #expect(try store.write { try $0.conversation("room")?.isMuted } == true)
    try store.finishWork()
    #expect(try totals(store) == [2, 3])
    try store.expectSound()
    // Once the server's time has passed the end, it is over for good.
    clock.set(2100)
    try store.finishWork()
    try hear(1999, store)
    clock.set(1500)
    #expect(try room(store).isMuted)
    try store.finishWork()
    clock.set(2100)
    try hear(2050, store)
    #expect(try isUnused(store))
    clock.set(1500)
    #expect(try !room(store).isMuted && room(store).mutedUntil == nil)
    #expect(try totals(store) == [5, 0])
    try store.expectSound()
    try store.close()
  }

  @Test func aStoreMayEndMutesByItsClockForGood() throws {
    let store = try filled { $0.erasesExpiredByClock = true }
    try store.write { _ = try $0.setMuted(true, of: "room", until: time(2000)) }
    clock.set(2000)
    for _ in 0..<9 { try store.write { try $0.doWork() } }
    clock.set(1500)
    #expect(try isUnused(store) && !room(store).isMuted)
    try store.expectSound()
    try store.close()
  }

  @Test func anotherMuteReplacesIt() throws {
    let store = try filled()
    try store.write { chat throws in
      #expect(try chat.setMuted(true, of: "room", until: time(2000)))
      #expect(try chat.setMuted(true, of: "room", until: time(1500)))
      #expect(try chat.nextExpiry == time(1500))
      #expect(try chat.conversation("room")?.mutedUntil == time(1500))
      #expect(try chat.setMuted(true, of: "room"))
      #expect(try chat.nextExpiry == nil)
      #expect(try chat.conversation("room")?.isMuted == true)
      #expect(try !chat.setMuted(true, of: "room"))
      #expect(try chat.setMuted(true, of: "room", until: time(1800)))
      #expect(try chat.setMuted(false, of: "room", until: time(1900)))
      #expect(try chat.conversation("room")?.isMuted == false)
      #expect(try !chat.setMuted(false, of: "room"))
    }
    #expect(try isUnused(store))
    #expect(try totals(store) == [5, 0])
    try store.expectSound()
    // One that has passed already is over at once.
    clock.set(3000)
    try store.write { _ = try $0.setMuted(true, of: "room", until: time(2000)) }
    #expect(try !room(store).isMuted)
    try store.finishWork()
    #expect(try totals(store) == [5, 0])
    try store.write { _ = try $0.setMuted(true, of: "other", until: time(2500)) }
    // It lies behind the border that the counters have reached.
    #expect(try totals(store) == [5, 0])
    try store.expectSound()
    try store.close()
  }

  @Test func anOpenedStoreEndsItsMutes() async throws {
    let directory = MemoryDirectory()
    var store = try expiringStore(clock, in: directory)
    try fill(store)
    try await store.write { _ = try $0.setMuted(true, of: "room", until: time(2000)) }
    try await store.close()
    clock.set(2000)
    let reader = try expiringStore(clock, in: directory) { $0.access = .readOnly }
    #expect(try !room(reader).isMuted)
    #expect(try totals(reader) == [2, 3])
    try await reader.close()
    store = try expiringStore(clock, in: directory) { $0.worksInBackground = true }
    for _ in 0..<500 where try totals(store) != [5, 0] {
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(try totals(store) == [5, 0])
    // And one that ends while it is open, with the list told.
    var changes = store.changes.makeAsyncIterator()
    try await store.write { _ = try $0.setMuted(true, of: "room", until: time(52_000)) }
    _ = await changes.next()
    clock.set(60_000)
    let change = await changes.next()
    #expect(change?.conversations["room"] != nil || change?.coversEverything == true)
    #expect(change?.hasCounterChanges == true)
    #expect(try totals(store) == [5, 0])
    #expect(try await store.check() == [])
    try await store.close()
  }

  /// Facts, steps, and times of the server in any order: what counts is the latest fact.
  @Test(arguments: seeds(6, debugCount: 3)) func receivedMutesMergeInAnyOrder(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<12 {
      var facts: [ReceivedConversation] = []
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        facts.append(
          ReceivedConversation("room", at: time(.random(in: 1...3, using: &random))) {
            $0.isMuted = random.chance(75)
            let end = Int64.random(in: 1...5, using: &random) * 1000
            if random.chance(75) { $0.mutedUntil = time(end) }
          })
      }
      // The rule, said once more.
      let newest = facts.map(\.at).max()
      let last = facts.filter { $0.at == newest && $0.isMuted == true }
      let ends = last.map { $0.mutedUntil?.microseconds ?? .max }
      for _ in 0..<4 {
        clock.set(500)
        let store = try filled { $0.steps = StepSizes(maximumSweepCount: 1) }
        for fact in (facts + facts.filter { _ in random.chance(30) }).shuffled(using: &random) {
          try store.write { _ = try $0.receive(fact) }
          clock.set(.random(in: 500...6000, using: &random))
          if random.chance(50) { try store.write { try $0.doWork() } }
          if random.chance(30) { try hear(.random(in: 500...6000, using: &random), store) }
          if random.chance(30) { try store.expectSound() }
        }
        // No clock is set back behind a time at which it was over for good.
        clock.set(6000)
        try store.finishWork()
        let isMuted = ends.max() == .max
        #expect(try room(store).isMuted == isMuted, "seed \(seed): \(facts)")
        #expect(try totals(store)[1] == (isMuted ? 3 : 0), "seed \(seed)")
        #expect(try !store.commits { for fact in facts { try $0.receive(fact) } }, "seed \(seed)")
        try store.expectSound()
        try store.close()
      }
      for now in [500, 1000, 2500, 4000] as [Int64] {
        clock.set(now)
        let store = try filled()
        try store.write { for fact in facts.shuffled(using: &random) { try $0.receive(fact) } }
        let isMuted = ends.max().map { $0 > now } ?? false
        #expect(try room(store).isMuted == isMuted, "seed \(seed) at \(now): \(facts)")
        try store.close()
      }
    }
  }

  @Test func aConversationThatJoinsAnotherBringsItsMute() throws {
    for (a, b, end) in [(2000, 3000, 3000), (3000, 2000, 3000)] as [(Int64, Int64, Int64)] {
      let store = try expiringStore(clock)
      try store.write { chat throws in
        for (id, until) in [("room", a), ("server", b)] as [(ConversationID, Int64)] {
          try chat.insert(chatMessage("m", in: id, at: 1))
          try chat.receive(
            ReceivedConversation(id, at: time(7)) {
              $0.isMuted = true
              $0.mutedUntil = time(until)
            })
        }
        try chat.renameConversation("room", to: "server")
      }
      try store.finishWork()
      #expect(try room(store).mutedUntil == time(end))
      try store.expectSound()
      clock.set(3000)
      try store.finishWork()
      #expect(try totals(store) == [1, 0])
      try store.expectSound()
      clock.set(1000)
      try store.close()
    }
  }

  /// A deleted conversation gets another number, and the border may lie between the two.
  @Test func aDeletedConversationKeepsItsMute() throws {
    let store = try filled { $0.steps = StepSizes(maximumSweepCount: 1) }
    try store.write { chat throws in
      for id in ["room", "other"] as [ConversationID] {
        _ = try chat.setMuted(true, of: id, until: time(2000))
      }
    }
    clock.set(2000)
    try store.write { try $0.doWork() }
    #expect(try totals(store) == [3, 2])
    try store.write { chat throws in
      _ = try chat.deleteConversation("room")
      try chat.insert(message("new", at: 100))
    }
    try store.expectSound()
    clock.set(1999)
    #expect(try room(store).mutedUntil == time(2000))
    try store.finishWork()
    #expect(try totals(store) == [0, 3])
    try store.expectSound()
    clock.set(2000)
    try store.finishWork()
    #expect(try totals(store) == [3, 0])
    try hear(2000, store)
    #expect(try isUnused(store))
    try store.write { _ = try $0.deleteConversation("room") }
    try store.finishWork()
    try store.expectSound()
    try store.close()
  }

  /// What has ended, what the counters have let go, and what is still to end.
  @Test func anExportComesBackByteForByte() throws {
    let directory = MemoryDirectory()
    let store = try expiringStore(clock, in: directory)
    try fill(store)
    let far: Int64 = 4_000_000_000_000_000
    let ends: [(ConversationID, Int64?)] = [
      ("room", 2000), ("other", 3000), ("third", far), ("fourth", nil), ("fifth", 2500),
    ]
    try store.write { chat throws in
      for (id, end) in ends {
        try chat.insert(chatMessage("m", in: id, at: 5))
        _ = try chat.setMuted(true, of: id, until: end.map { time($0) })
      }
    }
    clock.set(2200)
    try hear(2100, store)
    clock.set(2600)
    try store.finishWork()
    let lines = try store.lines()
    let text = String(decoding: lines, as: UTF8.self)
    #expect(text.contains(#""muted_ms":0.006,"muted_until_ms":2}"#))
    #expect(text.contains(#""muted":true,"muted_ms":0.006,"muted_until_ms":2.5}"#))
    let restored = try MessageStore.restored(from: lines)
    #expect(try restored.lines() == lines)
    let ids = ["room", "other", "third", "fourth", "fifth"] as [ConversationID]
    let isMuted = try restored.read { chat in try ids.map { try chat.conversation($0)?.isMuted } }
    #expect(isMuted == [false, false, true, true, false])
    try restored.finishWork()
    try restored.expectSound()
    #expect(try restored.lines() == lines)
    try restored.close()
    try store.close()
    let salvaged = try SalvageSubject(directory).salvage()
    #expect(salvaged.saved.isWhole)
    let saved = ids.map { salvaged.content.conversations[$0] }
    #expect(saved.map { $0?.isMuted } == isMuted)
    #expect(saved[2]?.mutedUntil == time(far))
  }

  @Test func aMessageLeavesTheArchiveOnceTheMuteIsOver() throws {
    let store = try filled { $0.newMessagesLeaveArchive = true }
    try store.write { chat throws in
      _ = try chat.setArchived(true, of: "room")
      _ = try chat.setMuted(true, of: "room", until: time(2000))
    }
    try store.write { _ = try $0.insert(message("m4", at: 4)) }
    #expect(try room(store).isArchived)
    clock.set(2000)
    // No step has come yet.
    try store.write { _ = try $0.insert(message("m5", at: 5)) }
    #expect(try !room(store).isArchived)
    try store.expectSound()
    try store.finishWork()
    // The clock is set back, and no step has come yet.
    try store.write { _ = try $0.setArchived(true, of: "room") }
    clock.set(1500)
    try store.write { _ = try $0.insert(message("m6", at: 6)) }
    #expect(try room(store).isArchived)
    try store.close()
  }

  @Test func aCheckFindsAnEntryOfNoMuteAndAMuteWithoutAnEntry() throws {
    let directory = MemoryDirectory()
    var store = try expiringStore(clock, in: directory)
    try fill(store)
    try store.write { _ = try $0.setMuted(true, of: "room", until: time(2000)) }
    try store.close()
    try directory.plant(in: "store") { source in
      let entry = ExpiryKey(muteOf: 1, until: 2000).encoded
      let other = ExpiryKey(muteOf: 2, until: 2000).encoded
      _ = try BTree(source, Schema.expiry).insert(other.bytes, .empty)
      _ = try BTree(source, Schema.expiry).remove(entry.bytes)
    }
    store = try expiringStore(clock, in: directory)
    #expect(
      try store.check().map(\.description) == [
        "conversation \"room\": end of its mute missing from the expiry tree",
        "expiry: conversation 2: no mute until 2000",
      ])
    try store.close()
  }
}
