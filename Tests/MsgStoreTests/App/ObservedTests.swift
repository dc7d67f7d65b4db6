import MsgStore
import MsgStoreUI
import Observation
import PageFile
import Testing

/// Observable models of a thread, a list, and a value.
@Suite(.timeLimit(.minutes(30))) @MainActor struct ObservedTests {
  private func store() throws -> MessageStore {
    let store = try memoryStore()
    try store.write { chat in
      for number in 0..<10 {
        try chat.insert(message(MessageID("m\(number)"), at: Int64(number), Int64(number)))
      }
    }
    return store
  }

  /// Lets other tasks run until a condition holds; throws when the test's time is over.
  private func wait(until isOver: () -> Bool) async throws {
    while !isOver() {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  /// Runs `body` while a model follows its store.
  private func following(
    _ follow: @escaping @MainActor () async -> Void, _ body: () async throws -> Void
  ) async throws {
    let task = Task { await follow() }
    try await body()
    task.cancel()
    await task.value
  }

  @Test func aThreadShowsTheMessagesAndTheirChanges() async throws {
    let store = try store()
    let thread = ObservedThread(store.thread("room").live(newest: 3))
    #expect(thread.messages.isEmpty && !thread.isLoaded)
    try await following(thread.follow) {
      try await wait { thread.isLoaded }
      #expect(thread.messages.ids == ["m7", "m8", "m9"] && thread.hasOlder)
      try await store.write { try $0.insert(message("m10", at: 10, 10)) }
      try await wait { thread.messages.ids == ["m8", "m9", "m10"] }
      thread.loadOlder(2)
      try await wait { thread.messages.ids == ["m6", "m7", "m8", "m9", "m10"] }
      #expect(thread.differences.inserted == [0, 1])
    }
    #expect(thread.error == nil)
  }

  @Test func aListShowsTheConversationsAndTheirChanges() async throws {
    let store = try store()
    let list = ObservedConversations(store.conversations.live(newest: 3))
    try await following(list.follow) {
      try await wait { list.isLoaded }
      #expect(list.conversations.map(\.id) == ["room"] && !list.hasOlder)
      try await store.write { try $0.insert(chatMessage("x", in: "other", at: 50)) }
      try await wait { list.conversations.map(\.id) == ["other", "room"] }
    }
  }

  @Test func aValueIsShown() async throws {
    let store = try store()
    let totals = ObservedValue(store.conversations.liveUnreadTotals)
    try await following(totals.follow) {
      try await wait { totals.value?.messages == 10 }
      try await store.write { _ = try $0.markRead("room") }
      try await wait { totals.value?.messages == 0 }
    }
  }

  @Test func aViewIsToldOfAChange() async throws {
    let store = try store()
    let thread = ObservedThread(store.thread("room").live(newest: 3))
    let isTold = Locked(false)
    withObservationTracking {
      _ = thread.messages
    } onChange: {
      isTold.withLock { $0 = true }
    }
    try await following(thread.follow) {
      try await wait { isTold.withLock { $0 } }
    }
  }

  @Test func anErrorEndsFollowingAndIsShown() async throws {
    let store = try store()
    let thread = ObservedThread(store.thread("room").live(newest: 0))
    await thread.follow()
    #expect(thread.error == .input(.count(0)))
  }

  @Test func theModelsEndWithTheStore() async throws {
    let store = try store()
    let thread = ObservedThread(store.thread("room").live(newest: 3))
    let task = Task { await thread.follow() }
    try await wait { thread.isLoaded }
    try await store.close()
    await task.value
    #expect(thread.error == nil && thread.messages.count == 3)
  }
}
