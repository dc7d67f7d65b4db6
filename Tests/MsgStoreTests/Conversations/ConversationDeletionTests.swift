import MsgStore
import PageFile
import Testing

/// Deleting conversations, in bounded steps.
struct ConversationDeletionTests {
  /// A store that does no work by itself.
  private func quietStore(
    _ directory: MemoryDirectory = MemoryDirectory(), clock: Int64 = 1000
  ) throws -> MessageStore {
    var options = StoreOptions(localMember: "me", clock: { time(clock) }).makingConversations
    options.worksInBackground = false
    return try MessageStore(in: directory, name: "store", options: options)
  }

  @Test func aDeletedConversationIsGoneAtOnceAndSweptInBoundedSteps() throws {
    let store = try quietStore()
    let count = 2500
    try store.write { chat in
      _ = try chat.createGroup("g", participants: ["ann"], title: "Group")
      for index in 0..<count {
        try chat.insert(chatMessage(MessageID("m\(index)"), in: "g", at: Int64(index)))
      }
    }
    let sizeBefore = store.statistics.walByteCount
    try store.write { chat in
      let withdrawn = try chat.deleteConversation("g")
      #expect(withdrawn == [])
      #expect(try chat.deleteConversation("g") == nil)
      #expect(try chat.conversation("g") == nil && chat.conversations(count: 9).isEmpty)
      #expect(try chat.unreadTotals == UnreadTotals())
      #expect(try chat.thread("g").tail(5).isEmpty)
    }
    // One small write, however long the thread.
    #expect(store.statistics.walByteCount - sizeBefore < 8192)
    try store.expectSound()
    var stepCount = 0
    while try store.read({ try $0.hasWork }) {
      try store.write { try $0.doWork() }
      stepCount += 1
      try store.expectSound()
    }
    #expect(stepCount >= count / 1000)
    #expect(try !store.commits { try $0.doWork() })
  }

  @Test func whatWasQueuedIsWithdrawnAndReported() throws {
    let store = try quietStore()
    try store.write { chat in
      try chat.insert(chatMessage("sent", in: "a", at: 5))
      try chat.insert(chatMessage("queued", in: "a", at: nil, from: "me"))
      try chat.insert(chatMessage("failed", in: "a", at: nil, from: "me"))
      try chat.setStatus(.failed, of: "failed", in: "a")
      #expect(try chat.deleteConversation("a") == ["queued", "failed"])
      #expect(try chat.deleteConversation("none") == nil)
    }
    #expect(try !store.commits { _ = try $0.deleteConversation("none") })
  }

  @Test func itComesBackOnlyForSomethingNewer() throws {
    let store = try quietStore(clock: 1000)
    try store.write { chat in
      _ = try chat.createGroup("g", participants: ["ann", "bob"], title: "Group")
      try chat.insert(chatMessage("m", in: "g", at: 2000))
      try chat.setMuted(true, of: "g")
      try chat.setPinned(true, of: "g")
      try chat.setDraft("half", in: "g")
      try chat.deleteConversation("g")
      // The newest server time counts, where the device's clock is behind.
      for (id, at) in [("m", 2000), ("late", 1500), ("edge", 2000)] as [(MessageID, Int64)] {
        #expect(try chat.insert(chatMessage(id, in: "g", at: at)) == .deleted)
      }
      try chat.receive(ReceivedConversation("g", at: time(9)) { $0.avatar = .text("a") })
      #expect(try chat.conversation("g") == nil)
      #expect(throws: StoreError.conversation(.notFound, "g")) { try chat.setTitle("x", of: "g") }
    }
    try store.expectSound()
    try store.finishWork()
    try store.write { chat in
      #expect(try chat.insert(chatMessage("new", in: "g", at: 2001)) == .inserted)
      let room = try #require(try chat.conversation("g"))
      #expect(room.title == "Group" && room.participants == ["ann", "bob", "me"])
      #expect(room.isMuted && !room.isPinned && !room.hasDraft && room.kind == .group)
      #expect(room.messageCount == 1 && room.deletedUpTo == time(2000))
      #expect(try chat.conversations(count: 9).map(\.id) == ["g"])
    }
    try store.expectSound()
  }

  @Test func aDirectConversationThatWasDeletedIsFoundAgain() throws {
    let store = try quietStore()
    try store.write { chat in
      let id = try chat.findOrCreateConversation(with: ["ann"]).id
      try chat.deleteConversation(id)
      #expect(try chat.findOrCreateConversation(with: ["ann"]).id == id)
      #expect(try chat.conversations(count: 9).map(\.id) == [id])
    }
    try store.expectSound()
  }

