import Damage
import MsgStore
import PageFile
import Testing

/// What waits in a store of a version that had no outbox is entered by the first opening that writes.
@Suite struct RaisedStoreTests {
  /// A store as version 3 left it: without an outbox, and with the version that it had.
  private func former(
    _ fill: (MessageStore) throws -> Void
  ) throws -> MemoryDirectory {
    let directory = MemoryDirectory()
    let store = try TestClock(5_000_000).store(directory) { options in
      options.outbox.isEnabled = false
      options.worksInBackground = false
    }
    try fill(store)
    try store.close()
    let database = try Database(in: directory, name: "store")
    let transaction = try database.beginWrite()
    try transaction.source.enter()
    var key = ByteBuffer()
    key.append("schema version")
    var value = ByteBuffer()
    value.append(littleEndian: UInt64(3))
    _ = try BTree(transaction.source, TreeNumber(0)).insert(key.bytes, value.bytes)
    transaction.source.leave()
    _ = try transaction.commit(.full)
    try database.close()
    return directory
  }

  private func entries(_ store: MessageStore) throws -> [OutboxEntry] {
    try store.read { try $0.outbox.entries(count: 10_000).entries }
  }

  @Test func messagesAreEnteredWithAllThatNeedsThem() throws {
    let directory = try former { store in
      try store.write { chat in
        try chat.insert(message("m", at: 1_000))
        try chat.markRead("room")
        var picture = own("p1", "two pictures", at: 1)
        picture.attachments = ["a", "b"].map { MessageAttachment(id: $0, kind: .image) }
        picture.attachments[1].remoteURL = "https://x.example/b"
        try chat.send(picture)
        try chat.send(own("p2", at: 2))
        try chat.edit("p2", in: "room", text: "edited")
        try chat.edit("p2", in: "room", text: "edited twice")
        try chat.send(own("p3", at: 3))
        try chat.setStatus(.sending, of: "p3", in: "room")
        try chat.retract("p3", in: "room")
        try chat.send(own("p4", at: 4))
        try chat.retract("p4", in: "room")
        try chat.send(own("p5", at: 5))
        try chat.setStatus(.sent, of: "p5", in: "room")
        try chat.insert(message("theirs", at: nil, local: 6))
      }
    }
    let store = try TestClock(9_000_000).store(directory)
    let found = try entries(store)
    #expect(
      found.map(\.kind) == [.readReceipt, .upload, .send, .send, .edit, .edit, .send, .retract])
    #expect(found.compactMap(\.message) == ["p1", "p1", "p2", "p2", "p2", "p3", "p3"])
    #expect(found.allSatisfy { $0.state == .held })
    #expect(found.map(\.attemptCount) == [0, 0, 0, 0, 0, 0, 1, 0])
    #expect(try store.message("p1")?.status == .held)
    #expect(try store.message("p5")?.status == .sent)
    try store.expectSound()
    try store.close()
    let again = try TestClock(9_000_000).store(directory)
    #expect(try entries(again) == found)

    // Released, all of it goes.
    var told: [OutboxKind] = []
    try again.write { try $0.outbox.releaseAll() }
    while let item = try again.write(.full, { try $0.outbox.next(for: "worker") }) {
      told.append(try #require(found.first { $0.id == item.id }).kind)
      try again.write { try $0.outbox.complete(item) }
    }
    #expect(told.count == 8)
    #expect(try entries(again).isEmpty)
    try again.expectSound()
  }

  @Test func manyAreEnteredInOrder() throws {
    let directory = try former { store in
      for batch in 0..<10 {
        try store.write(.relaxed) { chat in
          for index in 0..<300 {
            try chat.send(
              Message(
                id: MessageID("p-\(batch * 300 + index)"), in: ConversationID("room-\(batch % 4)"),
                from: "me", text: "waits"))
          }
        }
      }
    }
    let store = try TestClock(9_000_000).store(directory)
    #expect(try store.read { try $0.outbox.counts().held } == 3000)
    let first = try store.read { try $0.outbox.entries(in: "room-1", count: 3).entries }
    #expect(first.map(\.message) == ["p-300", "p-301", "p-302"])
    try store.expectSound()
  }

