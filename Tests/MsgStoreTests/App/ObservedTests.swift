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

  @Test func differencesAreFromWhatWasShownBeforeFollowingAgain() async throws {
    let store = try store()
    let thread = ObservedThread(store.thread("room").live(newest: 3))
    let list = ObservedConversations(store.conversations.live(newest: 3))
    func follow(until isOver: () -> Bool) async throws {
      try await following(thread.follow) {
        try await following(list.follow) { try await wait(until: isOver) }
      }
    }
    try await follow { thread.isLoaded && list.isLoaded }
    var rows = thread.messages.ids
    var listRows = list.conversations.map(\.id)
    try await store.write { chat in
      try chat.insert(message("m10", at: 10, 10))
      try chat.insert(chatMessage("x", in: "other", at: 50))
    }
    try await follow { thread.messages.ids.last == "m10" && list.conversations.count == 2 }
    thread.differences.apply(to: &rows) { thread.messages[$0].id.string }
    list.differences.apply(to: &listRows) { list.conversations[$0].id }
    #expect(rows == thread.messages.ids && listRows == ["other", "room"])
  }

  @Test func aViewThatMissesValuesComparesWithTheOneThatItShows() async throws {
    let store = try store()
    let thread = ObservedThread(store.thread("room").live(newest: 30))
    try await following(thread.follow) {
      try await wait { thread.isLoaded }
      var (shown, rows) = (thread.value, thread.messages.ids)
      for number in 10..<13 {
        let id = "m\(number)"
        try await store.write { chat in
          try chat.insert(message(MessageID(id), at: Int64(number), Int64(number)))
        }
        try await wait { thread.messages.ids.last == id }
      }
      let value = try #require(thread.value)
      #expect(value.differences.inserted == [12])
      value.differences(from: shown).apply(to: &rows) { value.slice[$0].id.string }
      #expect(rows == thread.messages.ids && rows.count == 13)
      shown = value
      #expect(value.differences(from: shown).isEmpty)
      #expect(value.differences(from: nil).inserted.count == 13)
    }
  }

  @Test func whoeverIsCancelledBeforeTheFirstReadShowsNothing() async throws {
    let store = try store()
    let thread = ObservedThread(store.thread("room").live(newest: 3))
    let list = ObservedConversations(store.conversations.live(newest: 3))
    let totals = ObservedValue(store.conversations.liveUnreadTotals)
    for follow in [thread.follow, list.follow, totals.follow] {
      let task = Task { await follow() }
      task.cancel()
      await task.value
    }
    #expect(!thread.isLoaded && !list.isLoaded && totals.value == nil)
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
