import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// What concerns much of the outbox is done in steps, each of which changes a bounded part, and ends as
/// if it had been done at once.
struct LongWorkTests {
  private static let stepCount = 20
  private static let workTree = Cells.workTree
  private let clock = TestClock(0)

  private func options(_ maximumEntryCount: Int) -> StoreOptions {
    let clock = clock
    var options = StoreOptions(localMember: "me", clock: { clock.now }).makingConversations
    options.worksInBackground = false
    options.outbox.chance = { 1 }
    options.steps.maximumEntryCount = maximumEntryCount
    return options
  }

  private func open(
    _ directory: MemoryDirectory, _ maximumEntryCount: Int = Self.stepCount
  ) throws -> MessageStore {
    try MessageStore(in: directory, name: "store", options: options(maximumEntryCount))
  }

  /// The entries that are stored, whatever they belong to.
  private func stored(_ directory: MemoryDirectory) throws -> [[UInt8]: [UInt8]] {
    let cells = try Cells(directory.copy()).all(Self.workTree).filter { $0.key[0] == 1 }
    return Dictionary(uniqueKeysWithValues: cells.map { ($0.key, $0.value) })
  }

  private func changeCount(
    in directory: MemoryDirectory, _ body: () throws -> Void
  ) throws -> Int {
    let before = try stored(directory)
    try body()
    let after = try stored(directory)
    return Set(before.keys).union(after.keys).count { before[$0] != after[$0] }
  }

  /// Does all steps, each after a reopening: none changes more than it may, and the store is sound after
  /// each.
  private func finish(
    _ directory: MemoryDirectory, _ store: MessageStore,
    between: (MessageStore) throws -> Void = { _ in }
  ) throws -> (store: MessageStore, stepCount: Int) {
    var store = store
    var count = 0
    while try store.read({ try $0.hasWork }) {
      try store.expectSound()
      try between(store)
      // As a kill would leave it.
      let copy = directory.copy()
      try store.close()
      for name in ["store", "store-wal0", "store-wal1"] { directory[name] = copy[name] }
      store = try open(directory)
      let changed = try changeCount(in: directory) {
        try store.write(.relaxed) { try $0.doWork() }
      }
      #expect(changed <= Self.stepCount, "step \(count)")
      count += 1
      try #require(count < 1000)
    }
    try store.expectSound()
    return (store, count)
  }

  // MARK: Deleting

  /// A conversation with much of all kinds to tell, and another one behind it.
  private func crowded(_ directory: MemoryDirectory, leaves: Bool = true) throws {
    let store = try open(directory)
    try store.write { chat in
      try chat.insert(message("r", at: 1))
      for index in 0..<30 { try chat.send(own(MessageID("s\(index)"))) }
      while let item = try chat.outbox.next(for: "w") { try chat.outbox.complete(item) }
    }
    try store.write { chat in
      _ = try chat.setTitle("T", of: "room")
      _ = try chat.markRead("room")
      for index in 0..<120 {
        try chat.send(
          index % 5 == 0
            ? ownWithFiles(MessageID("p\(index)"), ["f\(index)"]) : own(MessageID("p\(index)")))
        if index % 4 == 0 { _ = try chat.retract(MessageID("s\(index / 4)"), in: "room") }
        if index % 9 == 0 { _ = try chat.outbox.enter("work \(index)", in: "room") }
        if index % 7 == 0 { _ = try chat.react("\(index)", to: "r", in: "room") }
      }
      _ = try chat.edit("p5", in: "room", text: "edited")
      if leaves { _ = try chat.leave("room") }
      try chat.send(own("x", in: "other"))
    }
    try store.expectSound()
    try store.close()
  }

