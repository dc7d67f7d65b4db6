import MsgStore
import PageFile
import Testing

/// Releases of conversations that are deleted, or become others, while much is done in steps.
struct MovingReleaseTests {
  private static let stepCount = 20
  private static let count = 50
  private let clock = TestClock(0)

  private func open(_ directory: MemoryDirectory = MemoryDirectory()) throws -> MessageStore {
    let clock = clock
    var options = StoreOptions(localMember: "me", clock: { clock.now }).makingConversations
    options.worksInBackground = false
    options.outbox.chance = { 1 }
    options.steps.maximumEntryCount = Self.stepCount
    return try MessageStore(in: directory, name: "store", options: options)
  }

  /// Holds what `change` enters.
  private func hold(
    _ store: MessageStore, _ change: (borrowing StoreWriter) throws -> Void
  ) throws {
    try store.write { chat in
      try chat.outbox.setHoldsNewEntries(true)
      try change(chat)
      try chat.outbox.setHoldsNewEntries(false)
    }
  }

  private func enterWork(
    _ chat: borrowing StoreWriter, _ count: Int, in conversation: ConversationID
  ) throws {
    try chat.insert(chatMessage("w", in: conversation, at: 1))
    for index in 0..<count { _ = try chat.outbox.enter("work \(index)", in: conversation) }
  }

  private func finish(_ store: MessageStore) throws {
    try store.finishWork()
    try store.expectSound()
  }

  @Test func whatComesToAReleasedConversationStaysHeld() throws {
    let store = try open()
    try hold(store) { chat in
      try chat.insert(chatMessage("r", in: "a", at: 1))
      for index in 0..<Self.count { try chat.send(own(MessageID("m\(index)"), in: "a")) }
      try chat.send(own("t", in: "tmp"))
      _ = try chat.setTitle("T", of: "tmp")
    }
    #expect(try store.write { try $0.outbox.releaseAll(in: "a") } == Self.count)
    try store.write { _ = try $0.renameConversation("tmp", to: "a") }
    try finish(store)
    #expect(try store.counts() == OutboxCounts(queued: Self.count, held: 2))
    #expect(try store.read { try $0.message("t", in: "a")?.status } == .held)
  }

  /// One of all entries covers it, wherever it goes.
  @Test func whatComesIsReleasedWithAll() throws {
    let store = try open()
    try hold(store) { chat in
      for index in 0..<Self.count { try chat.send(own(MessageID("m\(index)"), in: "a")) }
      try chat.send(own("t", in: "tmp"))
    }
    #expect(try store.write { try $0.outbox.releaseAndRetryAll() } == Self.count + 1)
    #expect(try store.write { try $0.outbox.releaseAll(in: "a") } == Self.count - Self.stepCount)
    try store.write { _ = try $0.renameConversation("tmp", to: "a") }
    try finish(store)
    #expect(try store.counts() == OutboxCounts(queued: Self.count + 1))
  }

  @Test(arguments: ["stay", "rename", "delete"])
  func whatIsOnItsWayIsReleasedWithItsConversation(_ act: String) throws {
    let store = try open()
    try hold(store) { chat in
      try chat.insert(chatMessage("r", in: "a", at: 1))
      try chat.insert(chatMessage("o", in: "other", at: 1))
      try enterWork(chat, Self.count, in: "tmp")
    }
    try store.write { _ = try $0.renameConversation("tmp", to: "a") }
    #expect(try store.write { try $0.outbox.releaseAll(in: "a") } == Self.count)
    try store.write { chat in
      switch act {
      case "rename": try chat.renameConversation("a", to: "other")
      case "delete": _ = try chat.deleteConversation("a")
      default: break
      }
    }
    try finish(store)
    let isDeleted = act == "delete"
    #expect(try store.counts() == OutboxCounts(queued: Self.count + (isDeleted ? 1 : 0)))
  }

  @Test func aReleaseGoesOnWhereAMergeBecomesADeletion() throws {
    let store = try open()
    try hold(store) { chat in
      try chat.insert(chatMessage("r", in: "a", at: 1))
      try enterWork(chat, Self.count, in: "tmp")
    }
    #expect(try store.write { try $0.outbox.releaseAll(in: "tmp") } == Self.count)
    try store.write { _ = try $0.renameConversation("tmp", to: "a") }
    try store.write { _ = try $0.deleteConversation("a") }
    try finish(store)
    #expect(try store.counts() == OutboxCounts(queued: Self.count + 1))
  }

  @Test func aReleaseCoversWhatADeletedConversationStillHasToTell() throws {
    let store = try open()
    try hold(store) { chat in
      try chat.insert(chatMessage("r", in: "room", at: 1))
      for index in 0..<Self.count { try chat.send(own(MessageID("m\(index)"), in: "room")) }
      try enterWork(chat, 1, in: "room")
    }
    try store.write { _ = try $0.deleteConversation("room") }
    _ = try store.write { try $0.outbox.releaseAndRetryAll() }
    try finish(store)
    #expect(try store.counts() == OutboxCounts(queued: 2))
  }

  /// What a killed process had in its hands is found in a conversation that was deleted since.
  @Test func workOfADeletedConversationIsReclaimed() throws {
    let store = try open()
    try hold(store) { chat in
      try chat.insert(chatMessage("r", in: "room", at: 1))
      for index in 0..<Self.count { try chat.send(own(MessageID("m\(index)"), in: "room")) }
    }
    try store.write { _ = try $0.outbox.enter("x", in: "room") }
    let item = try #require(try store.write { try $0.outbox.next(for: "w") })
    #expect(item.name == "client x")
    try store.write { _ = try $0.deleteConversation("room") }
    #expect(try store.write { try $0.outbox.reclaimWork(of: "w") } == 1)
    try finish(store)
    #expect(try store.counts() == OutboxCounts(queued: 2))
  }

  @Test func stepsAreWorkNow() throws {
    let directory = MemoryDirectory()
    let store = try open(directory)
    try hold(store) { chat in
      for index in 0..<Self.count { try chat.send(own(MessageID("m\(index)"), in: "a")) }
    }
    try store.write { try $0.send(own("b", in: "b")) }
    try store.fail(try store.take(), .noConnection)
    #expect(try store.nextTime().map { $0 > clock.now } == true)
    #expect(try store.write { try $0.outbox.releaseAll(in: "a") } == Self.count)
    #expect(try store.nextTime().map { $0 <= clock.now } == true)
    let again = try open(directory.copy())
    #expect(try again.nextTime().map { $0 <= clock.now } == true)
  }

  @Test func aRetractionIsSettledWhereItIsStillToCome() throws {
    let store = try open()
    try store.write { chat in
      for index in 0..<Self.count {
        try chat.insert(
          Message(
            id: MessageID("m\(index)"), in: "room", from: "me", text: "x",
            serverTimestamp: time(Int64(index + 1))))
        _ = try chat.retract(MessageID("m\(index)"), in: "room")
      }
      _ = try chat.deleteConversation("room")
    }
    let last = MessageID("m\(Self.count - 1)")
    try store.write { _ = try $0.receiveRetraction(of: last, in: "room", at: time(100)) }
    try finish(store)
    #expect(try store.counts() == OutboxCounts(queued: Self.count))
    #expect(try store.entries().allSatisfy { $0.message != last })
  }
}
