import MsgStore
import PageFile
import Testing

/// Changes of what an outbox, a conversation, or a whole store shows, made by acts elsewhere.
struct ToldEverywhereTests {
  private func store() throws -> MessageStore {
    let store = try memoryStore()
    try store.write { chat in
      try chat.putConversation("room", participants: ["me", "you"], title: "Room")
      try chat.insert(message("old", at: 5, 1, from: "me"))
    }
    return store
  }

  /// Expects that the outbox is told to have changed by an act after another one, and shows it.
  private func expectTold(
    _ expected: String, in value: KeyPath<OutboxEntry, String?> = \.text,
    sourceLocation: SourceLocation = #_sourceLocation,
    after first: (borrowing StoreWriter) throws -> Void,
    _ act: (borrowing StoreWriter, OutboxEntry.ID) throws -> Void
  ) throws {
    let store = try store()
    try store.write { try first($0) }
    var outbox = store.liveOutbox(count: 9).makeAsyncIterator()
    let changes = store.changes.makeAsyncIterator()
    let entry = try #require(try outbox.nextIfThere()?.entries.first)
    try store.write { try act($0, entry.id) }
    #expect(changes.nextIfThere()?.hasOutboxChanges == true, sourceLocation: sourceLocation)
    #expect(
      try outbox.nextIfThere()?.entries.first?[keyPath: value] == expected,
      sourceLocation: sourceLocation)
  }

  @Test func theOutboxIsToldOfAnotherText() throws {
    try expectTold("other") {
      try $0.send(message("m", at: nil, from: "me"))
    } _: {
      try $0.outbox.setText("other", of: $1)
    }
    try expectTold("other") {
      try $0.edit("old", in: "room", text: "edited")
    } _: {
      try $0.outbox.setText("other", of: $1)
    }
  }

  @Test func theOutboxIsToldOfAnotherTitleOrPicture() throws {
    try expectTold("B") {
      try $0.setTitle("A", of: "room")
    } _: { chat, _ in
      try chat.setTitle("B", of: "room")
    }
    try expectTold("b") {
      try $0.setAvatar("a", of: "room")
    } _: { chat, _ in
      try chat.setAvatar("b", of: "room")
    }
  }

  @Test func theOutboxIsToldOfTheServersNameOfAConversation() throws {
    try expectTold("server", in: \.conversation?.string) {
      try $0.send(message("m", at: nil, from: "me"))
    } _: { chat, _ in
      try chat.renameConversation("room", to: "server")
    }
  }

  @Test func theOutboxIsNotToldOfADraft() throws {
    let store = try store()
    try store.write { chat in
      try chat.send(message("m", at: nil, from: "me"))
      try chat.setDraft("d", in: "room")
    }
    let changes = store.changes.makeAsyncIterator()
    try store.write { chat in
      try chat.setDraft("draft", in: "room")
      try chat.insert(message("new", at: 20, 2))
      try chat.receiveEdit(of: "old", in: "room", text: "other", at: time(30))
    }
    #expect(changes.nextIfThere()?.hasOutboxChanges == false)
  }

  @Test func everythingIncludesWhatBelongsToNoConversation() throws {
    let store = try store()
    var positions = store.live { try $0.syncPosition(for: "server") }.makeAsyncIterator()
    var rules = store.live { try $0.retention }.makeAsyncIterator()
    _ = try (positions.nextIfThere(), rules.nextIfThere())
    let changes = store.changes.makeAsyncIterator()
    try store.write { _ = try $0.setSyncPosition([42], for: "server") }
    #expect(changes.nextIfThere()?.hasSettingChanges == true)
    #expect(try positions.nextIfThere() == [42])
    try store.write { try $0.setRetention(Retention(messageCount: 1000)) }
    #expect(changes.nextIfThere()?.hasSettingChanges == true)
    #expect(try rules.nextIfThere()?.messageCount == 1000)
  }

  @Test func aConversationIncludesItsSyncPositionAndReceipts() throws {
    let store = try store()
    try store.write { try $0.insert(message("theirs", at: 20, 2)) }
    let live = store.live(.conversation("room")) { chat in
      let position = try chat.syncPosition(for: "server", in: "room") ?? []
      let pending = try chat.pendingReceipts(in: "room", .delivered, as: .mark)
      return "\(position) \(pending.count)"
    }
    var values = live.makeAsyncIterator()
    #expect(try values.nextIfThere() == "[] 0")
    try store.write { _ = try $0.setSyncPosition([1], for: "server", in: "room") }
    #expect(try values.nextIfThere() == "[1] 0")
    try store.write { _ = try $0.markDelivered("room") }
    #expect(try values.nextIfThere() == "[1] 1")
  }
}
