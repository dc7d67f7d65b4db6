import MsgStore
import MsgStoreTools
import PageFile
import Simulation
import Testing

/// Replies of messages that are packed, edited beside their segments, erased, exported, and read
/// meanwhile.
struct KeptRepliesTests {
  private let files = MemoryDirectory()

  private static func id(_ index: Int) -> MessageID { MessageID("m\(100 + index)") }

  /// A thread of sixty messages, all in segments, of which every third answers the first.
  private func packed() throws -> MessageStore {
    let store = try memoryStore(
      files, packing: PackingSizes(looseCount: 0, maximumSegmentByteCount: 150))
    try store.write { chat in
      for index in 0..<60 {
        let (id, time) = (Self.id(index), Int64(1000 + 10 * index))
        try chat.insert(
          index % 3 == 1 ? reply(id, to: Self.id(0), at: time) : message(id, at: time))
      }
    }
    #expect(try Cells(files).segments.count > 2)
    return store
  }

  private func expected(without indices: Set<Int> = []) -> [String] {
    (0..<60).filter { $0 % 3 == 1 && !indices.contains($0) }.map { Self.id($0).string }
  }

  @Test func aReplyEditedBesideItsSegmentIsShownAsItIsNow() throws {
    let store = try packed()
    let before = try Cells(files).index(.reply).map(\.key)
    try store.write { chat in
      for index in [19, 20] {
        try chat.receiveEdit(
          of: Self.id(index), in: "room", text: "edited", at: time(1_000_000))
      }
    }
    #expect(try Cells(files).all(Cells.besideTree).count == 2)
    #expect(try Cells(files).index(.reply).map(\.key) == before)
    let slice = try store.read { chat in
      try chat.replies(to: Self.id(0), in: "room").oldest(10_000)
    }
    #expect(slice.ids == expected() && slice[6].text == "edited")
    try store.expectSound()
    // The place stays, the answered message does not.
    try store.write { try $0.insert(reply(Self.id(19), to: "m999", at: 1190)) }
    #expect(try store.replyNames(to: "m999") == [Self.id(19).string])
    #expect(try store.replyNames(to: Self.id(0)) == expected(without: [19]))
    try store.expectSound()
    try store.write { chat in
      try chat.receiveRetraction(of: Self.id(19), in: "room", at: time(1_000_001))
    }
    #expect(try store.replyNames(to: "m999") == [])
    try store.expectSound()
    try store.close()
    let again = try memoryStore(files)
    #expect(try again.replyNames(to: Self.id(0)) == expected(without: [19]))
    try again.close()
  }

  @Test func anEditOfAReplyThatIsAReplyStillChangesNoEntry() throws {
    let store = try packed()
    try store.write { chat in
      // The edit of a reply waits for it.
      try chat.receiveEdit(of: "late", in: "room", text: "edited", at: time(5000))
      try chat.receive(ReceivedReceipt(in: "room", of: "you", .read, .messages(["late"])))
    }
    #expect(try store.replyNames(to: Self.id(0)) == expected())
    try store.write { try $0.insert(reply("late", to: Self.id(0), at: 9000)) }
    #expect(try store.replyNames(to: Self.id(0)) == expected() + ["late"])
    try store.expectSound()
    try store.close()
  }

  @Test func noFileHasTheEntryOfADeletedOrRetractedReply() throws {
    let store = try memoryStore(files)
    try store.write { chat in
      for number in 0..<60 as Range<Int64> {
        try chat.insert(reply(MessageID("n\(number)"), to: "m", at: number))
      }
      for (id, time) in [("a", 0x1122_3344_5566), ("b", 0x2233_4455_6677)] as [(String, Int64)] {
        try chat.insert(reply(MessageID(id), to: "unique", at: time))
      }
    }
    try store.checkpoint()
    let digest = ReplyKey.digest(of: "unique")
    let needle = (0..<4).map { UInt8(truncatingIfNeeded: digest >> UInt32(24 - 8 * $0)) }
    #expect(files.holds(needle), "the search works")
    try store.write { chat in
      try chat.delete("a", in: "room")
      try chat.receiveRetraction(of: "b", in: "room", at: time(9))
    }
    try store.checkpoint()
    #expect(!files.holds(needle))
    try store.close()
    #expect(!files.holds(needle))
  }

