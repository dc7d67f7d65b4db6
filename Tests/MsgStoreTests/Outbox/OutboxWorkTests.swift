import MsgStore
import PageFile
import Testing

/// Work that is waited for.
@Suite(.timeLimit(.minutes(30))) struct OutboxWorkTests {
  private func store() throws -> MessageStore {
    try MessageStore(
      in: MemoryDirectory(), name: "store",
      options: StoreOptions(localMember: "me").makingConversations)
  }

  @Test func workComesInOrderAndAsSoonAsThereIsSome() async throws {
    let store = try store()
    for index in 0..<3 { _ = try await store.send(own(MessageID("m\(index)"))) }
    var names: [String] = []
    for try await work in store.work(for: "w") {
      names.append(work.name)
      #expect(work.owner == "w")
      try await store.write { try $0.outbox.complete(work) }
      if names.count == 3 {
        Task {
          try await wait { store.listenerCount > 0 }
          // What concerns no outbox wakes nobody for long.
          try await store.write { try $0.insert(message("r", at: 1)) }
          try await store.write { try $0.send(own("late")) }
        }
      }
      if names.count == 4 { break }
    }
    #expect(names == ["send m0", "send m1", "send m2", "send late"])
    #expect(try store.waiting == [] && store.listenerCount == 0)
  }

  @Test func whatFailedComesAgainWhenItsTimeHasCome() async throws {
    let store = try store()
    _ = try await store.send(own("m"))
    var attempts: [Int] = []
    for try await work in store.work(for: "w", lease: .milliseconds(20)) {
      attempts.append(work.attempt)
      switch attempts.count {
      case 1:
        let soon = Timestamp(microseconds: StoreOptions().clock().microseconds + 20_000)
        try await store.write {
          try $0.outbox.fail(work, because: SendFailure(.noConnection), retryAt: soon)
        }
      case 2: continue  // Forgotten: its lease expires.
      default: try await store.write { try $0.outbox.complete(work) }
      }
      if attempts.count == 3 { break }
    }
    #expect(attempts == [1, 2, 3])
    #expect(try store.waiting == [])
  }

  @Test func workThatAnEarlierProcessHadComesAgainAtOnce() async throws {
    let files = MemoryDirectory()
    let options = StoreOptions(localMember: "me").makingConversations
    let earlier = try MessageStore(in: files, name: "store", options: options)
    let (left, foreign) = try await earlier.write { chat in
      for room in ["a", "b"] as [ConversationID] {
        try chat.send(own(MessageID("in \(room)"), in: room))
      }
      return try (
        #require(try chat.outbox.next(for: "w", lease: .seconds(86_400))),
        #require(try chat.outbox.next(for: "other", lease: .seconds(86_400)))
      )
    }
    try await earlier.close()
    let store = try MessageStore(in: files, name: "store", options: options)
    for try await work in store.work(for: "w") {
      #expect(work.id == left.id && work.token == left.token && work.attempt == 2)
      try await store.write { try $0.outbox.complete(work) }
      break
    }
    #expect(try store.counts().running == 1)
    #expect(try store.waiting == ["\(foreign.name) running"])
    try store.expectSound()
  }

  @Test func loopsOfOneOwnerTakeNothingFromEachOther() async throws {
    let store = try store()
    try await store.write { chat in
      for index in 0..<20 {
        try chat.send(own(MessageID("m\(index)"), in: ConversationID("room\(index)")))
      }
    }
    let first = try await store.write { try $0.outbox.next(for: "w") }
    let taken = try await withThrowingTaskGroup(of: [OutboxEntry.ID].self) { group in
      for _ in 0..<4 {
        group.addTask {
          var taken: [OutboxEntry.ID] = []
          for try await work in store.work(for: "w") {
            taken.append(work.id)
            if taken.count == 4 { break }
          }
          return taken
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(Set(taken + [try #require(first).id]).count == 17)
    #expect(try store.counts().running == 17)
  }

  @Test func severalWorkBesideEachOther() async throws {
    let store = try store()
    try await store.write { chat in
      for index in 0..<40 {
        try chat.send(own(MessageID("m\(index)"), in: ConversationID("room\(index % 8)")))
      }
    }
    let counts = try await withThrowingTaskGroup(of: Int.self) { group in
      for worker in 0..<4 {
        group.addTask {
          var count = 0
          for try await work in store.work(for: "w\(worker)") {
            try await store.write { try $0.outbox.complete(work) }
            count += 1
          }
          return count
        }
      }
      try await wait { try store.counts().total == 0 }
      group.cancelAll()
      return try await group.reduce(0, +)
    }
    #expect(counts == 40 && store.listenerCount == 0)
    try store.expectSound()
  }

  @Test func itEndsWithItsTaskAndWithTheStore() async throws {
    let store = try store()
    let cancelled = Task { for try await _ in store.work(for: "w") {} }
    let closed = Task { for try await _ in store.work(for: "w") {} }
    try await wait { store.listenerCount >= 2 }
    cancelled.cancel()
    try await cancelled.value
    try await store.close()
    try await closed.value
    #expect(store.listenerCount == 0)
    for try await _ in store.work(for: "w") { Issue.record("a closed store has no work") }
  }

  @Test func itKeepsNoStoreOpen() async throws {
    var work: OutboxWork.Iterator?
    do {
      let store = try store()
      work = store.work(for: "w").makeAsyncIterator()
    }
    #expect(try await work?.next() == nil)
  }

  @Test func itWaitsWhileTheStoreIsSuspended() async throws {
    let store = try store()
    _ = try await store.send(own("m"))
    try await store.suspend()
    let task = Task { () -> String? in
      for try await work in store.work(for: "w") { return work.name }
      return nil
    }
    try await wait { store.listenerCount > 0 }
    try await store.resume()
    #expect(try await task.value == "send m")
  }

  @Test func anOwnerThatIsNoneIsRefused() async throws {
    let store = try store()
    var work = store.work(for: "").makeAsyncIterator()
    await #expect(throws: StoreError.self) { try await work.next() }
    #expect(try await work.next() == nil)
  }
}
