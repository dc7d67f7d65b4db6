import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// The tags of stores that were written before there was a tree of them.
@Suite struct RaisedTagsTests {
  private func open(
    _ directory: MemoryDirectory, _ access: StoreOptions.Access = .readWrite,
    stepCount: Int = 1000
  ) throws -> MessageStore {
    var options = StoreOptions(localMember: "me", access: access, clock: { time(1_000_000) })
    options.worksInBackground = false
    options.packs = false
    options.steps = StepSizes(maximumSweepCount: stepCount)
    return try MessageStore(in: directory, name: "store", options: options)
  }

  /// A closed store as version 4 left it: a hundred messages in a room, with all derived tags.
  private func oldStore() throws -> MemoryDirectory {
    let directory = MemoryDirectory()
    let store = try open(directory)
    try store.write { chat in
      for number in 100..<200 as Range<Int64> {
        var message = attached(
          MessageID("m\(number)"), .image, at: number, number, text: "https://x.example")
        message.mentions = ["me"]
        try chat.insert(message)
      }
    }
    try store.close()
    try directory.forgetTags()
    try directory.forgetReplies()
    return directory
  }

  @Test func theyAreEnteredInStepsAndSlicesSayHowFar() throws {
    let directory = try oldStore()
    let reader = try open(directory, .readOnly)
    try reader.read { chat in
      let images = try chat.thread("room").tagged(.image)
      #expect(try !images.isComplete && images.count == 0 && images.tail(9).isEmpty)
    }
    try reader.expectSound()
    try reader.close()

    let store = try open(directory, stepCount: 40)
    var counts: [Int] = []
    while try !store.read({ try $0.thread("room").tagged(.image).isComplete }) {
      try store.expectSound()
      try store.read { chat in
        for tag in [MessageTag.image, .link, .mention] {
          let tagged = try chat.thread("room").tagged(tag)
          let slice = try tagged.tail(1000)
          #expect(try tagged.count == slice.count)
          if let start = tagged.completeFrom {
            #expect(slice.allSatisfy { $0.position >= start })
          } else {
            Issue.record("complete, with work left")
          }
          if tag == .image { counts.append(slice.count) }
        }
      }
      try store.write { try $0.doWork() }
    }
    #expect(counts == [0, 40, 80])
    for tag in [MessageTag.image, .link, .mention] {
      #expect(try store.names(tag) == (100..<200).map { "m\($0)" })
      #expect(try store.read { try $0.thread("room").tagged(tag).isComplete })
    }
    try store.expectSound()
    try store.close()
  }

  @Test func whatChangesMeanwhileIsEnteredOnce() throws {
    let store = try open(try oldStore(), stepCount: 40)
    try store.write { try $0.doWork() }
    // The first step has come to m160.
    try store.write { chat in
      try chat.insert(attached("early", .image, at: 50))
      try chat.insert(attached("late", .image, at: 500))
      for id in ["m110", "m190"] as [MessageID] {
        try chat.receive(MessageAttachment(id: "a0", kind: .video), at: 0, of: id, in: "room")
        try chat.receive(MessageAttachment(id: "b", kind: .audio), at: 1, of: id, in: "room")
      }
      try chat.acknowledge("m111", in: "room", serverTimestamp: time(600), revision: 1)
      try chat.acknowledge("m191", in: "room", serverTimestamp: time(60), revision: 1)
      for id in ["m112", "m192"] as [MessageID] { try chat.delete(id, in: "room") }
      for id in ["m113", "m193"] as [MessageID] {
        try chat.receiveRetraction(of: id, in: "room", at: nil)
      }
    }
    try store.expectSound()
    try store.finishWork()
    let gone: Set<Int> = [110, 190, 112, 192, 113, 193, 111, 191]
    let stay = (100..<200).filter { !gone.contains($0) }.map { "m\($0)" }
    #expect(try store.names(.image) == ["early", "m191"] + stay + ["late", "m111"])
    #expect(try store.names(.video) == ["m110", "m190"])
    #expect(try store.names(.audio) == ["m110", "m190"])
    try store.expectSound()
  }

  @Test func messagesOfOlderStoresAreFoundByTheirAttachments() throws {
    let store = try open(try oldStore())
    try store.finishWork()
    // Their records do not say what their attachments are, until they change.
    try store.write { chat in
      try chat.receive(MessageAttachment(id: "a0", kind: .video), at: 0, of: "m150", in: "room")
      try chat.receive(
        Reaction("👍", from: "you", at: time(9)), to: "m151", in: "room")
      try chat.acknowledge("m152", in: "room", serverTimestamp: time(7), as: "s152")
    }
    #expect(try store.names(.video) == ["m150"])
    #expect(
      try store.names(.image)
        == ["m152"] + (100..<200).filter { ![150, 152].contains($0) }.map { "m\($0)" })
    try store.expectSound()
  }
}

extension MemoryDirectory {
  /// Removes the tags from the records of all messages that have cells of their own, and clears the
  /// tags tree.
  func forgetTags(in name: String = "store") throws {
    let cells = try Cells(self).all(Cells.messagesTree)
    try plant(in: name) { source in
      for cell in cells {
        let stripped: [UInt8]? = Bytes.with(cell.value) { value in
          guard let position = Bytes.with(cell.key, { $0.dropFirst(4).position }),
            let record = MessageRecord(value),
            var message = StoredMessage(record, at: position.place)
          else { return nil }
          message.traits.tags = []
          var bytes = ByteBuffer()
          message.appendChecked(at: position.place, to: &bytes)
          return bytes.bytes.array()
        }
        guard let stripped else { continue }
        _ = try Bytes.with(cell.key) { key in
          try Bytes.with(stripped) { try BTree(source, Schema.messages).insert(key, $0) }
        }
      }
    }
  }
}
