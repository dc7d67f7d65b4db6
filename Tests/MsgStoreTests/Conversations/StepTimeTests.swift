import MsgStore
import PageFile
import Testing

/// A step of work ends when it has held the writer long enough, however little it has done by then.
struct StepTimeTests {
  private static let count = 20

  private func store() throws -> MessageStore {
    let store = try TestClock().store { options in
      options.worksInBackground = false
      options.steps.maximumTime = .zero
      // The write that merges has no such limit, only those that go on with it.
      options.steps.maximumMergeCount = 5
    }
    try store.write { chat in
      try chat.insert(chatMessage("first", in: "b", at: 1))
      for index in 0..<Self.count {
        let (id, name) = (MessageID("m\(index)"), MessageID("s\(index)"))
        try chat.insert(chatMessage(id, in: "a", at: Int64(index)))
        try chat.receive(Reaction("👍", from: "bob", at: time(9)), to: id, in: "a")
        try chat.receiveEdit(of: name, in: "a", text: "waits", at: time(9))
      }
    }
    return store
  }

  private func stepCount(_ store: MessageStore) throws -> Int {
    var count = 0
    while try store.read({ try $0.hasWork }) {
      try store.write(.relaxed) { try $0.doWork(isTimed: true) }
      try store.expectSound()
      count += 1
    }
    return count
  }

  @Test func aDeletionGoesOnOneByOne() throws {
    let store = try store()
    try store.write { _ = try $0.deleteConversation("a") }
    #expect(try stepCount(store) >= 2 * Self.count)
    #expect(try store.read { try $0.conversations(count: 9).map(\.id) } == ["b"])
  }

  @Test func aMergeGoesOnOneByOne() throws {
    let store = try store()
    try store.write { try $0.renameConversation("a", to: "b") }
    let stepCount = try stepCount(store)
    #expect(stepCount > Self.count / 2, "\(stepCount) steps")
    #expect(try store.read { try $0.thread("b").tail(99).count } == Self.count + 1)
    #expect(try store.read { try $0.waitingFacts.waiting } == Self.count)
  }

  @Test func aCompactionPacksTheSameInManySteps() throws {
    let store = try TestClock().store { $0.steps.maximumTime = .zero }
    try store.write { chat in
      for index in 0..<2000 {
        let room = ConversationID("room \(index % 7)")
        try chat.insert(chatMessage(MessageID("m\(index)"), in: room, at: Int64(index)))
      }
    }
    try store.compact()
    try store.expectSound()
    for room in 0..<7 {
      let ids = try store.read { try $0.thread(ConversationID("room \(room)")).tail(999).ids }
      #expect(ids == (0..<2000).filter { $0 % 7 == room }.map { "m\($0)" })
    }
  }
}
