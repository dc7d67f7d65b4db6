import MsgStore
import MsgStoreTools
import PageFile
import PageFileSalvage
import Testing

/// A change of a packed message lies beside its segment until that is packed again.
struct BesideTests {
  private let files = MemoryDirectory()

  /// A thread of sixty messages, all in segments.
  private func packed(_ count: Int = 60) throws -> MessageStore {
    let store = try memoryStore(
      files, packing: PackingSizes(looseCount: 0, maximumSegmentByteCount: 150))
    try store.write { chat in
      for index in 0..<count {
        try chat.insert(
          message(Self.id(index), at: Int64(1000 + 10 * index), text: "text \(index)"))
      }
    }
    #expect(try Cells(files).segments.count > 2)
    #expect(try Cells(files).all(Cells.besideTree).isEmpty)
    return store
  }

  private static func id(_ index: Int) -> MessageID { MessageID("m-\(100 + index)") }

  private func edit(_ index: Int, _ text: String, _ store: MessageStore) throws {
    try store.write { chat in
      try chat.receiveEdit(
        of: Self.id(index), in: "room", text: text, at: time(1_000_000 + Int64(index)))
    }
  }

  private func texts(_ store: MessageStore) throws -> [String] {
    try store.read { try $0.thread("room").tail(1000).map(\.text) }
  }

  @Test func anEditLeavesTheSegmentAsItIsButForItsTag() throws {
    let store = try packed()
    let before = try Cells(files).segments
    try edit(20, "edited", store)
    let after = try Cells(files).segments
    #expect(after.map(\.key) == before.map(\.key))
    let changed = zip(before, after).filter { $0.0.value != $0.1.value }
    #expect(changed.count == 1)
    #expect(changed.allSatisfy { $0.0.value.dropFirst() == $0.1.value.dropFirst() })
    #expect(try Cells(files).marked.count == 1)
    #expect(try Cells(files).all(Cells.besideTree).count == 1)
    // By id, in a slice, and after the next opening.
    #expect(try store.message(Self.id(20))?.text == "edited")
    #expect(try store.message(Self.id(20))?.editedAt == time(1_000_020))
    #expect(try texts(store)[20] == "edited")
    #expect(try texts(store)[19] == "text 19" && texts(store)[21] == "text 21")
    try store.expectSound()
    try store.close()
    let again = try memoryStore(files)
    #expect(try texts(again)[20] == "edited")
    try again.expectSound()
  }

  @Test func aLongTextLiesBesideUncompressedOrNot() throws {
    let store = try packed()
    let long = String(repeating: "all work and no play ", count: 40)
    try edit(20, long, store)
    #expect(try Cells(files).all(Cells.besideTree).count == 1)
    #expect(try texts(store)[20] == long)
    // One that fits no segment gets a cell of its own, however well it compresses.
    let longest = [String(repeating: "ßäöü", count: 5000), String(repeating: "a", count: 480_000)]
    for (index, text) in zip([40, 50], longest) {
      try edit(index, text, store)
      #expect(try texts(store)[index] == text)
      #expect(try Cells(files).all(Cells.besideTree).count == 1)
    }
    try store.expectSound()
  }

  @Test func aSecondChangeReplacesTheFirst() throws {
    let store = try packed()
    for count in 0..<20 { try edit(20, "edited \(count)", store) }
    #expect(try Cells(files).all(Cells.besideTree).count == 1)
    #expect(try texts(store)[20] == "edited 9")
    try store.expectSound()
  }

  @Test func aSegmentIsPackedAgainWhenTooMuchLiesBesideIt() throws {
    let store = try packed()
    for index in 0..<60 {
      try edit(index, "edited \(index)", store)
      let segments = try Cells(files).segments
      let beside = try Cells(files).all(Cells.besideTree)
      let sizes = segments.map { cell in
        Bytes.with(cell.value) { SegmentReport.messageCount($0) } ?? 0
      }
      #expect(beside.count <= sizes.reduce(0) { $0 + max(1, $1 / 4) })
      #expect(try Cells(files).marked.isEmpty == beside.isEmpty)
    }
    #expect(try texts(store) == (0..<60).map { "edited \($0)" })
    try store.expectSound()
  }

  @Test func aRetractionPacksTheSegmentAgain() throws {
    let store = try packed()
    for index in [20, 21] { try edit(index, "edited", store) }
    #expect(try !Cells(files).all(Cells.besideTree).isEmpty)
    try store.write { _ = try $0.receiveRetraction(of: Self.id(20), in: "room") }
    try store.write { _ = try $0.delete(Self.id(22), in: "room") }
    #expect(try store.message(Self.id(20))?.isRetracted == true)
    #expect(try store.message(Self.id(21))?.text == "edited")
    #expect(try store.message(Self.id(22)) == nil)
    #expect(try Cells(files).all(Cells.besideTree).isEmpty)
    try store.expectSound()
  }

  /// The text that another copy replaces is kept nowhere, and so must not stay in the segment.
  @Test func anOriginalThatAnotherCopyReplacesPacksTheSegmentAgain() throws {
    let store = try packed()
    try edit(21, "edited", store)
    try store.write { chat in
      try chat.insert(message(Self.id(20), at: 1200, text: "zebra"))
    }
    #expect(try texts(store)[20...21] == ["zebra", "edited"])
    #expect(try Cells(files).all(Cells.besideTree).isEmpty && Cells(files).marked.isEmpty)
    try store.expectSound()
  }

  @Test func aMessageThatComesBetweenPacksTheSegmentAgain() throws {
    let store = try packed()
    try edit(20, "edited", store)
    try store.write { chat in _ = try chat.insert(message("between", at: 1205)) }
    #expect(try Cells(files).all(Cells.besideTree).isEmpty)
    #expect(try texts(store)[20...21] == ["edited", "hello"])
    try store.expectSound()
  }

