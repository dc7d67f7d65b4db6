import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Edits that say which attachments a message keeps.
struct EditedAttachmentTests {
  private func attachment(_ id: String, _ name: String? = nil) -> MessageAttachment {
    MessageAttachment(
      id: id, kind: .image, remoteURL: "https://host/\(id)", fileName: name, contentHash: [1, 2])
  }

  private func album(_ ids: String...) -> Message {
    var message = chatMessage("m", in: "room", at: 10, from: "ann")
    message.attachments = ids.map { attachment($0, "secret-\($0)") }
    return message
  }

  private func ids(_ store: MessageStore) throws -> [String] {
    try store.read { try $0.message("m", in: "room")?.attachments.map(\.id) ?? [] }
  }

  private func edit(
    _ chat: borrowing StoreWriter, _ ids: [String]?, at moment: Int64
  ) throws(StoreError) -> Bool {
    try chat.receiveEdit(
      of: "m", in: "room", text: "text \(moment)",
      attachments: ids?.map { MessageAttachment(id: $0, kind: .image) }, at: time(moment))
  }

  @Test func whatAnEditDoesNotListGoesAndDoesNotComeBack() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      try chat.insert(album("a", "b", "c"))
      _ = try chat.setTransfer(.download, to: .queued, of: "b", message: "m", in: "room")
    }
    #expect(try store.write { chat throws in try edit(chat, ["c", "a"], at: 20) })
    #expect(try ids(store).sorted() == ["a", "c"])
    #expect(try store.read { try $0.runningTransfers() }.isEmpty)
    // Late facts, and the message once more.
    #expect(try !store.write { try $0.receive(attachment("b", "late"), of: "m", in: "room") })
    #expect(try store.write { try $0.insert(album("a", "b", "c")) } == .duplicate)
    #expect(try ids(store).sorted() == ["a", "c"])
    // An edit without a list says nothing of them; an older list does not count.
    try store.write { chat throws in
      _ = try edit(chat, nil, at: 40)
      _ = try edit(chat, ["a", "b", "c"], at: 15)
    }
    #expect(try ids(store).sorted() == ["a", "c"])
    try store.write { chat throws in _ = try edit(chat, [], at: 50) }
    #expect(try ids(store).isEmpty)
    let preview = try store.read { try $0.conversation("room")?.preview }
    #expect(preview?.attachment == nil)
    try store.expectSound()
  }

  @Test func anEditBringsItsOwnAttachments() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(album("a"))
      try chat.receiveEdit(
        of: "m", in: "room", text: "new", attachments: [attachment("b", "second")], at: time(20))
    }
    let shown = try store.read { try $0.message("m", in: "room")?.attachments }
    #expect(shown?.map(\.id) == ["b"] && shown?.first?.fileName == "second")
    let slice = try store.read { try $0.thread("room").tail(1) }
    #expect(slice.first?.attachments == shown)
    try store.expectSound()
  }

  @Test func aRetractedMessageHasNoAttachmentsWhateverAnEditLists() throws {
    let store = try memoryStore()
    try store.write { chat throws in
      try chat.insert(album("a"))
      _ = try edit(chat, ["a"], at: 20)
      try chat.receiveRetraction(of: "m", in: "room", at: time(30))
      _ = try edit(chat, ["a"], at: 40)
    }
    #expect(try ids(store).isEmpty)
    try store.expectSound()
  }

  @Test func theNamesOfRemovedAttachmentsAreErased() throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write { try $0.insert(album("a", "b")) }
    try store.write { chat throws in _ = try edit(chat, ["a"], at: 20) }
    #expect(try !String(decoding: store.lines(), as: UTF8.self).contains("secret-b"))
    #expect(try String(decoding: store.lines(), as: UTF8.self).contains("secret-a"))
  }

  @Test func tooManyAreRefused() throws {
    let store = try memoryStore()
    let many = (0...1000).map { "\($0)" }
    #expect(throws: StoreError.input(.tooMany(.attachments, count: 1001, limit: 1000))) {
      try store.write { chat throws in _ = try edit(chat, many, at: 20) }
    }
    #expect(throws: StoreError.input(.attachment(.invalidID(byteCount: 0)))) {
      try store.write { chat throws in _ = try edit(chat, [""], at: 20) }
    }
  }

  @Test(arguments: seeds(20)) func anyOrderEndsTheSame(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let names = ["a", "b", "c", "d"]
    var facts: [(borrowing StoreWriter) throws -> Void] = [
      { chat in try chat.insert(album("a", "b", "c")) },
      { chat in try chat.insert(album("a", "b", "c")) },
    ]
    for name in names {
      facts.append { chat in
        try chat.receive(attachment(name, "late-\(name)"), of: "m", in: "room")
      }
    }
    var lists: [(moment: Int64, ids: [String])] = []
    // What a later edit lists again is not among them: it has what is told since.
    var left = names
    for moment in [30, 20, 20, 25].shuffled(using: &random).sorted() as [Int64] {
      left.removeAll { _ in random.chance(30) }
      let ids = left
      lists.append((moment, ids))
      facts.append { chat in _ = try edit(chat, ids, at: moment) }
    }
    var first: [UInt8]?
    for _ in 0..<5 {
      let store = try memoryStore()
      for fact in facts.shuffled(using: &random) {
        try store.write { chat in
          try fact(chat)
          if random.chance(20) { try fact(chat) }
        }
      }
      let newest = lists.map(\.moment).max()
      let expected = lists.filter { $0.moment == newest }.map { $0.ids.sorted() }
      #expect(try expected.contains(ids(store).sorted()))
      let lines = try store.lines()
      #expect(lines == first ?? lines)
      first = first ?? lines
      let copy = try MessageStore.restored(from: lines)
      #expect(try copy.lines() == lines)
      #expect(
        try !copy.write { chat throws in
          try chat.receive(attachment("z"), of: "m", in: "room")
        })
      try store.expectSound()
    }
  }
}