  /// What is on its way to another conversation is brought there before it is entered.
  @Test func whatBecomesAnotherConversationsIsEnteredThere() throws {
    let directory = try former { store in
      try store.write { chat in
        for index in 0..<700 {
          try chat.insert(message(MessageID("m\(index)"), at: Int64(index)))
        }
        for index in 0..<5 { try chat.send(own(MessageID("p\(index)"), at: Int64(index))) }
        try chat.insert(
          Message(id: "x", in: "other", from: "you", text: "x", serverTimestamp: time(5)))
      }
      try store.write { try $0.renameConversation("room", to: "other") }
      #expect(try store.read { try $0.hasWork })
    }
    let store = try TestClock(9_000_000).store(directory) { $0.worksInBackground = false }
    let found = try entries(store).filter { $0.kind == .send }
    #expect(found.map(\.message) == ["p0", "p1", "p2", "p3", "p4"])
    #expect(found.allSatisfy { $0.conversation == "other" && $0.state == .held })
    try store.finishWork()
    try store.expectSound()
  }

  /// Much of it is entered in several commits; where one is the last, the next opening goes on.
  @Test func whatIsEnteredInStepsIsTheSameWhereverItIsCutOff() throws {
    let start = try former { store in
      try store.write { chat in
        for index in 0..<10 { try chat.insert(message(MessageID("m\(index)"), at: Int64(index))) }
        try chat.markRead("room")
        for index in 0..<25 {
          var own = own(MessageID("p\(index)"), at: Int64(index))
          if index % 4 == 0 { own.attachments = [MessageAttachment(id: "a", kind: .image)] }
          try chat.send(own)
        }
        try chat.edit("p2", in: "room", text: "edited")
        for room in 0..<9 {
          try chat.send(own("q", in: ConversationID("room\(room)")))
        }
        try chat.insert(chatMessage("o", in: "other", at: 1))
      }
      try store.write { try $0.renameConversation("room8", to: "other") }
    }
    func open(_ directory: any StorageDirectory, _ maximumCount: Int) throws -> MessageStore {
      let clock = TestClock(9_000_000)
      var options = StoreOptions(localMember: "me", clock: { clock.now })
      options.worksInBackground = false
      options.steps.maximumOpeningCount = maximumCount
      return try MessageStore(in: directory, name: "store", options: options)
    }
    let expected = try open(start.copy(), .max).waiting
    #expect(expected.count > 35)
    let cuts = Locked<[MemoryDirectory]>([])
    let hooked = HookedDirectory(start.copy()) { (call, files) throws(PageFileError) in
      if call.kind == .write, call.name != "store" { cuts.withLock { $0.append(files.copy()) } }
    }
    let whole = try open(hooked, 5)
    #expect(try whole.waiting == expected)
    try whole.expectSound()
    try whole.close()
    let found = cuts.withLock { $0 }
    #expect(found.count > 6)
    for cut in found {
      var readOnly = StoreOptions()
      readOnly.access = .readOnly
      let reader = try MessageStore(in: cut.copy(), name: "store", options: readOnly)
      try reader.expectSound()
      try reader.close()
      let store = try open(cut, 7)
      #expect(try store.waiting == expected)
      try store.expectSound()
      try store.close()
      let keys = try Cells(cut).all(Cells.settingsTree).map {
        String(decoding: $0.key, as: UTF8.self)
      }
      #expect(!keys.contains("raised from") && !keys.contains("coming member"))
    }
  }

  /// A client with a queue of its own goes on with that.
  @Test func nothingIsEnteredWhereTheOutboxIsOff() throws {
    let directory = try former { store in
      try store.write { chat in _ = try chat.send(own("p1")) }
    }
    let store = try TestClock(9_000_000).store(directory) { $0.outbox.isEnabled = false }
    #expect(try entries(store).isEmpty)
    #expect(try store.message("p1")?.status == .pending)
    try store.expectSound()
  }
}
