import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// The walk that tells the use of every slot, beside the reports that count pages in other ways.
struct SlotLayoutTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.path("chat")
  }

  /// Writes messages of several conversations, some with long texts, and deletes some of them.
  ///
  /// - Parameter longByteCount: The byte count of the long texts, which no compression makes small.
  private func fill(_ store: MessageStore, longByteCount: Int = 9000) throws {
    var random = SeededGenerator(seed: 5)
    for part in 0..<4 {
      try store.write { chat in
        for index in 0..<150 {
          let number = part * 150 + index
          let long = random.bytes(number % 50 == 7 ? longByteCount : 0).map { 33 + $0 % 90 }
          try chat.insert(
            Message(
              id: MessageID("\(number)"), in: ConversationID("room \(number % 3)"), from: "you",
              text: "text \(number) " + String(decoding: long, as: UTF8.self),
              serverTimestamp: time(Int64(number)), sequence: Int64(number / 3)))
        }
      }
      try store.checkpoint()
    }
    try store.write { chat in
      for number in 0..<200 {
        _ = try chat.delete(MessageID("\(number)"), in: ConversationID("room \(number % 3)"))
      }
    }
  }

  private func expectSame(_ layout: SlotLayout, _ file: FileReport) {
    #expect(layout.file.slotCount == file.slotCount)
    #expect(layout.file.freeSlotCount == file.freeSlotCount)
    #expect(layout.file.pageCount == file.pageCount)
    #expect(layout.file.dataFileByteCount == file.dataFileByteCount)
    #expect(layout.file.walByteCounts == file.walByteCounts)
    #expect(layout.file.lastLSN == file.lastLSN && layout.file.isClean == file.isClean)
    let kinds = [layout.file.pagesByKind, file.pagesByKind].map {
      $0.map { "\($0.kind) \($0.count)" }
    }
    #expect(kinds[0] == kinds[1])
    for (a, b) in zip(layout.file.trees, file.trees) {
      #expect(a.number == b.number && a.root == b.root && a.pageCount == b.pageCount)
      #expect(a.depth == b.depth && a.cellCount == b.cellCount)
    }
    #expect(layout.file.trees.count == file.trees.count)
  }

  @Test(arguments: [false, true]) func aWalkFindsWhatTheReportsCount(isOpen: Bool) throws {
    let store = try MessageStore(path: path)
    try fill(store)
    // A suspended store leaves its log in use, and does nothing meanwhile.
    if isOpen { try store.suspend(checkpoints: false) } else { try store.close() }
    let inspector = try Inspector(path: path)
    var leaves: [Int: Int] = [:]
    let layout = try inspector.layout { tree, page in leaves[tree, default: 0] += page.cellCount }
    expectSame(layout, try inspector.file())
    for tree in layout.trees {
      #expect(leaves[tree.report.number] == tree.report.cellCount)
      #expect(tree.fillCounts.reduce(0, +) == tree.report.pageCount && tree.unreadableCount == 0)
    }
    // Each page has its slot, tree, and fill.
    var states = Dictionary(grouping: layout.slots, by: \.slot)
    var loggedCount = 0
    try inspector.pages { page in
      guard page.slot > 0 else { return loggedCount += 1 }
      let state = states.removeValue(forKey: page.slot)?.first
      #expect(state.map { "\($0.use)" } == page.kind && state?.tree == page.tree)
      #expect(abs((state?.fill ?? 9) - page.fill) < 0.005, "page \(page.number)")
    }
    #expect(layout.logged.count == loggedCount)
    #expect(states.values.joined().allSatisfy { $0.use == .table || $0.use == .freed })
    #expect(layout.slots.contains { $0.use == .overflow })
    // The deletions free pages, but only in the log.
    #expect(layout.slots.contains { $0.use == .freed } == isOpen)
    if isOpen {
      try store.resume()
      try store.close()
    }
  }

  @Test func sizesAndPackingAreThoseOfTheMessages() throws {
    let store = try MessageStore(path: path)
    try fill(store)
    try store.close()
    let report = try Inspector(path: path).layoutReport(largestCount: 2)
    let messages = try MessageStore(path: path).read { snapshot in
      try (0..<3).map { try snapshot.conversation(ConversationID("room \($0)"))?.messageCount ?? 0 }
    }
    #expect(report.conversations.count == 3)
    #expect(report.conversations.messageCount == messages.reduce(0, +))
    #expect(report.conversations.largest.count == 2)
    #expect(
      report.conversations.largest[0].byteCount >= report.conversations.largest[1].byteCount)
    let segments = report.packing.segments
    #expect(segments.cellCount > 0 && segments.unpackedByteCount > 0)
    #expect(
      segments.messageCount + report.packing.loose.messageCount == messages.reduce(0, +))
    let cellCount = report.pages.file.trees.first { $0.number == Schema.messages.rawValue }?
      .cellCount
    #expect(segments.cellCount + report.packing.loose.cellCount == cellCount)
  }

  private func damage(slot: Int) throws {
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let offset = 2 * MetaSlot.regionByteCount + (slot - 1) * 4096
    // As if it were encrypted: no byte is what it was.
    for index in 0..<4096 { bytes[offset + index] ^= UInt8(truncatingIfNeeded: index * 7 + 1) }
    try bytes.write(to: URL(fileURLWithPath: path))
  }

  @Test func anUnreadableLeafIsAKindOfItsOwn() throws {
    let store = try MessageStore(path: path)
    try fill(store)
    try store.close()
    let before = try Inspector(path: path).layout()
    let leaf = try #require(before.slots.first { $0.use == .leaf && $0.tree == 6 })
    try damage(slot: Int(leaf.slot))
    let after = try Inspector(path: path).layout()
    let state = try #require(after.slots.first { $0.slot == leaf.slot })
    #expect(state.use == .unreadable && state.tree == 6)
    #expect(after.slots.count { $0.use == .unreadable } == 1)
    #expect(after.file.freeSlotCount == before.file.freeSlotCount)
    #expect(after.trees.first { $0.report.number == 6 }?.unreadableCount == 1)
    // A value in a chain of that leaf is reached from nowhere now.
    #expect(
      after.slots.filter { $0.use == .unreached }.count
        == before.slots.count { $0.use == .overflow } - after.slots.count { $0.use == .overflow })
  }

  @Test func pagesBelowAnUnreadableBranchAreShownByTheirOwnWord() throws {
    let store = try MessageStore(path: path)
    try fill(store)
    try store.close()
    let before = try Inspector(path: path).layout()
    let branch = try #require(before.slots.first { $0.use == .branch && $0.tree == 6 })
    try damage(slot: Int(branch.slot))
    let after = try Inspector(path: path).layoutReport()
    let unreached = after.pages.slots.filter { $0.use == .unreached }
    #expect(!unreached.isEmpty && unreached.contains { $0.tree == 6 && $0.fill > 0 })
    #expect(after.pages.slots.count == before.slots.count)
    #expect(after.pages.file.freeSlotCount == before.file.freeSlotCount)
  }

  @Test func anUnreadablePageOfTheTableIsSaid() throws {
    // Enough pages for a table of two levels; one that cannot be read at its root cannot be opened.
    let store = try MessageStore(path: path)
    try fill(store, longByteCount: 260_000)
    try store.close()
    let before = try Inspector(path: path).layout()
    #expect(before.unreadableTableCount == 0)
    let tables = before.slots.filter { $0.use == .table }
    let table = try #require(tables.max { $0.fill < $1.fill })
    try #require(tables.count > 2 && table.fill > 0.4)
    try damage(slot: Int(table.slot))
    let after = try Inspector(path: path).layout()
    #expect(after.unreadableTableCount == 1)
    #expect(after.slots.contains { $0.slot == table.slot && $0.use == .unreadable })
    #expect(after.file.freeSlotCount > before.file.freeSlotCount)
  }

  @Test func aMomentThatTheOwnerHasOverwrittenIsNoDamage() throws {
    let store = try MessageStore(path: path)
    try fill(store)
    try store.checkpoint()
    let inspector = try Inspector(path: path)
    for part in 2..<6 {
      try store.write { chat in
        for number in part * 100..<part * 100 + 100 {
          _ = try chat.delete(MessageID("\(number)"), in: ConversationID("room \(number % 3)"))
        }
      }
      try store.checkpoint()
    }
    try store.close()
    #expect(throws: PageFileError.snapshotExpired) { try inspector.layout() }
    #expect(throws: Never.self) { try Inspector(path: path).layout() }
  }
}
