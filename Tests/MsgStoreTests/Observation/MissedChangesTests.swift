import MsgStore
import PageFile
import Testing

/// Changes of several commits that seem to undo one another, while somebody has read in between.
struct MissedChangesTests {
  private func store() throws -> MessageStore {
    let store = try memoryStore()
    try store.write { chat in
      try chat.putConversation("room", participants: ["me", "you"], title: "Room")
    }
    return store
  }

  /// One who listens from before a change, and reads after it.
  private func read<Value>(
    _ store: MessageStore, after act: (borrowing StoreWriter) throws -> Void,
    _ next: () throws -> Value?
  ) throws -> Value? {
    try store.write { try act($0) }
    return try next()
  }

  @Test func aMessageThatIsTakenBackAfterTheFirstReadLeavesTheThread() throws {
    let store = try store()
    var room = store.thread("room").live(newest: 9).makeAsyncIterator()
    let first = try read(store) {
      try $0.send(message("mine", at: nil, from: "me"))
    } _: {
      try room.nextIfThere()
    }
    #expect(first?.slice.ids == ["mine"])
    try store.write { _ = try $0.retract("mine", in: "room") }
    let second = try #require(try room.nextIfThere())
    #expect(second.slice.isEmpty && second.differences.removed == [0])
  }

  @Test func aMessageThatIsDeletedAfterEachReadLeavesTheThread() throws {
    let store = try store()
    var room = store.thread("room").live(newest: 9).makeAsyncIterator()
    for id in ["m1", "m2", "m3"] as [MessageID] {
      let value = try read(store) {
        try $0.insert(message(id, at: 10))
      } _: {
        try room.nextIfThere()
      }
      #expect(value?.slice.ids == [id.string])
      try store.write { try $0.delete(id, in: "room") }
      #expect(try room.nextIfThere()?.slice.isEmpty == true)
      #expect(try room.nextIfThere() == nil)
    }
  }

  @Test func aMessageThatCameAndWentIsTold() throws {
    let store = try store()
    let changes = store.changes.makeAsyncIterator()
    try store.write { try $0.insert(message("m", at: 10)) }
    try store.write { try $0.delete("m", in: "room") }
    let change = changes.nextIfThere()?.conversations["room"]?.messages["m"]
    #expect(change != nil && change?.from == nil && change?.to == nil)
    #expect(change?.kind == .removed)
    // Nobody sees what comes and goes within a commit.
    try store.write { chat in
      try chat.insert(message("n", at: 10))
      try chat.delete("n", in: "room")
    }
    #expect(changes.nextIfThere()?.conversations["room"]?.messages["n"] == nil)
  }

  /// A message that is not here gets another name, by which somebody looks for its replies.
  @Test func repliesToANameThatIsHeardBeforeTheMessageAreTold() throws {
    let store = try store()
    try store.write { try $0.insert(reply("r", to: "own", at: 10)) }
    var replies = store.thread("room").live(repliesTo: "served", newest: 9).makeAsyncIterator()
    #expect(try replies.nextIfThere()?.slice.isEmpty == true)
    try store.write {
      _ = try $0.acknowledge("own", in: "room", serverTimestamp: time(5), as: "served")
    }
    #expect(try replies.nextIfThere()?.slice.ids == ["r"])
  }

  @Test func aMessageThatCameAsHistoryAndComesLiveIsToldAsUnread() throws {
    let store = try store()
    try store.write { try $0.insert(message("m", at: 10), as: .history) }
    var room = store.thread("room").live(newest: 9, countsReceipts: true).makeAsyncIterator()
    #expect(try room.nextIfThere()?.unread == [false])
    try store.write { try $0.insert(message("m", at: 10)) }
    #expect(try room.nextIfThere()?.unread == [true])
  }

  /// Both go in the steps that sweep the conversation, when it has no name any more.
  @Test func whatAllConversationsHaveIsToldWhileOneOfThemGoes() throws {
    let store = try store()
    try store.write { chat in
      try chat.insert(expiring("m", at: 10, until: 7_000_000_000_000_000))
      try chat.setTag(.starred, of: "m", in: "room")
    }
    var starred = store.live { try $0.tagged(.starred).count }.makeAsyncIterator()
    var expiry = store.live { try $0.nextExpiry }.makeAsyncIterator()
    #expect(try starred.nextIfThere() == 1)
    #expect(try expiry.nextIfThere() == .some(.some(time(7_000_000_000_000_000))))
    try store.write { _ = try $0.deleteConversation("room") }
    try store.finishWork()
    var (starredCount, nextExpiry): (Int?, Timestamp??) = (nil, nil)
    while let value = try starred.nextIfThere() { starredCount = value }
    while let value = try expiry.nextIfThere() { nextExpiry = value }
    #expect(starredCount == 0)
    #expect(nextExpiry == .some(nil))
  }

  /// A store with the conversations "r1" to "r3", the newest first.
  private func listed() throws -> MessageStore {
    let store = try memoryStore()
    try store.write { chat in
      for number in 1...3 as ClosedRange<Int64> {
        try chat.insert(chatMessage("m", in: ConversationID("r\(number)"), at: 100 - number))
      }
    }
    return store
  }

  @Test func aConversationThatIsPinnedOnlyWhileTheListIsReadGoesBack() throws {
    let store = try listed()
    var list = store.conversations.live(newest: 2).makeAsyncIterator()
    let first = try read(store) {
      _ = try $0.setPinned(true, of: "r3")
    } _: {
      try list.nextIfThere()
    }
    #expect(first?.conversations.map(\.id) == ["r3", "r1"])
    try store.write { _ = try $0.setPinned(false, of: "r3") }
    #expect(try list.nextIfThere()?.conversations.map(\.id) == ["r1", "r2"])
  }

  @Test func aListEndsWhenTheLastConversationBehindItIsArchived() throws {
    let store = try listed()
    var list = store.conversations.live(newest: 2).makeAsyncIterator()
    #expect(try list.nextIfThere()?.conversations.older != nil)
    try store.write { _ = try $0.setArchived(true, of: "r3") }
    let value = try #require(try list.nextIfThere())
    #expect(value.conversations.older == nil && value.differences.isOlderChanged)
    try store.write { _ = try $0.setArchived(false, of: "r3") }
    #expect(try list.nextIfThere()?.conversations.older != nil)
  }
}
