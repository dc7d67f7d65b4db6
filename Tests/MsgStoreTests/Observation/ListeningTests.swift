import Foundation
import MsgStore
import PageFile
import Testing

/// Those who listen: when they are woken, and when they end.
@Suite(.timeLimit(.minutes(30))) struct ListeningTests {
  @Test func whoWaitsIsToldOfEachCommitInOrder() async throws {
    let store = try memoryStore()
    var changes = store.changes.makeAsyncIterator()
    for number in 1...50 {
      let id = MessageID("m\(number)")
      async let told = store.write(.relaxed) {
        try $0.insert(message(id, at: Int64(number), from: "me"))
      }
      let change = await changes.next()
      #expect(change?.conversations["room"]?.messages[id]?.kind == .inserted)
      _ = try await told
    }
  }

  @Test func nobodyMissesAnythingWhileManyWrite() async throws {
    let store = try memoryStore()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<3 {
        group.addTask {
          var found = 0
          for await told in store.changes {
            if told.coversEverything { return -1 }
            // One conversation for each writer, so that none of them has too many messages.
            for room in told.conversations.values { found += room.messages.count }
            if found == 200 { break }
          }
          return found
        }
      }
      try await wait { store.listenerCount >= 3 }
      for writer in 0..<4 {
        group.addTask {
          for number in 0..<50 {
            let message = chatMessage(
              MessageID("m\(number)"), in: ConversationID("r\(writer)"), at: Int64(number))
            _ = try? await store.write(number % 10 == 0 ? .full : .relaxed) {
              try $0.insert(message)
            }
          }
          return 200
        }
      }
      for try await found in group { #expect(found == 200) }
    }
  }

  @Test func aListenerEndsWithItsTask() async throws {
    let store = try memoryStore()
    let task = Task {
      for await _ in store.changes {}
      return true
    }
    try await wait { store.listenerCount > 0 }
    task.cancel()
    #expect(await task.value)
    #expect(store.listenerCount == 0)
    try await store.write { try $0.insert(message("m1", at: 10)) }
  }

  @Test func aListenerEndsWhenTheStoreCloses() async throws {
    let store = try memoryStore()
    var changes = store.changes.makeAsyncIterator()
    let task = Task { for await _ in store.changes {} }
    try await wait { store.listenerCount >= 2 }
    try await store.write { try $0.insert(message("m1", at: 10)) }
    try await store.close()
    await task.value
    // What was committed before is still told.
    #expect(await changes.next() != nil)
    #expect(await changes.next() == nil)
    var late = store.changes.makeAsyncIterator()
    #expect(await late.next() == nil)
  }

  @Test func aListenerKeepsNoStoreOpen() async throws {
    var changes: ChangeSequence.Iterator?
    do {
      let store = try memoryStore()
      changes = store.changes.makeAsyncIterator()
    }
    #expect(await changes?.next() == nil)
  }

  #if os(Linux)
    /// In a process of its own, whose memory nobody else uses.
    @Test func tenThousandListenersThatEndLeaveNothing() async throws {
      await #expect(processExitsWith: .success) {
        let store = try memoryStore()
        try await store.write { try $0.putConversation("room", participants: ["me", "you"]) }
        try await ListeningTests.listen(to: store, count: 2000)
        let before = try ListeningTests.residentByteCount()
        try await ListeningTests.listen(to: store, count: 10_000)
        let growth = try ListeningTests.residentByteCount() - before
        precondition(growth < 2 << 20, "\(growth) bytes are left")
        precondition(store.listenerCount == 0)
      }
    }
  #endif

  /// Begins to listen and ends it again, in all ways.
  private static func listen(to store: MessageStore, count: Int) async throws {
    for round in 0..<count {
      var changes = store.changes.makeAsyncIterator()
      switch round % 200 {
      case 0..<10:
        let task = Task { for await _ in store.changes {} }
        try await wait { store.listenerCount >= 2 }
        task.cancel()
        await task.value
      case 10:
        // Something is there and nobody takes it.
        try await store.write(.relaxed) { try $0.setDraft("\(round)", replyTo: nil, in: "room") }
      case 11:
        try await store.write(.relaxed) { try $0.setDraft("\(round)", replyTo: nil, in: "room") }
        let told = await changes.next()
        precondition(told != nil)
      default: break
      }
    }
  }

  private static func residentByteCount() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    return try #require(pages) * 4096
  }
}