  @Test func aReceivedDeletionKeepsWhatIsNewer() throws {
    let store = try quietStore()
    try store.write { chat in
      for index in 0..<3000 {
        try chat.insert(chatMessage(MessageID("m\(index)"), in: "a", at: Int64(index)))
      }
      #expect(try chat.receiveConversationDeletion("a", at: time(2499)))
      #expect(try !chat.receiveConversationDeletion("a", at: time(2400)))
      #expect(try chat.conversation("a")?.messageCount == 2000)
    }
    try store.expectSound()
    try store.finishWork()
    try store.write { chat in
      let room = try #require(try chat.conversation("a"))
      #expect(room.messageCount == 500 && room.unreadCount == 500)
      #expect(try chat.thread("a").tail(1000).first?.id == "m2500")
      // Told of a conversation that is not here yet, it holds for what comes afterwards.
      #expect(try chat.receiveConversationDeletion("b", at: time(7)))
      #expect(try chat.insert(chatMessage("old", in: "b", at: 7)) == .deleted)
      #expect(try chat.conversation("b") == nil)
      #expect(try chat.insert(chatMessage("new", in: "b", at: 8)) == .inserted)
      #expect(try chat.conversation("b")?.messageCount == 1)
    }
    try store.expectSound()
  }

  @Test func aReceivedDeletionMergesInAnyOrderWithMessages() throws {
    for seed in seeds(4) {
      var random = SeededGenerator(seed: seed)
      var expected: [String]?
      for _ in 0..<6 {
        let store = try quietStore()
        for step in Array(0..<9).shuffled(using: &random) {
          try store.write(.relaxed) { chat in
            switch step {
            case 0: try chat.receiveConversationDeletion("a", at: time(20))
            case 1: try chat.receiveConversationDeletion("a", at: time(40))
            case 2: try chat.receive(ReceivedConversation("a", at: time(30)) { $0.isPinned = true })
            default:
              let id = MessageID("m\(step)")
              try chat.insert(chatMessage(id, in: "a", at: Int64(step) * 10))
            }
          }
          if random.chance(30) { try store.finishWork() }
        }
        try store.finishWork()
        try store.expectSound()
        let found = try store.read { chat in
          let room = try chat.conversation("a")
          return try chat.thread("a").tail(9).ids + ["\(room?.isPinned ?? false)"]
        }
        #expect(found == ["m5", "m6", "m7", "m8", "false"])
        #expect(found == expected ?? found)
        expected = found
      }
    }
  }

  @Test func workGoesOnByItselfAndAfterOpening() throws {
    let directory = MemoryDirectory()
    var store = try quietStore(directory)
    try store.write { chat in
      for index in 0..<3000 {
        try chat.insert(chatMessage(MessageID("m\(index)"), in: "a", at: Int64(index)))
      }
      try chat.deleteConversation("a")
    }
    try store.close()
    store = try memoryStore(directory)
    try store.write { chat in try chat.insert(chatMessage("x", in: "b", at: 1)) }
    var isLeft = true
    for _ in 0..<500 where isLeft {
      isLeft = try store.write(.relaxed) { try $0.hasWork }
    }
    while try store.read({ try $0.hasWork }) {}
    try store.expectSound()
    #expect(try store.read { try $0.conversations(count: 9).map(\.id) } == ["b"])
    try store.close()
  }

  @Test func theTextIsInNoFileAfterTheNextCheckpoint() throws {
    let directory = MemoryDirectory()
    let store = try quietStore(directory)
    let canary = "canary-\(UInt64.random(in: 0...UInt64.max))"
    try store.write { chat in
      for index in 0..<50 {
        try chat.insert(
          chatMessage(MessageID("m\(index)"), in: "a", at: Int64(index), text: canary))
      }
      try chat.setDraft(canary, in: "a")
    }
    try store.checkpoint()
    try store.write { try $0.deleteConversation("a") }
    try store.finishWork()
    try store.checkpoint()
    for name in ["store", "store-wal0", "store-wal1"] {
      guard directory.exists(name) else { continue }
      let file = try directory.open(name, .read)
      var bytes = ByteBuffer()
      bytes.append(zeros: try file.byteCount())
      _ = try file.read(into: bytes.mutableBytes, at: 0)
      #expect(bytes.bytes.array().firstRange(of: Array(canary.utf8)) == nil, "\(name)")
    }
  }
}
