import MsgStore
import PageFile
import Testing

/// Live values beside a device that is locked, full, or failing.
@Suite(.timeLimit(.minutes(30))) struct LiveTroubleTests {
  private static let passing: [PageFileError] = [
    .deviceLocked(call: "pread", path: "store"), .ioError(call: "pread", errno: 5, path: "store"),
    .diskFull, .snapshotExpired, .busy(path: "store"),
    .limitExceeded(what: "bytes", value: 2, limit: 1),
  ]

  /// A store whose pages are on the disk alone.
  private func store(_ trouble: Trouble) throws -> MessageStore {
    do {
      let store = try trouble.open()
      try store.write { chat in
        for number in 0..<100 {
          try chat.insert(message(MessageID("m\(number)"), at: Int64(number), Int64(number)))
        }
      }
      try store.close()
    }
    return try trouble.open()
  }

  @Test(arguments: passing) func whatPassesDoesNotEndThem(_ error: PageFileError) async throws {
    let trouble = Trouble()
    let store = try store(trouble)
    trouble.begin(error)
    trouble.onSleep { if $0 % 10 == 0 { trouble.end() } }
    var room = store.thread("room").live(newest: 5).makeAsyncIterator()
    #expect(try await room.next()?.slice.last?.id == "m99")
    // Each pause is twice the one before, up to two seconds.
    let milliseconds = [20, 40, 80, 160, 320, 640, 1280, 2000, 2000, 2000]
    #expect(trouble.pauses == milliseconds.map { .milliseconds($0) })
    try await store.write(.relaxed) { try $0.insert(message("n", at: 200)) }
    #expect(try await room.next()?.slice.last?.id == "n")
  }

  @Test func aListWaitsAsWell() async throws {
    let trouble = Trouble()
    let store = try store(trouble)
    trouble.begin(.deviceLocked(call: "pread", path: "store"))
    trouble.onSleep { _ in trouble.end() }
    var list = store.conversations.live(newest: 5).makeAsyncIterator()
    #expect(try await list.next()?.conversations.first?.id == "room")
  }

  /// Nobody sits out a pause when there is something to see.
  @Test func aChangeEndsAPause() async throws {
    let trouble = Trouble()
    let store = try store(trouble)
    trouble.begin(.deviceLocked(call: "pread", path: "store"))
    trouble.onSleep(Trouble.forEver)
    let live = store.thread("room").live(newest: 5)
    let task = Task { () -> MessageID? in
      for try await value in live { return value.slice.last?.id }
      return nil
    }
    try await wait { !trouble.pauses.isEmpty }
    trouble.end()
    try await store.write(.relaxed) { try $0.insert(message("n", at: 200)) }
    #expect(try await task.value == "n")
    #expect(trouble.pauses.count == 1)
  }

  @Test func closingAndCancellingEndAPause() async throws {
    let trouble = Trouble()
    let store = try store(trouble)
    trouble.begin(.deviceLocked(call: "pread", path: "store"))
    trouble.onSleep(Trouble.forEver)
    let live = store.thread("room").live(newest: 5)
    let tasks = (0..<2).map { _ in Task { for try await _ in live {} } }
    try await wait { trouble.pauses.count >= 2 }
    tasks[0].cancel()
    try await tasks[0].value
    trouble.end()
    let closing = Task.detached { try await store.close() }
    try await tasks[1].value
    try await closing.value
    #expect(store.listenerCount == 0)
  }

  /// Whatever the pauses, a store that is resumed is read at once.
  @Test func aSuspendedStoreIsNotAskedAgainAndAgain() async throws {
    let trouble = Trouble()
    let store = try store(trouble)
    try await store.suspend()
    let live = store.thread("room").live(newest: 5)
    let task = Task { () -> Int in
      for try await value in live { return value.slice.count }
      return 0
    }
    try await wait { store.listenerCount > 0 }
    try await store.resume()
    #expect(try await task.value == 5)
    #expect(trouble.pauses.isEmpty)
  }

  @Test func damageEndsThem() async throws {
    let trouble = Trouble()
    let store = try store(trouble)
    trouble.begin(.corruptPage(PageNumber(1), reason: "for a test"))
    var room = store.thread("room").live(newest: 5).makeAsyncIterator()
    await #expect(throws: StoreError.self) { try await room.next() }
    trouble.end()
    #expect(try await room.next() == nil)
    #expect(trouble.pauses.isEmpty)
  }

  private enum Caller {
    @TaskLocal static var isCurrent = false
  }

  /// What is shown may be on the disk alone then, and the caller's thread must not wait for that.
  @Test func afterAResumptionAValueIsReadOnAThreadOfTheStore() async throws {
    let store = try store(Trouble())
    let wereOnCallersThread = Locked<[Bool]>([])
    let live = store.live { chat in
      wereOnCallersThread.withLock { $0.append(Caller.isCurrent) }
      return try chat.thread("room").tail(1).ids.joined()
    }
    try await Caller.$isCurrent.withValue(true) {
      var values = live.makeAsyncIterator()
      #expect(try await values.next() == "m99")
      for (number, resumes) in [false, true, false].enumerated() {
        if resumes {
          try await store.suspend()
          try await store.resume()
        }
        let id = "n\(number)"
        try await store.write(.relaxed) {
          try $0.insert(message(MessageID(id), at: 200 + Int64(number)))
        }
        #expect(try await values.next() == id)
      }
    }
    #expect(wereOnCallersThread.withLock { $0 } == [false, true, false, true])
  }
}
