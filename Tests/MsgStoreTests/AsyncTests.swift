import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Every call that may block has a form that blocks no thread of Swift's.
@Suite(.timeLimit(.minutes(30))) struct AsyncTests {
  @Test func theFormsDoWhatTheOthersDo() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.url.appendingPathComponent("chat").path
    let store = try await MessageStore.open(path: path, options: .init(localMember: "me"))
    try await store.write { chat in
      _ = try chat.putConversation("room", participants: ["me", "ann"])
    }
    let sent = try await store.send(own("m"))
    let titled = try await store.writeWithoutWaiting { try $0.setTitle("title", of: "room") }
    try await sent.waitUntilDurable()
    try await titled.waitUntilDurable()
    try await store.checkpoint()
    #expect(try await store.check() == [])
    try await store.suspend()
    await #expect(throws: StoreError.storage(.suspended)) { try await store.send(own("n")) }
    try await store.resume()
    #expect(try await store.read { try $0.thread("room").tail(5).ids } == ["m"])
    await #expect(throws: StoreError.self) { try await MessageStore.open(path: path) }
    try await store.close()
    await #expect(throws: StoreError.storage(.closed)) { try await store.send(own("n")) }
    await #expect(throws: StoreError.storage(.closed)) { try await store.resume() }
    let again = try await MessageStore.open(path: path)
    #expect(try await again.read { try $0.thread("room").tail(5).ids } == ["m"])
  }

  /// However many wait, other tasks go on.
  @Test func whatWaitsBlocksNoOtherTask() async throws {
    let store = try memoryStore()
    let isOver = Locked(false)
    let writer = Task.detached {
      try await store.write(.relaxed) { _ in while !isOver.withLock({ $0 }) { usleep(100) } }
    }
    let waiting = (0..<64).map { number in
      Task.detached { _ = try await store.send(own(MessageID("m\(number)"))) }
    }
    for _ in 0..<100 { await Task.detached { await Task.yield() }.value }
    isOver.withLock { $0 = true }
    try await writer.value
    for task in waiting { try await task.value }
    #expect(try await store.read { try $0.thread("room").tail(100).count } == 64)
  }

  /// What the user does does not wait for what comes from the server, but for the write under way.
  @Test func aSendGoesBeforeBatchesThatWait() async throws {
    let store = try memoryStore()
    let order = Locked<[String]>([])
    let (isInside, isOver) = (Locked(false), Locked(false))
    let first = Task.detached {
      try await store.write(.relaxed) { _ in
        isInside.withLock { $0 = true }
        while !isOver.withLock({ $0 }) { usleep(100) }
      }
    }
    try await wait { isInside.withLock { $0 } }
    var tasks = [first]
    for _ in 0..<5 {
      tasks.append(
        Task.detached {
          try await store.write(.relaxed) { _ in order.withLock { $0.append("batch") } }
        })
    }
    // Somebody in another thread, who does not stand in the queue of the asynchronous writes.
    let blocking = Worker()
    blocking.enqueue {
      try? store.write(.relaxed) { _ in order.withLock { $0.append("batch") } }
    }
    try await wait { store.core.database.waitingWriterCount >= 1 }
    tasks.append(
      Task.detached {
        _ = try await store.send(own("m"))
        order.withLock { $0.append("send") }
      })
    tasks.append(
      Task.detached {
        try await store.write { _ in order.withLock { $0.append("user") } }
      })
    try await wait { store.core.database.waitingWriterCount >= 3 }
    isOver.withLock { $0 = true }
    for task in tasks { try await task.value }
    blocking.stop()
    let found = order.withLock { $0 }
    #expect(found.count == 8 && found.firstIndex(of: "user") ?? 9 < 2)
  }
}
