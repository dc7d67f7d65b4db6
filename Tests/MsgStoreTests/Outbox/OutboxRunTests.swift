import MsgStore
import PageFile
import Testing

/// Messages of one conversation that are handed out together.
@Suite(.timeLimit(.minutes(30))) struct OutboxRunTests {
  private func store(_ clock: TestClock, _ count: Int = 5) throws -> MessageStore {
    let store = try clock.outboxStore()
    try store.write { chat throws in
      for index in 0..<count {
        try chat.send(own(MessageID("a\(index)"), in: "a"))
        try chat.send(own(MessageID("b\(index)"), in: "b"))
      }
    }
    return store
  }

  private func run(
    _ store: MessageStore, _ count: Int, _ owner: String = "worker"
  ) throws -> [OutboxItem] {
    let run = try store.write { try $0.outbox.next(for: owner, maximumCount: count) }
    try store.expectSound()
    return run
  }

  @Test func theMessagesOfOneConversationComeTogetherInOrder() throws {
    let store = try store(TestClock())
    let first = try run(store, 3)
    #expect(first.map(\.name) == ["send a0", "send a1", "send a2"])
    #expect(Set(first.map(\.token)).count == 3 && first.allSatisfy { $0.owner == "worker" })
    #expect(try store.read { try $0.message("a2", in: "a")?.status } == .sending)
    #expect(try store.counts() == OutboxCounts(queued: 7, running: 3))
    // Nobody else gets anything of the conversation meanwhile.
    #expect(try run(store, 99, "other").map(\.name) == (0..<5).map { "send b\($0)" })
    #expect(try run(store, 99, "third") == [])
    #expect(try store.write { try $0.outbox.complete(contentsOf: first) } == 3)
    #expect(try store.write { try $0.outbox.complete(contentsOf: first) } == 0)
    try store.expectSound()
    #expect(try run(store, 99).map(\.name) == ["send a3", "send a4"])
  }

  @Test func oneItemIsARunToo() throws {
    let store = try store(TestClock(), 2)
    #expect(try run(store, 1).map(\.name) == ["send a0"])
    #expect(throws: StoreError.input(.count(0))) { try run(store, 0) }
    #expect(throws: StoreError.self) { try run(store, 2, "") }
  }

  @Test func eachItemIsAnsweredOnItsOwnInAnyOrder() throws {
    let clock = TestClock()
    let store = try store(clock, 4)
    let items = try run(store, 4)
    for index in [2, 0, 3, 1] {
      #expect(try store.done(items[index]))
      try store.expectSound()
    }
    #expect(try store.counts("a").total == 0)
    #expect(try store.read { try $0.thread("a").tail(9).map(\.status) }.allSatisfy { $0 == .sent })
  }

  @Test func afterAFailureTheRestGoesBackAndTheOrderIsKept() throws {
    let clock = TestClock()
    let store = try store(clock)
    let items = try run(store, 4)
    try store.write { chat throws in
      try chat.outbox.complete(items[0])
      try chat.outbox.fail(items[1], because: SendFailure(.noConnection))
      #expect(try chat.outbox.returnWork(contentsOf: items[2...]) == 2)
    }
    try store.expectSound()
    // The one that waits holds its conversation back.
    #expect(try run(store, 99).map(\.name).allSatisfy { $0.hasPrefix("send b") })
    clock.advance(2)
    let again = try run(store, 99)
    #expect(again.map(\.name) == ["send a1", "send a2", "send a3", "send a4"])
    #expect(again.map(\.attempt) == [2, 1, 1, 1])
    #expect(again.prefix(3).map(\.token) == items.dropFirst().map(\.token))
  }

  @Test func aRefusedOneStepsAside() throws {
    let store = try store(TestClock(), 3)
    let items = try run(store, 3)
    try store.fail(items[0], .permission)
    try store.expectSound()
    #expect(try run(store, 99, "other").map(\.name).allSatisfy { $0.hasPrefix("send b") })
    #expect(try store.write { try $0.outbox.complete(contentsOf: items[1...]) } == 2)
    #expect(try store.entries(in: "a").map(\.line) == ["send a0 failed"])
    try store.expectSound()
  }

  @Test func aRunWhoseWorkerDiesComesAgainWithTheSameTokens() throws {
    let clock = TestClock()
    let files = MemoryDirectory()
    let store = try clock.outboxStore(files)
    try store.write { chat throws in
      for index in 0..<4 { try chat.send(own(MessageID("a\(index)"), in: "a")) }
    }
    let items = try run(store, 3)
    try store.close()
    let again = try clock.outboxStore(files)
    #expect(try run(again, 9, "other") == [])
    clock.advance(61)
    let others = try run(again, 9, "other")
    #expect(others.map(\.name) == ["send a0", "send a1", "send a2", "send a3"])
    #expect(others.prefix(3).map(\.token) == items.map(\.token))
    // The first worker was heard after all, and its report of failure counts no more.
    #expect(try again.done(items[1]))
    #expect(try !again.fail(items[0]))
    try again.expectSound()
    #expect(try again.write { try $0.outbox.complete(contentsOf: others) } == 3)
    #expect(try again.waiting == [])
  }

  @Test func otherWorkUploadsAndWaitingMessagesEndARun() throws {
    let clock = TestClock()
    let store = try clock.outboxStore()
    try store.write { chat throws in
      try chat.send(own("m0"))
      try chat.send(own("m1"))
      try chat.setTitle("Title", of: "room")
      try chat.send(own("m2"))
      try chat.send(ownWithFiles("m3", ["f"]))
      try chat.send(own("m4"))
    }
    let first = try run(store, 9)
    #expect(first.map(\.name) == ["send m0", "send m1"])
    let upload = try run(store, 9)
    #expect(upload.map(\.name) == ["upload f"])
    try store.write { chat in _ = try chat.outbox.complete(contentsOf: first) }
    #expect(try store.drain() == ["title Title", "send m2"])
    // The next one waits for its upload, and with it the one behind it.
    #expect(try run(store, 9) == [])
    try store.write { chat in _ = try chat.outbox.complete(contentsOf: upload) }
    #expect(try run(store, 9).map(\.name) == ["send m3", "send m4"])
  }

  @Test func heldAndRetractedMessagesAreNotInARun() throws {
    let store = try store(TestClock(), 5)
    let held = try store.entryID(.send, "a1")
    try store.write { chat throws in
      try chat.outbox.hold(held)
      try chat.retract("a3", in: "a")
    }
    #expect(try run(store, 99).map(\.name) == ["send a0", "send a2", "send a4"])
  }

  @Test func aRunIsOfBoundedLength() throws {
    let store = try TestClock().outboxStore()
    try store.write { chat throws in
      for index in 0..<300 { try chat.send(own(MessageID("m\(index)"))) }
    }
    #expect(try run(store, .max).count == 256)
  }

  @Test func runsAreWaitedFor() async throws {
    var options = StoreOptions(localMember: "me")
    options.createsConversationsOnSend = true
    let store = try MessageStore(in: MemoryDirectory(), name: "store", options: options)
    for index in 0..<5 { _ = try await store.send(own(MessageID("m\(index)"))) }
    var runs: [[String]] = []
    for try await run in store.work(for: "w", maximumCount: 3) {
      runs.append(run.map(\.name))
      _ = try await store.write { try $0.outbox.complete(contentsOf: run) }
      if runs.count == 2 {
        Task {
          try await wait { store.listenerCount > 0 }
          try await store.write { try $0.send(own("late")) }
        }
      }
      if runs.count == 3 { break }
    }
    #expect(runs == [["send m0", "send m1", "send m2"], ["send m3", "send m4"], ["send late"]])
    var nothing = store.work(for: "w", maximumCount: 0).makeAsyncIterator()
    await #expect(throws: StoreError.input(.count(0))) { try await nothing.next() }
  }

  /// Whatever is answered, in whatever order and by whichever worker, the server sees the messages
  /// of a conversation in their order: a worker stops at the first that fails.
  @Test(arguments: seeds(3)) func theOrderHoldsWhateverFails(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let clock = TestClock()
    let store = try store(clock, 20)
    var taken: [ConversationID: [String]] = [:]
    var roundCount = 0
    while try store.counts().total > 0 {
      roundCount += 1
      try #require(roundCount < 2000, "seed \(seed)")
      let items = try run(store, Int.random(in: 1...6, using: &random))
      if items.isEmpty { clock.advance(30) }
      for (index, item) in items.enumerated() {
        if random.chance(25) {
          try store.write { chat throws in
            try chat.outbox.fail(item, because: SendFailure(.timeOut))
            _ = try chat.outbox.returnWork(contentsOf: items[(index + 1)...])
          }
          break
        }
        if case .send(let message) = item.task {
          taken[message.conversation, default: []].append(message.id.string)
        }
        #expect(try store.done(item))
      }
    }
    #expect(taken["a"] == (0..<20).map { "a\($0)" }, "seed \(seed)")
    #expect(taken["b"] == (0..<20).map { "b\($0)" }, "seed \(seed)")
    try store.expectSound()
  }
}
