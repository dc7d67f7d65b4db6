import MsgStore
import PageFile
import Testing

/// Live values of any read, and of the parts of a store that have one of their own.
@Suite(.timeLimit(.minutes(30))) struct LiveValueTests {
  /// Counts the calls of a closure.
  private final class Calls: Sendable {
    private let state = Locked(0)
    var count: Int { state.withLock { $0 } }
    func add() { state.withLock { $0 += 1 } }
  }

  private func store() throws -> MessageStore {
    let store = try memoryStore()
    try store.write { chat in
      try chat.putConversation("room", participants: ["me", "you"], title: "Room")
      try chat.insert(message("m1", at: 10, 1))
    }
    return store
  }

  @Test func aReadOfOneConversationIsNotRepeatedForAnother() throws {
    let (store, calls) = (try store(), Calls())
    let live = store.live(.conversation("room")) { chat in
      calls.add()
      return try chat.conversation("room")?.title
    }
    var titles = live.makeAsyncIterator()
    #expect(try titles.nextIfThere() == "Room")
    for number in 0..<5 {
      try store.write { try $0.insert(chatMessage("x", in: "other", at: Int64(number))) }
      try store.write { try $0.setDraft("draft \(number)", in: "other") }
    }
    #expect(try titles.nextIfThere() == nil && calls.count == 1)
    // Read again, with the same result.
    try store.write { try $0.insert(message("m2", at: 20, 2)) }
    #expect(try titles.nextIfThere() == nil && calls.count == 2)
    try store.write { try $0.setTitle("Hall", of: "room") }
    #expect(try titles.nextIfThere() == "Hall" && calls.count == 3)
  }

  @Test func aConversationIsFollowedToItsNewID() throws {
    let store = try store()
    var live = store.conversations.live("room").makeAsyncIterator()
    #expect(try live.nextIfThere()??.id == "room")
    try store.write { try $0.renameConversation("room", to: "server") }
    #expect(try live.nextIfThere()??.id == "server")
    try store.write { try $0.insert(chatMessage("m2", in: "server", at: 20)) }
    #expect(try live.nextIfThere()??.messageCount == 2)
    try store.write { _ = try $0.markRead("server") }
    #expect(try live.nextIfThere()??.unreadCount == 0)
  }

  @Test func aConversationThatIsNotThereIsNil() throws {
    let store = try store()
    var live = store.conversations.live("later").makeAsyncIterator()
    #expect(try live.nextIfThere() == .some(nil))
    try store.write { try $0.insert(chatMessage("m", in: "later", at: 20)) }
    #expect(try live.nextIfThere()??.messageCount == 1)
  }

  @Test func totalsAreToldWhenTheyChange() throws {
    let store = try store()
    var live = store.conversations.liveUnreadTotals.makeAsyncIterator()
    #expect(try live.nextIfThere() == UnreadTotals(messages: 1))
    try store.write { try $0.setTitle("x", of: "room") }
    #expect(try live.nextIfThere() == nil)
    try store.write { try $0.insert(chatMessage("m", in: "other", at: 20)) }
    #expect(try live.nextIfThere() == UnreadTotals(messages: 2))
    try store.write { _ = try $0.markRead("room") }
    #expect(try live.nextIfThere() == UnreadTotals(messages: 1))
  }

  @Test func archivedConversationsAreAListOfTheirOwn() throws {
    let store = try store()
    var main = store.conversations.live(newest: 5).makeAsyncIterator()
    var archived = store.conversations.live(newestArchived: 5).makeAsyncIterator()
    #expect(try main.nextIfThere()?.conversations.map(\.id) == ["room"])
    #expect(try archived.nextIfThere()?.conversations.isEmpty == true)
    try store.write { try $0.insert(chatMessage("m", in: "other", at: 20)) }
    #expect(try main.nextIfThere()?.conversations.map(\.id) == ["other", "room"])
    #expect(try archived.nextIfThere() == nil)
    try store.write { _ = try $0.setArchived(true, of: "room") }
    #expect(try main.nextIfThere()?.differences.removed == [1])
    #expect(try archived.nextIfThere()?.differences.inserted == [0])
    try store.write { _ = try $0.setTitle("Old", of: "room") }
    #expect(try main.nextIfThere() == nil)
    #expect(try archived.nextIfThere()?.conversations.first?.title == "Old")
  }

  @Test func theOutboxIsToldWhenItChanges() throws {
    let store = try store()
    var live = store.liveOutbox(count: 10).makeAsyncIterator()
    #expect(try live.nextIfThere()?.entries == [])
    try store.write { try $0.insert(message("m2", at: 20, 2)) }
    #expect(try live.nextIfThere() == nil)
    try store.write { try $0.send(message("mine", at: nil, from: "me")) }
    #expect(try live.nextIfThere()?.entries.map(\.message) == ["mine"])
  }

  @Test func theListIsReadAgainForEachChangeThatItShows() throws {
    let (store, calls) = (try store(), Calls())
    let live = store.live(.list) { chat in
      calls.add()
      return try chat.conversations(count: 10).map(\.unreadCount)
    }
    var counts = live.makeAsyncIterator()
    #expect(try counts.nextIfThere() == [1])
    try store.write { try $0.send(message("mine", at: nil, from: "me")) }
    _ = try counts.nextIfThere()
    let before = calls.count
    try store.write { try $0.outbox.setHoldsNewEntries(true) }
    #expect(try counts.nextIfThere() == nil && calls.count == before)
    try store.write { try $0.insert(chatMessage("m", in: "other", at: 20)) }
    #expect(try counts.nextIfThere()?.sorted() == [1, 1])
  }

  @Test func anErrorOfTheClosureEndsTheSequence() async throws {
    struct Stop: Error {}
    let store = try store()
    let live = store.live { chat in
      if try chat.conversation("room")?.title == "stop" { throw Stop() }
      return 1
    }
    var values = live.makeAsyncIterator()
    #expect(try await values.next() == 1)
    try await store.write { try $0.setTitle("stop", of: "room") }
    await #expect(throws: Stop.self) { try await values.next() }
    #expect(try await values.next() == nil)
  }

  @Test func aSlowCallerIsShownTheLastStateOfABurst() async throws {
    let store = try store()
    var live = store.conversations.live("room").makeAsyncIterator()
    _ = try await live.next()
    for number in 0..<100 {
      try await store.write { try $0.setTitle("title \(number)", of: "room") }
    }
    #expect(try await live.next()??.title == "title 99")
    #expect(try live.nextIfThere() == nil)
  }

  // MARK: Progress

  private func addAttachment(to store: MessageStore) throws {
    try store.write { chat in
      var file = message("file", at: 30, 3)
      file.attachments = [MessageAttachment(id: "a", kind: .document, byteCount: 100)]
      try chat.insert(file)
      try chat.setTransfer(
        .download, to: .running(doneByteCount: 0), of: "a", message: "file", in: "room")
    }
  }

  @Test func progressIsToldWithoutACommit() async throws {
    let store = try store()
    try addAttachment(to: store)
    var states = store.live(.conversation("room")) { chat in
      try chat.attachments(of: "file", in: "room").map(\.download)
    }.makeAsyncIterator()
    var changes = store.changes.makeAsyncIterator()
    #expect(try states.nextIfThere() == [.running(doneByteCount: 0)])
    let commit = store.statistics.lastCommit
    for byteCount in [10, 20, 30] as [Int64] {
      try store.reportProgress(
        .download, doneByteCount: byteCount, of: "a", message: "file", in: "room")
      #expect(try states.nextIfThere() == [.running(doneByteCount: byteCount)])
    }
    #expect(await changes.next()?.conversations["room"]?.progress == ["file"])
    #expect(store.statistics.lastCommit == commit)
  }

  @Test func progressDoesNotConcernAThread() throws {
    let store = try store()
    try addAttachment(to: store)
    var room = store.thread("room").live(newest: 5).makeAsyncIterator()
    #expect(try room.nextIfThere() != nil)
    try store.reportProgress(.download, doneByteCount: 5, of: "a", message: "file", in: "room")
    #expect(try room.nextIfThere() == nil)
    #expect(
      try !store.reportProgress(.upload, doneByteCount: 5, of: "a", message: "file", in: "room"),
      "this one does not run")
  }
}