  @Test func compactingLeavesNothingBeside() throws {
    let store = try packed()
    for index in stride(from: 0, to: 60, by: 7) { try edit(index, "edited", store) }
    let before = try texts(store)
    #expect(try !Cells(files).all(Cells.besideTree).isEmpty)
    try store.compact()
    #expect(try Cells(files).all(Cells.besideTree).isEmpty)
    #expect(try Cells(files).marked.isEmpty)
    #expect(try texts(store) == before)
    try store.expectSound()
  }

  @Test func aDeletedConversationLeavesNothingBeside() throws {
    let store = try packed()
    for index in stride(from: 0, to: 60, by: 7) { try edit(index, "edited", store) }
    try store.write { _ = try $0.deleteConversation("room") }
    try store.finishWork()
    #expect(try Cells(files).all(Cells.besideTree).isEmpty)
    try store.expectSound()
  }

  @Test func aConversationThatMovesTakesItsEditsAlong() throws {
    let store = try packed()
    for index in stride(from: 0, to: 60, by: 7) { try edit(index, "edited", store) }
    let before = try texts(store)
    try store.write { chat in
      try chat.insert(
        Message(id: "x", in: "other", from: "you", text: "x", serverTimestamp: time(5)))
      try chat.renameConversation("room", to: "other")
    }
    try store.finishWork()
    let after = try store.read { try $0.thread("other").tail(1000).map(\.text) }
    #expect(after == ["x"] + before)
    #expect(try Cells(files).all(Cells.besideTree).isEmpty)
    try store.expectSound()
  }

  // MARK: Damage

  @Test func theCheckFindsWhatLiesBesideNothing() throws {
    let store = try packed()
    try edit(20, "edited", store)
    try store.close()
    let beside = try Cells(files).all(Cells.besideTree)
    let marked = try Cells(files).marked[0]

    let missing = try Cells(files).changed([(beside[0].key, nil)], in: Cells.besideTree)
    let unmarked = try findings(missing)
    #expect(unmarked.first == "messages: segment of conversation 1: no message lies beside it")

    var value = marked.value
    value[0] &= ~1
    let other = try Cells(files).changed([(marked.key, value)], in: Cells.messagesTree)
    #expect(
      try findings(other).contains("beside: 1 records (0 messages lie beside their segments)"))

    var key = beside[0].key
    key[key.count - 1] += 100
    let stray = try Cells(files).changed([(key, beside[0].value)], in: Cells.besideTree)
    #expect(try findings(stray).contains { $0.contains("not in the segment") })

    let malformed = try Cells(files).changed([(beside[0].key, [9, 9])], in: Cells.besideTree)
    let found = try findings(malformed)
    #expect(found.contains { $0.contains("beside") && $0.contains("malformed record") }, "\(found)")
    let reader = try memoryStore(malformed)
    #expect(throws: StoreError.self) { try texts(reader) }
    #expect(throws: StoreError.self) { try texts(reader) }
    try reader.close()
  }

  private func findings(_ files: MemoryDirectory) throws -> [String] {
    let store = try memoryStore(files)
    defer { try? store.close() }
    return try store.check().map(\.description)
  }

  @Test func salvageReadsASegmentThroughWhatLiesBesideIt() throws {
    let store = try packed()
    for index in stride(from: 0, to: 60, by: 7) { try edit(index, "edited \(index)", store) }
    let content = try StoreContent(store)
    try store.close()
    let intact = try SalvageSubject(files)
    let whole = try intact.salvage()
    #expect(whole.content.differences(from: content) == [])
    #expect(whole.saved.isWhole)

    // Without the segments, what lay beside them comes alone.
    var random = SeededGenerator(seed: 1)
    var lost = intact
    lost.destroy(intact.slots(tree: Cells.messagesTree), &random)
    let saved = try lost.salvage().content.messages
    #expect(saved.count == 9)
    #expect(saved.values.allSatisfy { $0.text.hasPrefix("edited") })

    // Without what lay beside them, the messages are those that were packed.
    var older = intact
    older.destroy(intact.slots(tree: Cells.besideTree), &random)
    let salvaged = try older.salvage()
    #expect(salvaged.content.messages.count == 60)
    #expect(!salvaged.pages.isWhole)
  }

  /// A segment says that messages lie beside it; those that are lost were edited.
  @Test func salvageTellsThatChangesBesideASegmentAreLost() throws {
    let store = try packed()
    try edit(20, "edited", store)
    try store.close()
    let beside = try Cells(files).all(Cells.besideTree)
    let older = try SalvageSubject(
      Cells(files).changed([(beside[0].key, nil)], in: Cells.besideTree))
    let salvaged = try older.salvage()
    #expect(salvaged.content.messages["m-120"]?.text == "text 20")
    #expect(!salvaged.saved.isWhole)
  }

  /// A record that was left beside a segment does not bring back what the segment has retracted.
  @Test func salvageUndoesNoRetraction() throws {
    let store = try packed()
    try edit(20, "edited", store)
    let beside = try Cells(files).all(Cells.besideTree)
    try store.write { _ = try $0.receiveRetraction(of: Self.id(20), in: "room") }
    try store.close()
    let stray = try Cells(files).changed(
      [(beside[0].key, beside[0].value)], in: Cells.besideTree)
    let salvaged = try SalvageSubject(stray).salvage()
    #expect(salvaged.content.messages.count == 60)
    #expect(salvaged.content.messages["m-120"]?.text == "")
  }
}
