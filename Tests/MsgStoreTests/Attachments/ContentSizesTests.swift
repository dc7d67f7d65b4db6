import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// The bytes of texts and attachments by conversation and kind.
struct ContentSizesTests {
  private func carrier(
    _ id: MessageID, _ text: String, _ attachments: [MessageAttachment] = [], at time: Int64 = 10
  ) -> Message {
    var some = message(id, at: time, text: text)
    some.attachments = attachments
    return some
  }

  @Test(arguments: [true, false]) func eachKindIsCounted(packs: Bool) throws {
    let store = try memoryStore(
      packs: packs, packing: PackingSizes(looseCount: 2, maximumSegmentByteCount: 200))
    let image = MessageAttachment(id: "a", kind: .image, localPath: "/1", byteCount: 100)
    let other = MessageAttachment(id: "b", kind: .image, byteCount: 30)
    let unknown = MessageAttachment(id: "c", kind: .audio, localPath: "/2")
    let absurd = MessageAttachment(id: "d", kind: .video, localPath: "", byteCount: .max)
    let negative = MessageAttachment(id: "e", kind: .video, byteCount: -5)
    try store.write {
      for index in 0..<30 { try $0.insert(carrier(MessageID("m\(100 + index)"), "ä\(index % 10)")) }
      try $0.insert(carrier("n", "text", [image, other, absurd]), as: .history)
      try $0.insert(carrier("o", "", [image, unknown, absurd, negative], at: 5))
      try $0.insert(carrier("gone", "gone", [image]))
      try $0.insert(carrier("deleted", "deleted", [image]))
      try $0.receiveRetraction(of: "gone", in: "room")
      try $0.delete("deleted", in: "room")
      // What waits for its message is not here.
      try $0.receive(image, of: "later", in: "room")
    }
    try store.read { chat in
      let sizes = try #require(try chat.contentSizes(of: "room"))
      #expect(sizes.messageCount == 33)
      #expect(sizes.textByteCount == 30 * 3 + 4)
      #expect(Set(sizes.attachments.keys) == [.image, .audio, .video])
      let images = try #require(sizes.attachments[.image])
      #expect(images.count == 3 && images.byteCount == 230)
      #expect(images.localCount == 2 && images.localByteCount == 200)
      let sounds = try #require(sizes.attachments[.audio])
      #expect(sounds.count == 1 && sounds.byteCount == 0)
      #expect(sounds.localCount == 1 && sounds.localByteCount == 0)
      let videos = try #require(sizes.attachments[.video])
      #expect(videos.count == 3 && videos.byteCount == .max && videos.localCount == 0)
      #expect(try chat.contentSizes(of: "nowhere") == nil)
    }
  }

  @Test func expiredMessagesAreNotCounted() throws {
    let now = Locked<Int64>(1_000_000)
    var options = StoreOptions(
      localMember: "me", clock: { Timestamp(microseconds: now.withLock { $0 }) })
    options.worksInBackground = false
    let store = try MessageStore(in: MemoryDirectory(), name: "store", options: options)
    let file = MessageAttachment(id: "a", kind: .document, byteCount: 7)
    try store.write {
      for index in 0..<20 {
        var some = carrier(MessageID("m\(index)"), "text", [file])
        if index % 4 == 0 { some.expiresAt = time(2_000_000) }
        try $0.insert(some)
      }
    }
    func sizes() throws -> ContentSizes? { try store.read { try $0.contentSizes(of: "room") } }
    #expect(try sizes()?.messageCount == 20 && sizes()?.attachments[.document]?.byteCount == 140)
    now.withLock { $0 = 3_000_000 }
    #expect(try sizes()?.messageCount == 15 && sizes()?.textByteCount == 60)
    #expect(try sizes()?.attachments[.document]?.byteCount == 105)
    try store.write { try $0.doWork() }
    #expect(try sizes()?.messageCount == 15)
  }

  /// A writer sees its own messages, and a long thread is read in parts.
  @Test func theWholeStoreIsTheSumOfItsConversations() throws {
    let store = try memoryStore()
    let file = MessageAttachment(id: "a", kind: .other, localPath: "/1", byteCount: 3)
    try store.write { chat in
      for index in 0..<1200 {
        var some = carrier(MessageID("m\(index)"), "1234", [file], at: Int64(index))
        some.conversation = index % 3 == 0 ? "b" : "a"
        try chat.insert(some)
      }
      #expect(try chat.contentSizes(of: "a")?.messageCount == 800)
    }
    try store.read { chat in
      var all = ContentSizes()
      var names: [ConversationID] = []
      try chat.forEachContentSizes { id, sizes in
        names.append(id)
        all += sizes
      }
      #expect(names == ["b", "a"])
      #expect(all.messageCount == 1200 && all.textByteCount == 4800)
      #expect(all.attachments[.other]?.count == 1200)
      #expect(all.attachments[.other]?.localByteCount == 3600)
    }
  }

  /// The same by the words of an export.
  @Test func randomStoresAgreeWithTheirExports() throws {
    for seed in seeds(4, debugCount: 2) {
      var random = RandomStore(seed: seed)
      random.expiresLater = true
      let store = try random.make(stepCount: 300)
      try store.read { chat in
        try chat.forEachContentSizes { id, sizes in
          var files: [AttachmentKind: Int64] = [:]
          var count = 0
          try chat.forEachExportedMessage(in: id) { message in
            count += 1
            if message.isRetracted || message.isHidden { return }
            for attachment in message.facts.attachments.map(\.attachment) {
              files[attachment.kind, default: 0] += attachment.byteCount ?? 0
            }
          }
          #expect(sizes.messageCount == count, "seed \(seed)")
          #expect(sizes.attachments.mapValues(\.byteCount) == files, "seed \(seed)")
        }
      }
    }
  }
}
