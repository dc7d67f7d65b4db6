import Damage
import MsgStore
import PageFile
import Testing

/// Work that is waited for beside a device that is locked, full, or failing.
@Suite(.timeLimit(.minutes(30))) struct OutboxWorkTroubleTests {
  private static let passing: [PageFileError] = [
    .deviceLocked(call: "pread", path: "store"), .ioError(call: "pread", errno: 5, path: "store"),
    .diskFull, .snapshotExpired, .busy(path: "store"),
    .limitExceeded(what: "bytes", value: 2, limit: 1), .aborted,
  ]

  /// A store with something to do, whose pages are on the disk alone.
  private func store(_ trouble: Trouble) async throws -> MessageStore {
    do {
      let store = try trouble.open()
      try await store.send(own("m")).waitUntilDurable()
      try await store.close()
    }
    return try trouble.open()
  }

  @Test(arguments: passing) func whatPassesDoesNotEndIt(_ error: PageFileError) async throws {
    let trouble = Trouble()
    let store = try await store(trouble)
    trouble.begin(error)
    trouble.onSleep { if $0 == 9 { trouble.end() } }
    var work = store.work(for: "w").makeAsyncIterator()
    #expect(try await work.next()?.name == "send m")
    let milliseconds = [20, 40, 80, 160, 320, 640, 1280, 2000, 2000]
    #expect(trouble.pauses == milliseconds.map { .milliseconds($0) })
  }

  /// It can be read that there is work, but not stored that it was handed out.
  @Test func aDeviceMayBeLockedForWriting() async throws {
    let trouble = Trouble()
    let store = try trouble.open()
    try await store.send(own("m")).waitUntilDurable()
    trouble.begin(.deviceLocked(call: "pwrite", path: "store"), [.write, .extend, .sync])
    trouble.onSleep { if $0 == 3 { trouble.end() } }
    var work = store.work(for: "w").makeAsyncIterator()
    #expect(try await work.next()?.name == "send m")
    #expect(trouble.pauses.count == 3)
    try store.expectSound()
  }

  /// After a failed sync nothing can be written until the store is resumed, so nobody tries.
  @Test func aPoisonedStoreIsWaitedFor() async throws {
    let trouble = Trouble()
    let store = try trouble.open(clock: StoreOptions.systemClock)
    try await store.send(own("m")).waitUntilDurable()
    trouble.begin(.ioError(call: "fdatasync", errno: 5, path: "store"), [.sync])
    trouble.onSleep { if $0 > 1 { try? await Task.sleep(for: .milliseconds(1)) } }
    let work = store.work(for: "w", lease: .milliseconds(20))
    let task = Task { () -> String? in
      for try await item in work { return item.name }
      return nil
    }
    // The sync of a commit fails, or that of the log's new room before it.
    try await wait { (try? store.write { _ in }) == nil }
    trouble.end()
    try await Task.sleep(for: .milliseconds(5))
    try await store.resume()
    #expect(try await task.value == "send m")
    // One retry and what is left of the lease; further retries would pause for longer.
    #expect(trouble.pauses.allSatisfy { $0 <= .milliseconds(20) })
  }

  @Test func damageEndsIt() async throws {
    let trouble = Trouble()
    let store = try await store(trouble)
    trouble.begin(.corruptPage(PageNumber(1), reason: "for a test"))
    var work = store.work(for: "w").makeAsyncIterator()
    await #expect(throws: StoreError.self) { try await work.next() }
    trouble.end()
    #expect(try await work.next() == nil)
    #expect(trouble.pauses.isEmpty)
  }

  @Test func closingEndsAPause() async throws {
    let trouble = Trouble()
    let store = try await store(trouble)
    trouble.begin(.deviceLocked(call: "pread", path: "store"))
    trouble.onSleep(Trouble.forEver)
    let work = store.work(for: "w")
    let task = Task { for try await _ in work { Issue.record("nothing can be handed out") } }
    try await wait { !trouble.pauses.isEmpty }
    try await store.close()
    try await task.value
  }
}
