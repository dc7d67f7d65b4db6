import Damage
import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Asynchronous writes whose syncs last.
@Suite(.timeLimit(.minutes(30))) struct SharedSyncTests {
  /// A store whose syncs wait until they are let go, and then may fail.
  private final class SlowStore: Sendable {
    private struct State {
      var isHeld = false
      var error: PageFileError?
      var syncCount = 0
    }

    private let state = Locked(State())
    let store: MessageStore

    init() throws {
      let directory = WatchedDirectory(MemoryDirectory())
      var options = StoreOptions(localMember: "me", clock: { time(1_000_000) }).makingConversations
      // Beside other tests a store may be quiet for seconds; it is not to move its log then.
      options.worksInBackground = false
      store = try MessageStore(in: directory, name: "store", options: options)
      try store.write { try $0.insert(message("first", at: 0)) }
      directory.before { [state] (kind, _) throws(PageFileError) in
        guard kind == .sync else { return }
        state.withLock { $0.syncCount += 1 }
        while state.withLock({ $0.isHeld }) { usleep(200) }
        if let error = state.withLock({ $0.error }) { throw error }
      }
    }

    var syncCount: Int { state.withLock { $0.syncCount } }

    func hold() {
      state.withLock {
        $0 = State(isHeld: true)
      }
    }

    func letGo(_ error: PageFileError? = nil) {
      state.withLock {
        $0.isHeld = false
        $0.error = error
      }
    }

    func count() throws -> Int { try store.read { try $0.thread("room").tail(1000).count } }
  }

  @Test func writesAtOnceShareSyncs() async throws {
    let slow = try SlowStore()
    slow.hold()
    let doneCount = Locked(0)
    let tasks = (0..<50).map { number in
      Task {
        try await slow.store.write { try $0.insert(message(MessageID("m\(number)"), at: 1)) }
        doneCount.withLock { $0 += 1 }
      }
    }
    try await wait { try slow.count() == 51 }
    #expect(doneCount.withLock { $0 } == 0, "nobody is told before the sync")
    slow.letGo()
    for task in tasks { try await task.value }
    #expect(slow.syncCount <= 3)
    try await slow.store.close()
  }

  @Test func eachIsToldWhenItsSyncFails() async throws {
    let slow = try SlowStore()
    slow.hold()
    let tasks = (0..<5).map { number in
      Task {
        try await slow.store.write { try $0.insert(message(MessageID("m\(number)"), at: 1)) }
      }
    }
    try await wait { try slow.count() == 6 }
    slow.letGo(.ioError(call: "fdatasync", errno: 5, path: "store"))
    var told: [LSN] = []
    for task in tasks {
      do {
        _ = try await task.value
        Issue.record("no error")
      } catch StoreError.storage(.commitUnknown(let lsn)) {
        told.append(lsn)
      }
    }
    #expect(Set(told).count == 5)
    await #expect(throws: StoreError.storage(.poisoned)) { try await slow.store.write { _ in } }
    slow.letGo()
    try await slow.store.resume()
    try await slow.store.write { try $0.insert(message("again", at: 2)) }
    try slow.store.expectSound()
  }

  @Test func workIsHandedOutWhenThatIsDurable() async throws {
    let slow = try SlowStore()
    try await slow.store.send(own("mine")).waitUntilDurable()
    slow.hold()
    let item = Locked<String?>(nil)
    let task = Task {
      for try await work in slow.store.work(for: "w") {
        item.withLock { $0 = work.name }
        break
      }
    }
    try await wait { try await slow.store.read { try $0.outbox.counts().running } == 1 }
    // A write of the same kind begins meanwhile.
    let write = Task { try await slow.store.write { try $0.insert(message("m", at: 1)) } }
    try await wait { try slow.count() == 3 }
    #expect(item.withLock { $0 } == nil)
    slow.letGo()
    try await task.value
    _ = try await write.value
    #expect(item.withLock { $0 } == "send mine")
    #expect(slow.syncCount <= 2)
  }

  /// Handing out and completing are durable at every level.
  @Test func relaxedWritesThatMustBeDurableHoldNobodyUp() async throws {
    let slow = try SlowStore()
    try await slow.store.send(own("mine")).waitUntilDurable()
    slow.hold()
    let isDone = Locked(false)
    let task = Task {
      let item = try await slow.store.write(.relaxed) { try $0.outbox.next(for: "w") }
      isDone.withLock { $0 = true }
      return item?.name
    }
    try await wait { try await slow.store.read { try $0.outbox.counts().running } == 1 }
    _ = try await slow.store.write(.relaxed) { try $0.insert(message("m", at: 1)) }
    #expect(!isDone.withLock { $0 })
    slow.letGo()
    #expect(try await task.value == "send mine")
  }

  @Test(arguments: [true, false])
  func aWriteThatASuspensionMadeDurableIsDone(checkpoints: Bool) async throws {
    let slow = try SlowStore()
    for round in 0..<5 {
      // The first write after a resumption has syncs of its own.
      try await slow.store.write { try $0.insert(message(MessageID("r\(round)"), at: 1)) }
      slow.hold()
      let write = Task {
        try await slow.store.write { try $0.insert(message(MessageID("m\(round)"), at: 1)) }
      }
      try await wait { try slow.count() == 2 * round + 3 }
      let suspension = Task {
        try await slow.store.suspend(checkpoints: checkpoints)
        try await slow.store.resume()
      }
      slow.letGo()
      try await suspension.value
      #expect(try await write.value == .inserted)
    }
    try await slow.store.close()
  }
}
