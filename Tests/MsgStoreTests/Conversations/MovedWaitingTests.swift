import MsgStore
import PageFile
import Testing

/// What waits for messages of a conversation that is moved or swept in many steps.
struct MovedWaitingTests {
  private let count = 9

  private func store(_ steps: StepSizes, maximumWaitingCount: Int = 100) throws -> MessageStore {
    let store = try TestClock().store {
      $0.worksInBackground = false
      $0.steps = steps
      $0.maximumWaitingCount = maximumWaitingCount
    }
    try store.write { chat in
      try chat.insert(chatMessage("first", in: "b", at: 1))
      for index in 0..<count {
        let (id, name) = (MessageID("m\(index)"), MessageID("s\(index)"))
        try chat.acknowledge(id, in: "a", serverTimestamp: time(5), as: name)
        try chat.receiveEdit(of: id, in: "a", text: "new", at: time(9))
      }
    }
    return store
  }

  private func doWork(_ store: MessageStore) throws -> Int {
    var stepCount = 0
    while try store.read({ try $0.hasWork }) {
      try store.write { try $0.doWork() }
      try store.expectSound()
      stepCount += 1
    }
    return stepCount
  }

  @Test(arguments: [(4, 2), (20, 3), (20, 9), (7, 20)])
  func itGoesOverWithAllItsNames(_ maximumSweepCount: Int, _ maximumMergeCount: Int) throws {
    let store = try store(
      StepSizes(maximumSweepCount: maximumSweepCount, maximumMergeCount: maximumMergeCount))
    try store.write { try $0.renameConversation("a", to: "b") }
    try store.expectSound()
    #expect(try doWork(store) * maximumMergeCount >= count - maximumMergeCount)
    #expect(try store.read { try $0.waitingFacts.waiting } == count)
    for index in 0..<count {
      try store.write { try $0.insert(chatMessage(MessageID("s\(index)"), in: "b", at: 5)) }
      let message = try store.read { try $0.message(MessageID("m\(index)"), in: "b") }
      #expect(message?.text == "new" && message?.id == MessageID("m\(index)"))
    }
    #expect(try store.read { try $0.waitingFacts.waiting } == 0)
    try store.expectSound()
  }

  /// What has waited longest may lie in a conversation of which only a part is left.
  @Test func itMakesRoomWhileItsConversationIsSwept() throws {
    let store = try store(
      StepSizes(maximumSweepCount: 3, maximumMergeCount: 3), maximumWaitingCount: count)
    try store.write { chat in
      try chat.insert(chatMessage("x", in: "a", at: 5))
      try chat.deleteConversation("a")
    }
    for index in 0..<2 * count {
      try store.write { chat in
        try chat.doWork()
        try chat.receiveEdit(of: MessageID("n\(index)"), in: "b", text: "new", at: time(9))
      }
      try store.expectSound()
    }
    _ = try doWork(store)
    #expect(try store.read { try $0.waitingFacts.waiting } == count)
  }
}
