import MsgStore
import MsgStoreTools
import PageFile
import Simulation
import Testing

/// What can be seen at once, what is on the disk, and that nothing leaves the device before it is.
struct OutboxDurabilityTests {
  private func store(
    _ directory: some StorageDirectory, _ clock: TestClock = TestClock()
  ) throws -> MessageStore {
    var options = StoreOptions(localMember: "me", clock: { clock.now }).makingConversations
    options.worksInBackground = false
    options.outbox.chance = { 1 }
    return try MessageStore(in: directory, name: "store", options: options)
  }

  @Test func aSendCanBeSeenAtOnceAndIsDurableSoon() async throws {
    let store = try TestClock().outboxStore()
    let sent = try await store.send(own("m"))
    #expect(sent.value.id == "m" && sent.value.status == .pending)
    #expect(try store.tail == ["m"])
    #expect(try store.waiting == ["send m queued"])
    try await sent.waitUntilDurable()
    try await sent.waitUntilDurable()
    try blockUntilDurable(sent)
    let visible = try await store.writeWithoutWaiting { try $0.insert(message("r", at: 1)) }
    try blockUntilDurable(visible)
    #expect(visible.value == .inserted)
    await #expect(throws: StoreError.message(.idInUse, "m", in: "room")) {
      try await store.send(own("m"))
    }
    let last = try await store.send(own("n"))
    try await store.close()
    try await last.waitUntilDurable()
  }

  @Test(arguments: [true, false])
  func whatWasSentJustBeforeASuspensionIsKnownToBeOnTheDisk(checkpoints: Bool) async throws {
    let store = try TestClock().outboxStore()
    for index in 0..<20 {
      let sent = try await store.send(own(MessageID("m\(index)")))
      try await store.suspend(checkpoints: checkpoints)
      if index % 2 == 0 { try await sent.waitUntilDurable() } else { try blockUntilDurable(sent) }
      try await store.resume()
    }
    let last = try await store.send(own("last"))
    try await store.close()
    try blockUntilDurable(last)
  }

  @Test func manyMayWaitForOneSend() async throws {
    let store = try TestClock().outboxStore()
    for index in 0..<20 {
      let sent = try await store.send(own(MessageID("m\(index)")))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<5 { group.addTask { try await sent.waitUntilDurable() } }
        try await group.waitForAll()
      }
    }
    #expect(try store.counts().queued == 20)
  }

  @Test func afterAwaitingAPowerCutTakesNothing() async throws {
    let directory = SimulatedDirectory()
    let store = try store(directory)
    for index in 0..<5 {
      let sent = try await store.send(own(MessageID("m\(index)")))
      if index % 2 == 0 { try await sent.waitUntilDurable() } else { try blockUntilDurable(sent) }
      let after = try self.store(
        SimulatedDirectory(directory.disk.afterPowerCut(PowerCut(), .worst)))
      #expect(try after.waiting.count == index + 1 && after.tail.count == index + 1)
      try await after.close()
    }
    try await store.close()
  }

  @Test(.timeLimit(.minutes(30))) func whatNobodyWaitsForIsSoonOnTheDiskToo() async throws {
    let directory = SimulatedDirectory()
    let store = try store(directory)
    // The thread that syncs is started, looks for more, sleeps, and is woken.
    for (index, pause) in [0, 0, 5, 60, 0].enumerated() {
      try await Task.sleep(for: .milliseconds(pause))
      _ = try await store.send(own(MessageID("m\(index)")))
      var count = 0
      while count <= index {
        try await Task.sleep(for: .milliseconds(1))
        let disk = directory.disk.afterPowerCut(PowerCut(), .worst)
        let after = try self.store(SimulatedDirectory(disk))
        count = try after.waiting.count
        try await after.close()
      }
    }
    try await store.close()
  }

  @Test func whatWasHandedOutSurvivesAPowerCut() throws {
    // The syncs of relaxed writes are held up, as on a slow disk.
    let directory = SimulatedDirectory()
    let clock = TestClock(0)
    let store = try store(directory, clock)
    var handedOut: [OutboxItem] = []
    for index in 0..<12 {
      _ = try store.write(.relaxed) { chat in
        try chat.send(own(MessageID("m\(index)"), in: ConversationID("c\(index)")))
      }
      if index % 2 == 1 {
        let item = try store.write(.relaxed) { try $0.outbox.next(for: "w") }
        handedOut.append(try #require(item))
      }
      let disk = directory.disk.afterPowerCut(PowerCut(), .worst)
      let after = try self.store(SimulatedDirectory(disk), clock)
      for item in handedOut {
        let entry = try after.read { try $0.outbox.entry(item.id) }
        #expect(entry?.token == item.token && entry?.attemptCount == item.attempt)
        if case .running = entry?.state {} else { Issue.record("\(item.name) does not run") }
      }
      #expect(try after.check() == [])
      try after.close()
      if index % 4 == 3, let item = handedOut.popLast() {
        _ = try store.write(.relaxed) { try $0.outbox.complete(item) }
        let disk = directory.disk.afterPowerCut(PowerCut(), .worst)
        let after = try self.store(SimulatedDirectory(disk), clock)
        #expect(try after.read { try $0.outbox.entry(item.id) } == nil, "done is durable too")
        try after.close()
      }
    }
    try store.close()
  }

  @Test func aRelaxedWriteIsLostWhereNothingWasHandedOut() throws {
    let directory = SimulatedDirectory()
    let store = try store(directory)
    _ = try store.write(.relaxed) { try $0.send(own("m")) }
    let disk = directory.disk.afterPowerCut(PowerCut(), .worst)
    let after = try self.store(SimulatedDirectory(disk))
    #expect(try after.waiting == [], "or the test before proves nothing")
    try after.close()
    try store.close()
  }

  @Test func afterTheProcessWasKilledEverythingIsAsItWas() throws {
    let clock = TestClock(0)
    let directory = MemoryDirectory()
    let store = try clock.outboxStore(directory)
    try store.write {
      for room in ["a", "b", "c", "d", "e"] as [ConversationID] {
        try $0.send(own(MessageID("\(room)1"), in: room))
        try $0.send(own(MessageID("\(room)2"), in: room))
      }
      try $0.outbox.setHoldsNewEntries(true)
      try $0.send(own("held", in: "f"))
    }
    let running = try store.take("a")
    try store.fail(try store.take())
    try store.fail(try store.take(), .invalid)
    let given = try store.take()
    try store.write { try $0.outbox.returnWork(given) }
    let entries = try store.entries()
    let killed = try clock.outboxStore(directory.copy())
    #expect(try killed.entries() == entries)
    #expect(try killed.counts() == store.counts())
    #expect(try killed.read { try $0.outbox.holdsNewEntries })
    try killed.expectSound()
    // Its lease holds, and goes on.
    #expect(try killed.next("a")?.id != running.id)
    clock.advance(60)
    #expect(try killed.write { try $0.outbox.releaseAll() } == 1)
    var tokens: [OutboxEntry.ID: OutboxToken] = [:]
    while let item = try killed.next() {
      tokens[item.id] = item.token
      try killed.done(item)
    }
    #expect(tokens.count == 10)
    #expect(entries.allSatisfy { tokens[$0.id] == nil || tokens[$0.id] == $0.token })
    #expect(try killed.waiting == ["send c1 failed"])
    try killed.expectSound()
    // An owner that starts anew need not wait.
    let other = try clock.outboxStore(directory.copy())
    #expect(try other.write { try $0.outbox.reclaimWork(of: "a") } == 1)
    #expect(try other.take("a").token == running.token)
    #expect(try !other.done(given) || true)
  }

  @Test func aFailedSyncIsToldToWhoWaits() async throws {
    let directory = SimulatedDirectory()
    let store = try store(directory)
    _ = try await store.write { try $0.insert(message("r", at: 1)) }
    directory.set(.fault(Fault(.sync, first: 1, count: .max)))
    let sent = try await store.send(own("m"))
    #expect(throws: StoreError.self) { try sent.waitUntilDurable() }
    await #expect(throws: StoreError.self) { try await sent.waitUntilDurable() }
    #expect(throws: StoreError.self) { try store.next() }
    directory.set(nil)
    try? await store.close()
  }
}
