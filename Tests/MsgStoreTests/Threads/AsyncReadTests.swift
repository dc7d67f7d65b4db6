import Foundation
import MsgStore
import PageFile
import Testing

/// Long reads on the store's threads, and what goes on beside them.
@Suite(.timeLimit(.minutes(30))) struct AsyncReadTests {
  /// Reads that go on until they are told to end.
  private final class LongReads: Sendable {
    private let insideCount = Locked(0)
    private let isOver = Locked(false)
    private let tasks = Locked<[Task<Int, any Error>]>([])

    /// Begins reads and waits until that many are under way.
    func begin(_ count: Int, in store: MessageStore) async throws {
      let goal = insideCount.withLock { $0 } + count
      for _ in 0..<count {
        let task = Task {
          try await store.read { [self] chat in
            insideCount.withLock { $0 += 1 }
            while !isOver.withLock({ $0 }) { usleep(500) }
            return try chat.thread("room").tail(100).count
          }
        }
        tasks.withLock { $0.append(task) }
      }
      try await wait { insideCount.withLock { $0 } >= goal }
    }

    func tell() { isOver.withLock { $0 = true } }

    func end() async throws -> [Int] {
      tell()
      var counts: [Int] = []
      for task in tasks.withLock({ $0 }) { counts.append(try await task.value) }
      return counts
    }
  }

  private func store() throws -> MessageStore {
    let store = try memoryStore()
    try store.write { chat in
      for number in 0..<20 { try chat.insert(message(MessageID("m\(number)"), at: Int64(number))) }
    }
    return store
  }

  @Test func aReadWaitsForNoOther() async throws {
    let store = try store()
    let long = LongReads()
    for _ in 0..<10 {
      try await long.begin(4, in: store)
      #expect(try await store.read { try $0.thread("room").tail(1).ids } == ["m19"])
    }
    #expect(try await long.end() == [Int](repeating: 20, count: 40))
  }

  /// However many reads callers have under way.
  @Test func liveValuesAndWorkWaitForNoReads() async throws {
    let store = try store()
    let long = LongReads()
    try await long.begin(64, in: store)
    var live = store.thread("room").live(newest: 5).makeAsyncIterator()
    #expect(try await live.next()?.slice.last?.id == "m19")
    var work = store.work(for: "w").makeAsyncIterator()
    _ = try await store.send(own("mine"))
    #expect(try await work.next()?.name == "send mine")
    _ = try await long.end()
  }

  @Test func closingWaitsForTheReadsUnderWay() async throws {
    let store = try store()
    let long = LongReads()
    try await long.begin(40, in: store)
    let closing = Task { try await store.close() }
    // From now on nothing is accepted.
    try await wait {
      do {
        try await store.read { _ in }
        return false
      } catch StoreError.storage(.closed) {
        return true
      }
    }
    #expect(try await long.end() == [Int](repeating: 20, count: 40))
    try await closing.value
  }

  @Test func searchesBesideEachOtherFindWhatEachLooksFor() async throws {
    let store = try store()
    try await withThrowingTaskGroup(of: (Int, [String]).self) { group in
      for number in 0..<30 {
        try await store.write(.relaxed) { chat in
          try chat.insert(message(MessageID("s\(number)"), at: 100, text: "word\(number)x"))
        }
        group.addTask {
          let hits = try await store.read { try $0.search(SearchQuery("word\(number)x")) }
          return (number, hits.map(\.message.id.string))
        }
      }
      for try await (number, found) in group { #expect(found == ["s\(number)"]) }
    }
  }
}
