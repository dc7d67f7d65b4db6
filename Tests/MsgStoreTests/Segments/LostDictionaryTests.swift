import MsgStore
import MsgStoreTools
import PageFile
import Simulation
import Testing

/// What lost pages of a dictionary cost: one of them nothing; two with the same piece what was packed
/// with it, and nothing else.
struct LostDictionaryTests {
  /// The files of a closed store, and which pieces of which copy each leaf of the settings has.
  private func sample() throws -> (SalvageSubject, [Int: [(copy: UInt8, piece: Int)]], [String]) {
    let wordy = try WordyStore(seed: seeds(1)[0])
    // Some that are packed without a dictionary, or not at all.
    try wordy.store.write { chat in
      for index in 0..<20 {
        try chat.insert(
          Message(
            id: MessageID("loose-\(index)"), in: "third", from: "member-1", text: "text \(index)",
            serverTimestamp: index % 2 == 0 ? time(Int64(index)) : nil))
      }
    }
    let texts = try WordyStore.texts(wordy.store)
    #expect(try Cells(wordy.files).usedDictionaries[1] ?? 0 > 10)
    try wordy.store.close()
    let subject = try SalvageSubject(wordy.files)
    var pieces: [Int: [(copy: UInt8, piece: Int)]] = [:]
    for slot in subject.slots(tree: Cells.settingsTree) {
      Bytes.with(subject.page(in: slot)) { bytes in
        let page = TreePage(bytes)
        for index in 0..<page.cellCount {
          var key = ByteBuffer()
          page.key(index).append(dropping: 0, to: &key)
          guard key.count == 8, key.bytes[0] == 0xFF else { continue }
          let piece = Int(key.bytes[6]) << 8 | Int(key.bytes[7])
          pieces[slot, default: []].append((key.bytes[5], piece))
        }
      }
    }
    #expect(pieces.count > 2)
    return (subject, pieces, texts)
  }

  @Test func aLostPageCostsNothing() throws {
    let (intact, pieces, texts) = try sample()
    var random = SeededGenerator(seed: 1)
    let slotCount = Scale.count(debug: 3, release: pieces.count)
    for slot in pieces.keys.shuffled().prefix(slotCount) {
      let held = pieces[slot] ?? []
      #expect(Set(held.map(\.piece)).count == held.count, "a leaf has a piece twice")
      var subject = intact
      subject.destroy([slot], &random)
      let salvaged = try subject.salvage()
      #expect(salvaged.saved.lostRecordCount == 0 && salvaged.saved.shortfalls.isEmpty)
      let copy = try MessageStore(in: salvaged.directory, name: "new")
      #expect(try WordyStore.texts(copy) == texts)
      try copy.close()
      let directory = subject.directory
      guard let store = try? memoryStore(directory) else {
        // The registers lie in the same leaf.
        continue
      }
      #expect(try WordyStore.texts(store) == texts)
      #expect(try !store.check().isEmpty)
      let before = directory["store"]
      #expect(throws: StoreError.self) { try store.compact() }
      #expect(directory["store"] == before)
      // Changes in a segment need no whole dictionary to be written.
      let changed = WordyStore.id(100)
      do {
        try store.write { chat in
          _ = try chat.receiveEdit(
            of: changed, in: "room", text: "edited", at: Timestamp.plausibleRange.upperBound)
        }
        let seen = try WordyStore.texts(store)
        let others = texts.filter { !$0.hasPrefix("\(changed)") }
        #expect(seen.filter { !$0.hasPrefix("\(changed)") } == others)
        #expect(seen.contains("\(changed): edited"))
      } catch StoreError.storage {
        // A write that needs a page that is lost does nothing.
        #expect(try WordyStore.texts(store) == texts)
      }
      try? store.close()
    }
  }

  @Test func twoLostPagesCostWhatWasPackedWithIt() throws {
    let (intact, pieces, texts) = try sample()
    var random = SeededGenerator(seed: 2)
    let first = try #require(pieces.first { $0.value.contains { $0.copy == 0 && $0.piece == 2 } })
    let second = try #require(pieces.first { $0.value.contains { $0.copy == 1 && $0.piece == 2 } })
    #expect(first.key != second.key)
    var subject = intact
    subject.destroy([first.key, second.key], &random)
    let salvaged = try subject.salvage()
    let copy = try MessageStore(in: salvaged.directory, name: "new")
    let saved = try Set(WordyStore.texts(copy))
    #expect(saved.isSubset(of: texts) && !saved.isEmpty)
    #expect(salvaged.saved.lostRecordCount > 0)
    #expect(
      salvaged.saved.lostRecords.contains { $0.reason.contains("dictionary") },
      "\(salvaged.saved.lostRecords.prefix(2))")
    try copy.close()
    guard let store = try? memoryStore(subject.directory) else { return }
    do {
      _ = try WordyStore.texts(store)
      Issue.record("texts without their dictionary")
    } catch StoreError.corruptRecord(_, let reason) {
      #expect(reason.contains("dictionary 1"))
    }
    // What is not packed with it can be read, and there can be more.
    #expect(try store.read { try $0.thread("third").tail(50).count } == 20)
    try store.write { chat in
      for index in 0..<300 {
        try chat.insert(message(MessageID("new-\(index)"), at: Int64(index), text: "new"))
      }
    }
    _ = try store.check()
    try? store.close()
  }
}