  private func delete(_ store: MessageStore) throws {
    try store.write { _ = try #require(try $0.deleteConversation("room")) }
  }

  @Test func aDeletionInStepsEndsAsOneInOneGo() throws {
    let (directory, other) = (MemoryDirectory(), MemoryDirectory())
    for files in [directory, other] { try crowded(files) }
    let whole = try open(other, .max)
    try delete(whole)
    #expect(try whole.waiting.count > 40)
    try whole.expectSound()

    let first = try open(directory)
    let changed = try changeCount(in: directory) { try delete(first) }
    // The deletion itself, its title and its receipt come to it.
    #expect(changed <= Self.stepCount + 4)
    let tokens = try whole.entries().filter { $0.kind != .deleteConversation }.map(\.id)
    let (store, stepCount) = try finish(directory, first) { store in
      #expect(try store.read { try $0.conversation("room") } == nil)
      let left = try store.entries()
      #expect(try OutboxCounts(left) == store.counts())
      let gone: [OutboxKind] = [.send, .upload, .edit, .react, .readReceipt]
      #expect(left.allSatisfy { !gone.contains($0.kind) || $0.message == "x" })
    }
    #expect(stepCount > 5)
    #expect(try store.waiting == whole.waiting)
    #expect(try store.entries().filter { $0.kind != .deleteConversation }.map(\.id) == tokens)
    #expect(try store.counts() == whole.counts())
    try whole.finishWork()
    #expect(try store.drain() == whole.drain())
    #expect(try store.waiting == [])
    try store.expectSound()
  }

  /// Work goes on from the other conversation; of the deleted one nothing goes before its turn.
  @Test func nothingThatWasDeletedIsHandedOut() throws {
    let directory = MemoryDirectory()
    try crowded(directory)
    let store = try open(directory)
    let running = try store.take()
    #expect(running.name == "title T")
    let upload = try store.take()
    #expect(upload.name == "upload f0")
    try delete(store)
    var names: [String] = []
    // Each call does a part where there is nothing else to do.
    while try store.nextTime() != nil {
      guard let item = try store.next() else { continue }
      names.append(item.name)
      try store.expectSound()
      // Who has what was handed out before may say so at any time.
      if names.count == 1 {
        #expect(try store.done(running) && !store.done(upload))
        try store.expectSound()
      }
      try store.done(item)
    }
    #expect(names.first == "send x")
    #expect(names.last == "delete" && names.dropLast().last == "leave")
    #expect(Array(names[1...4]) == ["retract s0", "client work 0", "retract s1", "retract s2"])
    #expect(names.count == 1 + 30 + 14 + 2)
    #expect(try store.waiting == [])
    try store.finishWork()
    try store.expectSound()
  }

  /// Nobody else may do the steps, so `next` does one where nothing else is in the outbox.
  @Test func eachCallSweepsAPartOfWhatADeletedConversationHasLeft() throws {
    let directory = MemoryDirectory()
    let store = try open(directory)
    try store.write { chat throws in
      _ = try chat.receive(ReceivedConversation("room", at: time(0)))
      _ = try chat.outbox.setHoldsNewEntries(true)
      for index in 0..<7 * Self.stepCount { try chat.send(own(MessageID("s\(index)"))) }
      _ = try chat.outbox.setHoldsNewEntries(false)
    }
    try store.write { _ = try $0.deleteConversation("room") }
    var names: [String] = []
    for _ in 0..<12 where try store.nextTime() != nil {
      guard let item = try store.next() else { continue }
      names.append(item.name)
      try store.done(item)
    }
    #expect(names == ["delete"])
    #expect(try store.nextTime() == nil)
    #expect(try store.waiting == [])
    try store.finishWork()
    try store.expectSound()
  }

  @Test func whoNamesAnEntryThatIsOnItsWayFindsIt() throws {
    let directory = MemoryDirectory()
    try crowded(directory)
    let store = try open(directory)
    let last = try #require(try store.entries(in: "room").last { $0.kind == .client }).id
    let send = try #require(try store.entries(in: "room").last { $0.kind == .send }).id
    try delete(store)
    #expect(try store.read { try $0.outbox.entry(last) } == nil, "it has not arrived")
    #expect(try store.write { try $0.outbox.hold(last) })
    #expect(try store.read { try $0.outbox.entry(last)?.conversation } == "room")
    try store.expectSound()
    try store.write { (chat) throws in
      #expect(throws: StoreError.outbox(.notFound, send)) { try chat.outbox.release(send) }
    }
    try store.expectSound()
    let (finished, _) = try finish(directory, store)
    #expect(try finished.read { try $0.outbox.entry(last)?.state } == .held)
  }

  /// It comes back, and is deleted or becomes another one while the first deletion is under way.
  @Test(arguments: ["delete", "rename", "unknown"]) func aDeletionFollowsItsConversation(
    _ act: String
  ) throws {
    let directory = MemoryDirectory()
    try crowded(directory, leaves: false)
    let store = try open(directory)
    try delete(store)
    try store.write { chat in
      try chat.send(own("new"))
      switch act {
      case "delete": _ = try chat.deleteConversation("room")
      case "rename": try chat.renameConversation("room", to: "other")
      default: break
      }
    }
    try store.expectSound()
    let (finished, _) = try finish(directory, store)
    let names = try finished.drain()
    #expect(names.count { $0.hasPrefix("retract") } == 30)
    #expect(names.count { $0.hasPrefix("client") } == 14)
    #expect(names.count { $0 == "delete" } == 1)
    #expect(names.contains("send new") == (act != "delete"))
    try finished.expectSound()
  }

  @Test func aConversationThatNobodyKnowsGoesWithAllThatWaits() throws {
    let directory = MemoryDirectory()
    let store = try open(directory)
    try store.write { chat in
      _ = try chat.createGroup("g", participants: ["you", "ann"])
      for index in 0..<70 { try chat.send(own(MessageID("m\(index)"), in: "g")) }
      _ = try chat.outbox.enter("poll", in: "g")
      _ = try chat.deleteConversation("g")
    }
    #expect(try store.counts().total == 0 && store.waiting == [] && store.next() == nil)
    let (finished, stepCount) = try finish(directory, store)
    #expect(stepCount > 2)
    #expect(try finished.waiting == [])
    #expect(try stored(directory).isEmpty)
  }

  /// The totals count nothing of it, and still it must follow.
  @Test func whatIsLeftFollowsAConversationWithNothingElseToTell() throws {
    let directory = MemoryDirectory()
    let store = try open(directory)
    try store.write { chat in
      try chat.insert(chatMessage("r", in: "room", at: 1))
      try chat.insert(chatMessage("o", in: "other", at: 2))
      for index in 0..<70 { try chat.send(own(MessageID("m\(index)"), in: "room")) }
      _ = try chat.deleteConversation("room")
    }
    let deletion = try store.entryID(.deleteConversation)
    try store.write { _ = try $0.outbox.remove(deletion) }
    #expect(try store.counts().total == 0)
    try store.write { _ = try $0.renameConversation("room", to: "other") }
    let (finished, stepCount) = try finish(directory, store)
    #expect(stepCount > 1)
    #expect(try finished.waiting == [])
    #expect(try stored(directory).isEmpty)
  }

  /// In a damaged store nothing goes round for ever.
  @Test func whatLeadsToNoConversationIsFound() throws {
    let directory = MemoryDirectory()
    try crowded(directory)
    let store = try open(directory)
    try delete(store)
    try store.close()
    let sweep = try #require(
      try Cells(directory).all(Self.workTree).first { $0.key[0] == OutboxKey.sweepPrefix })
    for target in [sweep.key[4], 99] {
      let files = try Cells(directory).changed(
        [(sweep.key, [target, 0, 0, 0])], in: Self.workTree)
      let damaged = try open(files)
      #expect(try !damaged.check().isEmpty)
      #expect(throws: StoreError.self) { try damaged.finishWork() }
    }
  }

  @Test func smallDeletionsAreDoneAtOnce() throws {
    let directory = MemoryDirectory()
    try crowded(directory)
    let store = try open(directory, 300)
    try delete(store)
    #expect(try store.waiting.count > 40)
    #expect(try store.waiting.last == "deleteConversation queued")
    try store.expectSound()
  }
}
