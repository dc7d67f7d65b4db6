import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// A conversation that becomes another takes its messages and its part of the outbox with it in
/// steps, and ends as if it had been done at once.
struct LongMergeTests {
  private static let stepCount = 20
  private static let count = 90
  private let clock = TestClock(0)

  private func open(
    _ directory: MemoryDirectory, _ maximumCount: Int = Self.stepCount
  ) throws -> MessageStore {
    let clock = clock
    var options = StoreOptions(localMember: "me", clock: { clock.now }).makingConversations
    options.worksInBackground = false
    options.outbox.chance = { 1 }
    options.steps.maximumEntryCount = maximumCount
    options.steps.maximumMergeCount = maximumCount
    return try MessageStore(in: directory, name: "store", options: options)
  }

  /// A conversation made here with much to tell of all kinds, and the server's, where something is
  /// to be told, too.
  private func crowded(_ directory: MemoryDirectory) throws {
    let store = try open(directory, .max)
    try store.write { chat in
      _ = try chat.createGroup("tmp", participants: ["you", "ann"], title: "mine")
      try chat.outbox.complete(try #require(try chat.outbox.next(for: "w")))
      for index in 0..<30 {
        try chat.insert(chatMessage(MessageID("r\(index)"), in: "tmp", at: Int64(index + 1)))
        _ = try chat.react("👍", to: MessageID("r\(index)"), in: "tmp")
      }
      for index in 0..<Self.count {
        let id = MessageID("p\(index)")
        var message = own(id, in: "tmp")
        if index % 5 == 0 {
          message.attachments = [MessageAttachment(id: "f\(index)", kind: .image, byteCount: 100)]
        }
        try chat.send(message)
        if index % 4 == 0 { _ = try chat.edit(id, in: "tmp", text: "edited") }
        if index % 9 == 0 { _ = try chat.outbox.enter("work \(index)", in: "tmp") }
      }
      _ = try chat.setTitle("better", of: "tmp")
      try chat.insert(chatMessage("s", in: "srv", at: 7))
      try chat.send(own("first", in: "srv"))
      try chat.insert(chatMessage("o", in: "other", at: 3))
    }
    try store.expectSound()
    try store.close()
  }

  private func merge(_ store: MessageStore) throws {
    try store.write { chat in
      try chat.renameConversation("tmp", to: "srv")
      try chat.send(own("last", in: "srv"))
    }
  }

  /// Does all steps, each in a process of its own; the store is sound after each.
  private func finish(
    _ directory: MemoryDirectory, _ first: MessageStore, _ maximumCount: Int = Self.stepCount,
    between: (MessageStore) throws -> Void = { _ in }
  ) throws -> (store: MessageStore, stepCount: Int) {
    var (store, count) = (first, 0)
    while try store.read({ try $0.hasWork }) {
      try store.expectSound()
      try between(store)
      // As a kill would leave it.
      let copy = directory.copy()
      try store.close()
      for name in ["store", "store-wal0", "store-wal1"] { directory[name] = copy[name] }
      store = try open(directory, maximumCount)
      try store.write(.relaxed) { try $0.doWork() }
      count += 1
      try #require(count < 1000)
    }
    try store.expectSound()
    return (store, count)
  }

  /// The same store, of which everything moves at once.
  private func mergedAtOnce() throws -> MessageStore {
    let directory = MemoryDirectory()
    try crowded(directory)
    let store = try open(directory, .max)
    try merge(store)
    #expect(try !store.read { try $0.hasWork })
    try store.expectSound()
    return store
  }

  /// The messages of the server's conversation, a line each.
  private func thread(_ store: MessageStore) throws -> [String] {
    try store.read { chat throws in
      try chat.thread("srv").tail(1000).map { "\($0.id) \($0.text) \($0.status)" }
    }
  }

  private func ids(_ store: MessageStore) throws -> [MessageID] {
    try store.read { chat throws in try chat.thread("srv").tail(1000).map(\.id) }
  }

  @Test func aMergeInStepsEndsAsOneInOneGo() throws {
    let directory = MemoryDirectory()
    try crowded(directory)
    let first = try open(directory)
    try merge(first)
    let whole = try mergedAtOnce()
    let (store, stepCount) = try finish(directory, first) { store in
      #expect(try store.counts() == whole.counts())
      // What has arrived is whole.
      let here = Set(try ids(store))
      for entry in try store.entries(in: "srv") {
        if let id = entry.message { #expect(here.contains(id)) }
      }
    }
    #expect(stepCount > 5)
    #expect(try store.waiting == whole.waiting)
    #expect(try store.entries().map(\.id) == whole.entries().map(\.id))
    #expect(try thread(store) == thread(whole))
    #expect(try store.drain() == whole.drain())
    #expect(try store.waiting == [])
    try store.expectSound()
  }

  /// Of what is on its way only uploads go, which have no order, each with its message.
  @Test func everythingIsHandedOutOnceAndInItsOrder() throws {
    let directory = MemoryDirectory()
    try crowded(directory)
    let store = try open(directory)
    try store.write { try $0.send(own("elsewhere", in: "other")) }
    try merge(store)
    var names: [String] = []
    while try store.nextTime() != nil {
      guard let item = try store.next() else { continue }
      names.append(item.name)
      try store.expectSound()
      try store.done(item)
      try #require(names.count < 1000)
    }
    func inOrder(_ names: [String]) -> [String] { names.filter { !$0.hasPrefix("upload") } }
    // The lane of what is on its way waits, and no other.
    #expect(inOrder(names).first == "send elsewhere")
    names.removeAll { $0 == "send elsewhere" }
    let expected = try mergedAtOnce().drain()
    #expect(inOrder(names) == inOrder(expected))
    #expect(names.sorted() == expected.sorted())
    try store.finishWork()
    try store.expectSound()
    #expect(try store.waiting == [])
  }

  @Test func whoNamesAnEntryThatIsOnItsWayFindsItAndItsMessage() throws {
    let directory = MemoryDirectory()
    try crowded(directory)
    let store = try open(directory)
    let entry = try #require(
      try store.entries(in: "tmp").last { $0.kind == .edit && $0.message == "p64" })
    try merge(store)
    #expect(try store.read { try $0.outbox.entry(entry.id) } == nil, "it has not arrived")
    #expect(try store.read { try $0.message("p64", in: "srv") } == nil)
    #expect(try store.write { try $0.outbox.hold(entry.id) })
    #expect(try store.read { try $0.outbox.entry(entry.id)?.conversation } == "srv")
    #expect(try store.read { try $0.message("p64", in: "srv")?.text } == "edited")
    try store.expectSound()
    let (finished, _) = try finish(directory, store)
    #expect(try finished.read { try $0.outbox.entry(entry.id)?.state } == .held)
  }

  /// The server tells of a message while that is on its way, under its own or another name.
  @Test(arguments: [true, false]) func whatTheServerHasMeanwhileIsNotSent(_ isCopy: Bool) throws {
    let directory = MemoryDirectory()
    try crowded(directory)
    let store = try open(directory)
    try merge(store)
    try store.write { chat in
      if isCopy {
        try chat.insert(
          Message(id: "p61", in: "srv", from: "me", text: "mine", serverTimestamp: time(90)))
      } else {
        try chat.acknowledge("p61", in: "srv", serverTimestamp: time(90), as: "s61")
      }
    }
    let (finished, _) = try finish(directory, store)
    #expect(try finished.read { try $0.message("p61", in: "srv")?.status } == .sent)
    let names = try finished.drain()
    #expect(names.contains("send p62") && !names.contains("send p61"))
    try finished.expectSound()
  }

  /// It goes on to another conversation, or is deleted, while the first merge is under way.
  @Test(arguments: ["delete", "rename", "received"])
  func aMergeFollowsItsConversation(_ act: String) throws {
    let directory = MemoryDirectory()
    try crowded(directory)
    let store = try open(directory)
    try merge(store)
    try store.write { chat in
      switch act {
      case "delete": _ = try chat.deleteConversation("srv")
      case "rename": try chat.renameConversation("srv", to: "other")
      default: _ = try chat.receiveConversationDeletion("srv", at: time(1000))
      }
      try chat.send(own("x", in: "other"))
    }
    try store.expectSound()
    let (finished, _) = try finish(directory, store)
    let names = try finished.drain()
    let isDeleted = act == "delete"
    #expect(names.count { $0.hasPrefix("send p") } == (isDeleted ? 0 : Self.count))
    #expect(names.count { $0.hasPrefix("client") } == 10)
    #expect(names.count { $0.hasPrefix("+👍") } == (act == "rename" ? 30 : 0))
    #expect(names.contains("delete") == isDeleted)
    #expect(try finished.waiting == [])
    try finished.expectSound()
  }

  /// A deletion that was received of the one is merged behind what waits there.
  @Test func pendingMessagesUnderADeletionMoveInSteps() throws {
    var ends: [[String]] = []
    for maximumCount in [.max, Self.stepCount] {
      let directory = MemoryDirectory()
      try crowded(directory)
      let store = try open(directory, .max)
      try store.write { chat in
        _ = try chat.receiveConversationDeletion("tmp", at: time(10))
        // It has been sent from elsewhere, before the deletion.
        try chat.insert(
          Message(id: "p3", in: "srv", from: "me", text: "mine", serverTimestamp: time(9)))
      }
      try store.close()
      let first = try open(directory, maximumCount)
      try merge(first)
      let (finished, _) = try finish(directory, first, maximumCount)
      try finished.expectSound()
      ends.append(try thread(finished))
      let names = try finished.drain()
      #expect(names.count { $0.hasPrefix("send p") } == Self.count - 1)
      #expect(!names.contains("send p3"))
      #expect(try finished.waiting == [])
    }
    #expect(ends[0] == ends[1])
    #expect(ends[0].contains { $0.hasPrefix("r20 ") } && !ends[0].contains { $0.hasPrefix("s ") })
  }

  /// In a damaged store no step goes round for ever.
  @Test func anEntryThatItsMessageDoesNotListEndsTheStep() throws {
    let directory = MemoryDirectory()
    try crowded(directory)
    let store = try open(directory)
    try merge(store)
    try store.close()
    let cells = try Cells(directory).all(Cells.workTree)
    let sweep = try #require(cells.first { $0.key[0] == OutboxKey.sweepPrefix })
    let ofMessages = [OutboxKey.conversationPrefix] + sweep.key[1...4] + [3]
    let listed = cells.filter { $0.key.starts(with: ofMessages) }
    try #require(listed.count > Self.stepCount)
    for index in [0, listed.count / 2, listed.count - 1] {
      let files = try Cells(directory).changed([(listed[index].key, nil)], in: Cells.workTree)
      let damaged = try open(files)
      #expect(try !damaged.check().isEmpty)
      #expect(throws: StoreError.self) { try damaged.finishWork() }
    }
  }

  @Test func aReleaseGoesOnWithWhatIsOnItsWay() throws {
    let directory = MemoryDirectory()
    let first = try open(directory)
    try first.write { chat in
      try chat.outbox.setHoldsNewEntries(true)
      for index in 0..<Self.count { try chat.send(own(MessageID("p\(index)"), in: "tmp")) }
      try chat.send(own("s", in: "srv"))
      try chat.outbox.setHoldsNewEntries(false)
    }
    #expect(try first.write { try $0.outbox.releaseAll(in: "tmp") } == Self.count)
    try first.write { _ = try $0.renameConversation("tmp", to: "srv") }
    let (store, _) = try finish(directory, first)
    #expect(try store.counts() == OutboxCounts(queued: Self.count, held: 1))
    #expect(try store.read { try $0.message("p50", in: "srv")?.status } == .pending)
    #expect(try store.drain() == (0..<Self.count).map { "send p\($0)" })
    try store.expectSound()
  }
}