  @Test func aSnapshotKeepsTheRepliesOfItsMoment() throws {
    let store = try packed()
    try store.read { old in
      let replies = try old.replies(to: Self.id(0), in: "room")
      try store.write { chat in
        try chat.insert(reply("new", to: Self.id(0), at: 9000))
        try chat.delete(Self.id(1), in: "room")
        try chat.receiveRetraction(of: Self.id(4), in: "room", at: time(9))
        try chat.deleteConversation("room")
      }
      try store.finishWork()
      #expect(try replies.oldest(100).ids == expected() && replies.count() == 20)
      #expect(try old.replyNames(to: Self.id(0)) == expected())
    }
    #expect(try store.replyNames(to: Self.id(0)) == [])
    try store.close()
  }

  @Test func whatIsBeingSweptIsNoReplyToTheMessagesOfItsSuccessor() throws {
    var options = StoreOptions(localMember: "me", clock: { time(1_000_000) })
    options.worksInBackground = false
    options.steps = StepSizes(maximumSweepCount: 3)
    let store = try MessageStore(in: files, name: "store", options: options)
    try store.write { chat in
      for number in 0..<20 as Range<Int64> {
        try chat.insert(reply(MessageID("r\(number)"), to: "m", at: number))
      }
      try chat.deleteConversation("room")
      try chat.insert(message("m", at: 50))
    }
    #expect(try store.replyNames(to: "m") == [])
    try store.write { try $0.insert(reply("x", to: "m", at: 60)) }
    while try store.read({ try $0.hasWork }) {
      #expect(try store.replyNames(to: "m") == ["x"])
      try store.expectSound()
      try store.write { try $0.doWork() }
    }
    try store.close()
    #expect(try Cells(files).index(.reply).count == 1)
  }

  @Test func aCopyByExportHasTheSameExportAndTheSameEntries() throws {
    let store = try packed()
    try store.write { chat in
      try chat.insert(reply("twin", to: Self.id(0), at: 1190))
      try chat.receiveEdit(of: Self.id(22), in: "room", text: "edited", at: time(1_000_000))
    }
    let lines = try store.lines()
    let entries = try Cells(files).index(.reply).map { $0.key + $0.value }
    #expect(entries.count == 20, "two at one time")
    try store.close()
    let directory = try TemporaryDirectory()
    var pieces = [lines]
    try MessageStore.restore(to: directory.path("copy"), reading: { pieces.popLast() ?? [] })
    let copy = try MessageStore(path: directory.path("copy"))
    #expect(try copy.lines() == lines)
    #expect(try copy.replyNames(to: Self.id(0)).count == 21)
    try copy.expectSound()
    try copy.close()
    let salvaged = directory.path("salvaged")
    _ = try MessageStore.salvage(damaged: directory.path("copy"), to: salvaged)
    let other = try MessageStore(path: salvaged)
    #expect(try other.replyNames(to: Self.id(0)).count == 21)
    try other.expectSound()
    try other.close()
  }

  @Test func aReadOnlyOpenerSeesAllReplies() throws {
    try packed().close()
    var options = StoreOptions(access: .readOnly)
    options.worksInBackground = false
    let reader = try MessageStore(in: files, name: "store", options: options)
    #expect(try reader.replyNames(to: Self.id(0)) == expected())
    try reader.close()
  }

  @Test func checkFindsEveryWrongEntry() throws {
    try packed().close()
    let cells = try Cells(files).index(.reply)
    let first = try #require(cells.first)
    var other = first.key
    other[17] ^= 1
    let cases: [([(key: [UInt8], value: [UInt8]?)], String)] = [
      ([(first.key, nil)], "replies: conversation 1: 19 entered, found 20"),
      ([(first.key, [2])], "replies: conversation 1: 21 entered, found 20"),
      (
        [(first.key, nil), (other, [])],
        "replies: conversation 1: entries of other replies than its 20"
      ),
      (
        [([0, 0, 0, 9] + first.key.dropFirst(4), [])], "replies: conversation 9: 1 entered, found 0"
      ),
      ([(first.key, [1])], "replies: malformed entry (key of 18 bytes)"),
      ([(first.key + [0], [])], "replies: malformed entry (key of 19 bytes)"),
    ]
    for (changes, finding) in cases {
      let copy = try Cells(files).changed(changes, in: Cells.indexTree)
      let store = try memoryStore(copy)
      let findings = try store.check().map(\.description)
      #expect(findings.contains { $0.contains(finding) }, "\(finding): \(findings)")
      try? store.close()
    }
  }
}
