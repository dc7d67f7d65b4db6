import MsgStore
import PageFile
import Testing

/// `MessageStore.compact` on a store that is in use.
struct StoreCompactionTests {
  private let directory = MemoryDirectory()

  private var byteCount: Int { directory["store"]?.count ?? 0 }

  /// Conversations 0 ..< 10, whose messages came one after the other.
  private func makeStore(messageCount: Int = 8000) throws -> MessageStore {
    let store = try memoryStore(directory)
    for start in stride(from: 0, to: messageCount, by: 500) {
      try store.write(.relaxed) { chat in
        for index in start..<min(start + 500, messageCount) {
          try chat.insert(
            Message(
              id: MessageID("m-\(index)"), in: Self.conversation(index), from: "ann",
              text: "message number \(index) says nothing that is worth a reading",
              serverTimestamp: time(Int64(index)), sequence: Int64(index / 10)))
        }
      }
    }
    try store.checkpoint()
    return store
  }

  private static func conversation(_ index: Int) -> ConversationID {
    ConversationID("conversation-\(index % 10)")
  }

  private func texts(_ store: MessageStore, _ index: Int) throws -> [String] {
    try store.read { try $0.thread(Self.conversation(index)).tail(10_000).map(\.text) }
  }

  @Test func aStoreOfWhichNineTenthsAreDeletedBecomesSmall() throws {
    let store = try makeStore()
    let full = byteCount
    let expected = try texts(store, 4)
    try store.write { chat in
      for index in 0..<10 where index != 4 {
        _ = try chat.deleteConversation(Self.conversation(index))
      }
    }
    var stages: [CompactionProgress.Stage] = []
    var last: CompactionProgress?
    try store.compact { progress in
      if stages.last != progress.stage { stages.append(progress.stage) }
      last = progress
    }
    #expect(
      stages == [.packing, .moving, .done] || stages == [.reading, .packing, .moving, .done])
    // A tenth, and what is kept free.
    #expect(byteCount < full / 10 + 80 * 4096, "\(byteCount) of \(full)")
    let end = try #require(last)
    #expect(end.byteCount == byteCount && end.byteCountBefore > byteCount)
    #expect(try texts(store, 4) == expected)
    try store.expectSound()
    try store.close()
    let reopened = try memoryStore(directory)
    #expect(try texts(reopened, 4) == expected)
    try reopened.expectSound()
  }

  @Test func othersReadAndWriteMeanwhile() async throws {
    let store = try makeStore()
    let expected = try (0..<10).map { try texts(store, $0) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await store.compact() }
      group.addTask {
        for index in 0..<200 {
          try await store.write(.relaxed) { chat in
            _ = try chat.delete(MessageID("m-\(index)"), in: Self.conversation(index))
            try chat.insert(
              Message(
                id: MessageID("n-\(index)"), in: "other", from: "ann", text: "new",
                serverTimestamp: time(Int64(index))))
          }
        }
      }
      for reader in 0..<2 {
        group.addTask {
          for round in 0..<60 {
            let index = (round + reader) % 10
            let seen = try await store.read {
              try $0.thread(Self.conversation(index)).tail(10_000).map(\.text)
            }
            #expect(seen == Array(expected[index].suffix(seen.count)) && seen.count > 770)
          }
        }
      }
      try await group.waitForAll()
    }
    try await store.compact()
    let count = try await store.read { try $0.thread("other").tail(1000).count }
    #expect(count == 200)
    for index in 0..<10 { #expect(try texts(store, index) == Array(expected[index].dropFirst(20))) }
    try store.expectSound()
  }

  private struct Enough: Error {}

  @Test func aCompactionMayBeGivenUpAndGoneOnWith() throws {
    let store = try makeStore(messageCount: 3000)
    let expected = try (0..<10).map { try texts(store, $0) }
    var isDone = false
    var stepCount = 0
    while !isDone {
      var left = stepCount
      do {
        try store.compact { _ in
          left -= 1
          if left < 0 { throw Enough() }
        }
        isDone = true
      } catch is Enough {
        stepCount += 3
      }
      #expect(try (0..<10).map { try texts(store, $0) } == expected)
      try store.expectSound()
    }
    #expect(stepCount > 20)
  }

  @Test func aCancelledTaskStopsBetweenTwoSteps() async throws {
    let store = try makeStore(messageCount: 2000)
    let expected = try texts(store, 3)
    let running = Locked<Task<Void, any Error>?>(nil)
    let task = Task {
      try await store.compact { _ in running.withLock { $0 }?.cancel() }
    }
    running.withLock { $0 = task }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try texts(store, 3) == expected)
    try store.expectSound()
    try await store.compact()
    #expect(try texts(store, 3) == expected)
    try store.expectSound()
  }

  @Test func whatCannotBeReadIsReportedBeforeAnythingChanges() throws {
    try makeStore().close()
    var bytes = try #require(directory["store"])
    // In the middle of some page.
    bytes[32768 + 40 * 4096 + 2000] ^= 1
    directory["store"] = bytes
    let store = try memoryStore(directory)
    do {
      try store.compact()
      Issue.record("a damaged page was passed over")
    } catch StoreError.storage(.corruptPage) {
    }
    #expect(directory["store"] == bytes)
    try store.close()
    #expect(directory["store"] == bytes)
  }

  @Test func whoeverOnlyReadsCannotCompact() throws {
    try makeStore(messageCount: 20).close()
    var options = StoreOptions()
    options.access = .readOnly
    let store = try MessageStore(in: directory, name: "store", options: options)
    #expect(throws: StoreError.storage(.readOnly(reason: "opened for reading only"))) {
      try store.compact()
    }
  }
}
