import MsgStore
import Testing

/// Complete lists of conversations.
struct ReconcileConversationsTests {
  private func listed(_ store: MessageStore) throws -> Set<ConversationID> {
    try store.read { Set(try $0.conversations(count: 100).map(\.id)) }
  }

  private func received(_ ids: ConversationID...) -> [ReceivedConversation] {
    ids.map { ReceivedConversation($0, at: Timestamp(microseconds: 5)) }
  }

  private func filled() throws -> MessageStore {
    let store = try memoryStore()
    try store.write { writer in
      for id in ["a", "b", "c"] as [ConversationID] {
        for index in 0..<3 {
          try writer.insert(
            chatMessage(MessageID("m\(index)"), in: id, at: Int64(index), text: "GONE-XQ"))
        }
      }
      _ = try writer.receive(ReceivedConversation("empty", at: Timestamp(microseconds: 1)))
    }
    return store
  }

  @Test func aConversationThatTheListDoesNotHaveGoes() throws {
    let store = try filled()
    let removed = try store.write { try $0.reconcile(received("b", "new")) }
    #expect(removed == ["a", "c", "empty"])
    #expect(try listed(store) == ["b", "new"])
    #expect(try store.read { try $0.thread("a").tail(10).count } == 0)
    try store.finishWork()
    try store.expectSound()
  }

  @Test func whatIsPendingHereStays() throws {
    let store = try filled()
    let own = try store.write { writer in
      _ = try writer.send(chatMessage("p", in: "a", at: nil, from: "me"))
      _ = try writer.setDraft("begun", in: "b")
      return try writer.createGroup(participants: ["ann", "bob"]).id
    }
    let removed = try store.write { try $0.reconcile([]) }
    #expect(removed == ["c", "empty"])
    #expect(try listed(store) == ["a", "b", own])
    try store.finishWork()
    try store.expectSound()
  }

  @Test func whatIsToldAgainComesBack() throws {
    let store = try filled()
    try store.write { _ = try $0.reconcile([]) }
    #expect(try listed(store) == [])
    try store.finishWork()
    try store.write { _ = try $0.insert(chatMessage("m0", in: "a", at: 0)) }
    let removed = try store.write { try $0.reconcile(received("a", "b", "empty")) }
    #expect(try removed == [] && listed(store) == ["a", "b", "empty"])
    #expect(try store.read { try $0.conversation("a")?.messageCount } == 1)
    try store.expectSound()
  }

  @Test func whatWasDeletedHereStaysDeletedWhateverTheListSays() throws {
    let store = try filled()
    try store.write { _ = try $0.deleteConversation("a") }
    try store.write { _ = try $0.reconcile(received("a", "b", "c")) }
    #expect(try listed(store) == ["b", "c"])
    try store.finishWork()
    try store.expectSound()
  }

  @Test func aListThatSaysNothingNewCommitsNothing() throws {
    let store = try filled()
    let list = received("a", "b", "c", "empty")
    try store.write { _ = try $0.reconcile(list) }
    let count = store.statistics.lastCommit
    try store.write { _ = try $0.reconcile(list) }
    #expect(store.statistics.lastCommit == count)
  }
}
