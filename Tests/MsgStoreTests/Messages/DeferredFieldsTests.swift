import MsgStore
import PageFile
import Simulation
import Testing

/// Rare fields that a slice decodes when they are asked for are those that were stored.
struct DeferredFieldsTests {
  private static let count = 60

  private func attachment(_ index: Int, _ random: inout SeededGenerator) -> MessageAttachment {
    var attachment = random.attachment(id: "a\(index)")
    // Only texts and numbers that every store takes.
    attachment.byteCount = Int64(index)
    attachment.durationMicroseconds = nil
    (attachment.width, attachment.height) = (3, 4)
    return attachment
  }

  private func messages(_ random: inout SeededGenerator) -> [Message] {
    (0..<Self.count).map { index in
      let name = random.chance(30) ? String(repeating: "long", count: 9) : "m"
      var one = message(
        MessageID("\(name)\(index)"), at: Int64(index), from: random.chance(50) ? "me" : "you",
        text: random.chance(50) ? "hello" : "привет")
      if random.chance(30) { one.editedAt = time(Int64(index) + 5) }
      if random.chance(40) {
        one.mentions = ["zoe", "ann", "you"].filter { _ in random.chance(60) }.sorted()
      }
      if random.chance(40) {
        for member in 0..<random.next() % 25 {
          let emoji = ["👍", "❤️"].randomElement(using: &random) ?? ""
          one.reactions.append(Reaction(emoji, from: MemberID("m\(100 + member)"), at: time(7)))
        }
      }
      if random.chance(40) {
        let count = Int.random(in: 1...3, using: &random)
        one.attachments = (0..<count).map { attachment($0, &random) }
      }
      if random.chance(20) {
        one.replyTo = random.chance(50) ? "m1" : MessageID(String(repeating: "r", count: 40))
      }
      return one
    }
  }

  private func expectSame(_ read: Message, _ inserted: Message) {
    #expect(read.id == inserted.id && read.mentions == inserted.mentions)
    #expect(read.attachments == inserted.attachments && read.editedAt == inserted.editedAt)
    #expect(read.replyTo == inserted.replyTo && read.text == inserted.text)
    #expect(!read.isRetracted && read.position.place == inserted.position.place)
    let isListed = inserted.reactions.count <= Message.maximumListedReactionCount
    #expect(read.reactions == (isListed ? inserted.reactions : []))
    #expect(
      read.reactionCounts.reduce(0) { $0 + $1.count } == inserted.reactions.count)
  }

  @Test(arguments: seeds(6)) func fieldsAreThoseThatWereStored(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try memoryStore(packing: .random(seed))
    let all = messages(&random)
    try store.write { chat in _ = try chat.insert(contentsOf: all) }
    let (slice, again) = try store.read { chat in
      (try chat.thread("room").tail(Self.count), try chat.thread("room").tail(Self.count))
    }
    // The moment that was read is over, and its pages change.
    try store.write { chat in
      for index in 0..<30 {
        try chat.insert(message(MessageID("x\(index)"), at: Int64(1000 + index)))
      }
    }
    #expect(slice.count == all.count && slice == again)
    for (read, inserted) in zip(slice, all) {
      expectSame(read, inserted)
      expectSame(try #require(try store.message(inserted.id)), inserted)
    }
    try store.expectSound()
  }

  @Test func changingAFieldKeepsTheOthers() throws {
    let store = try memoryStore()
    var sent = message("m", at: 1)
    sent.mentions = ["ann"]
    sent.attachments = [MessageAttachment(id: "a", kind: .image, fileName: "f")]
    sent.reactions = [Reaction("👍", from: "ann", at: time(3))]
    try store.write { chat in _ = try chat.insert(sent) }
    var read = try #require(try store.message("m"))
    let before = read
    read.editedAt = time(9)
    #expect(read != before && before.editedAt == nil && read.editedAt == time(9))
    #expect(read.mentions == ["ann"] && read.attachments == sent.attachments)
    #expect(read.reactions == sent.reactions)
    var moved = before
    moved.conversation = "elsewhere"
    moved.sender = "ann"
    #expect(moved.mentions == ["ann"] && moved.attachments == sent.attachments)
    #expect(moved.reactions == sent.reactions && moved.sender == "ann")
  }

  private func storeWithAttachments(_ attachments: [MessageAttachment]) throws -> MessageStore {
    let store = try memoryStore()
    var sent = message("m", at: 1)
    sent.attachments = attachments
    try store.write { chat in _ = try chat.insert(sent) }
    return store
  }

  @Test func threadsMayAskForOneMessageAtOnce() async throws {
    let attachments = [MessageAttachment(id: "a", kind: .image, fileName: "f")]
    let store = try storeWithAttachments(attachments)
    for _ in 0..<50 {
      let read = try #require(try store.message("m"))
      await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<4 { group.addTask { read.attachments == attachments } }
        for await isSame in group { #expect(isSame) }
      }
    }
  }

  @Test func aMalformedFactIsFoundWhenTheSliceIsRead() throws {
    for kind in [FactKind.reaction, .attachment] {
      let directory = MemoryDirectory()
      let store = try memoryStore(directory)
      var sent = message("m", at: 1)
      sent.attachments = [MessageAttachment(id: "a", kind: .image)]
      sent.reactions = [Reaction("👍", from: "ann", at: time(3))]
      try store.write { chat in _ = try chat.insert(sent) }
      try store.close()
      try directory.plant(in: "store") { source in
        let tree = BTree(source, Schema.facts)
        var cursor = Cursor(source, Schema.facts)
        var key = ByteBuffer()
        _ = try cursor.first()
        while cursor.isAtCell {
          key.removeAll()
          cursor.appendKey(to: &key)
          if FactKey.parts(key.bytes)?.kind == kind { break }
          _ = try cursor.next()
        }
        try Bytes.with([9, 9]) { value in _ = try tree.insert(key.bytes, value) }
      }
      let damaged = try memoryStore(directory)
      #expect(throws: StoreError.self) { try damaged.message("m") }
      #expect(throws: StoreError.self) { try damaged.read { try $0.thread("room").tail(5).count } }
    }
  }
}
