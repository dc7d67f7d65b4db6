import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// The space that a store and its conversations take.
struct SizesTests {
  @Test func theSizesOfFilesAreThoseOnTheDisk() throws {
    let directory = try TemporaryDirectory()
    let store = try MessageStore(path: directory.path("chat"))
    for round in 0..<3 {
      try store.write { chat in
        for number in 0..<50 {
          try chat.insert(
            message(
              MessageID("\(round)-\(number)"), at: Int64(number),
              text: String(repeating: "word ", count: 100)))
        }
      }
      if round == 1 { try store.checkpoint() }
      let sizes = try store.fileSizes
      func byteCount(_ name: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: directory.path(name))[.size] as? Int ?? -1
      }
      #expect(try sizes.dataFileByteCount == byteCount("chat"))
      #expect(try sizes.logByteCount == byteCount("chat-wal0") + byteCount("chat-wal1"))
      #expect(sizes.totalByteCount == sizes.dataFileByteCount + sizes.logByteCount)
      #expect(sizes.logByteCount > 0)
    }
    try store.close()
    #expect(throws: StoreError.storage(.closed)) { _ = try store.fileSizes }
    // As an inspector sees them, which has no log to write.
    var options = StoreOptions()
    options.access = .readOnly
    let reader = try MessageStore(path: directory.path("chat"), options: options)
    #expect(try reader.fileSizes.dataFileByteCount > 25_000)
    #expect(try MessageStore.inMemory().fileSizes.totalByteCount > 0)
  }

  /// The sizes of a conversation as its thread and its facts tell.
  private func expectSizes(
    _ sizes: ConversationSizes, of id: ConversationID, in store: MessageStore
  ) throws {
    var (messageCount, textByteCount) = (0, 0)
    var attachments: [ExportedAttachment] = []
    try store.read { snapshot in
      try snapshot.forEachExportedMessage(in: id) { message in
        messageCount += 1
        textByteCount += message.text.utf8.count
        attachments += message.facts.attachments
      }
      try snapshot.forEachWaiting { waiting in
        if waiting.conversation == id { attachments += waiting.facts.attachments }
      }
    }
    #expect(sizes.messageCount == messageCount)
    #expect(sizes.textByteCount == textByteCount)
    #expect(sizes.attachmentCount == attachments.count)
    #expect(
      sizes.attachmentByteCount
        == attachments.reduce(0) { $0 + max($1.attachment.byteCount ?? 0, 0) })
    #expect(sizes.storedByteCount == sizes.messageByteCount + sizes.otherByteCount)
    #expect((sizes.messageByteCount > 0) == (messageCount > 0))
  }

  @Test func theSizesAreThoseOfTheMessages() throws {
    for seed in seeds(6, debugCount: 3) {
      var random = RandomStore(seed: seed)
      let store = try random.make(stepCount: 150)
      var sum = 0
      var names: [ConversationID] = []
      try store.read { snapshot in
        try snapshot.forEachConversationSizes { id, sizes in
          names.append(id)
          sum += sizes.storedByteCount
          #expect(try snapshot.sizes(of: id) == sizes)
          try expectSizes(sizes, of: id, in: store)
        }
      }
      var all: [ConversationID] = []
      try store.read { try $0.forEachConversation { all.append($0.id) } }
      #expect(names == all && !all.isEmpty, "seed \(seed)")
      #expect(sum > 0)
    }
  }

  @Test func packingSavesSpaceAndLosesNoText() throws {
    let lines = sampleLines(messageCount: 1500)
    let loose = try memoryStore(packs: false)
    let packed = try MessageStore.restored(from: lines)
    try loose.write { chat in
      try packed.read { snapshot in
        try snapshot.forEachExportedMessage(in: "book-club") { message in
          _ = try chat.restore(message, as: .live)
        }
      }
    }
    let sizes = try [loose, packed].map { store in
      try #require(try store.read { try $0.sizes(of: "book-club") })
    }
    #expect(sizes[0].messageCount == 1500 && sizes[1].messageCount == 1500)
    #expect(sizes[0].textByteCount == sizes[1].textByteCount)
    #expect(sizes[0].messageByteCount > sizes[0].textByteCount)
    #expect(sizes[1].messageByteCount < sizes[0].messageByteCount)
    // All conversations together take less than the data file, and more than this one.
    var sum = 0
    try packed.read { snapshot in
      try snapshot.forEachConversationSizes { sum += $1.storedByteCount }
    }
    #expect(try sum < packed.fileSizes.dataFileByteCount && sum > sizes[1].storedByteCount)
  }

  @Test func aWalkEndsWhereItIsStopped() throws {
    let store = try MessageStore.restored(from: sampleLines(messageCount: 1500))
    var counts: [Int] = []
    _ = try store.read { try $0.sizes(of: "book-club") { counts.append($0) } }
    #expect(counts == counts.sorted() && counts.last == 1500)
    #expect(throws: Stop.self) {
      _ = try store.read { try $0.sizes(of: "book-club") { _ in throw Stop() } }
    }
    var seen = 0
    #expect(throws: Stop.self) {
      try store.read { snapshot in
        try snapshot.forEachConversationSizes { _, _ in
          seen += 1
          if seen == 2 { throw Stop() }
        }
      }
    }
    #expect(seen == 2)
    #expect(try store.read { try $0.sizes(of: "nowhere") } == nil)
  }

  @Test func aWalkNeedNotBlockItsCaller() async throws {
    let store = try MessageStore.restored(from: sampleLines(messageCount: 1500))
    let sizes = try await store.sizes(of: "book-club")
    #expect(sizes?.messageCount == 1500)
    let counts = Locked<[Int]>([])
    try await store.forEachConversationSizes { _, sizes in
      counts.withLock { $0.append(sizes.messageCount) }
    }
    #expect(counts.withLock { $0.contains(1500) && $0.count > 5 })
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      try await store.forEachConversationSizes { _, _ in }
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}
