import MsgStore
import PageFile
import Testing

/// Threads that a transaction brings as a whole go into segments at once.
struct ImportedThreadsTests {
  /// Messages that first get cells, and then leave them for segments, leave pages a third empty.
  @Test func newConversationsOfOneTransactionFillTheirPages() throws {
    let (live, compacted, seed) = try leafCounts(lateCount: 0)
    #expect(live * 100 <= compacted * 108, "\(live), \(compacted) compacted, seed \(seed)")
  }

  /// A message to an earlier place does not make the others of its transaction get cells.
  @Test func lateMessagesLeaveTheOthersToBePacked() throws {
    let (live, compacted, seed) = try leafCounts(lateCount: 5)
    #expect(live * 100 <= compacted * 125, "\(live), \(compacted) compacted, seed \(seed)")
  }

  /// What is written, changed, and removed before it has a cell is as it was with one.
  @Test func unwrittenMessagesAreChangedWhereTheyAre() throws {
    let files = MemoryDirectory()
    let store = try memoryStore(files)
    try store.write { chat in
      for index in 0..<10 { try chat.insert(message(MessageID("a\(index)"), at: Int64(index))) }
    }
    try store.write { chat in
      for index in 20..<30 { try chat.insert(message(MessageID("a\(index)"), at: Int64(index))) }
      try chat.insert(message("late", at: 5, text: "late"))
      try chat.insert(message("between", at: 24, text: "between"))
      try chat.receiveEdit(of: "a22", in: "room", text: "edited", at: time(100))
      try chat.receiveEdit(of: "a2", in: "room", text: "edited", at: time(100))
      try chat.delete("a20", in: "room")
      try chat.delete("a29", in: "room")
      try chat.delete("a3", in: "room")
      try chat.insert(message("a40", at: 40))
    }
    let expected =
      [0, 1, 2, 4, 5].map { "a\($0)" } + ["late"] + [6, 7, 8, 9, 21, 22, 23, 24].map { "a\($0)" }
      + ["between"] + [25, 26, 27, 28, 40].map { "a\($0)" }
    #expect(try store.read { try $0.thread("room").tail(100).ids } == expected)
    #expect(try store.message("a22")?.text == "edited")
    #expect(try store.message("a2")?.text == "edited")
    try store.expectSound()
    try store.close()
  }

  /// Messages in no order are written in bounded parts, and stand in their order.
  @Test func aThreadThatComesShuffledIsWrittenInParts() throws {
    let seed = try #require(seeds(1).first)
    var random = SeededGenerator(seed: seed)
    let files = MemoryDirectory()
    let store = try memoryStore(files)
    let times = (0..<6000).shuffled(using: &random)
    try store.write(.relaxed) { chat in
      for time in times { try chat.insert(message(MessageID("m\(time)"), at: Int64(time))) }
    }
    let ids = try store.read { try $0.thread("room").tail(6000).ids }
    #expect(ids == (0..<6000).map { "m\($0)" }, "seed \(seed)")
    try store.expectSound()
    try store.close()
  }

  /// Imports many short conversations; returns the leaves of their messages, as they are and
  /// compacted.
  ///
  /// - Parameter lateCount: How many messages of each transaction come late to earlier ones.
  private func leafCounts(
    lateCount: Int
  ) throws -> (live: Int, compacted: Int, seed: UInt64) {
    let seed = try #require(seeds(1).first)
    var random = SeededGenerator(seed: seed)
    let files = MemoryDirectory()
    var options = StoreOptions(localMember: "me")
    // No dictionary, which would be another reason for a compacted store to be smaller.
    options.worksInBackground = false
    options.packing = .usual
    let store = try MessageStore(in: files, name: "store", options: options)
    var time: Int64 = 0
    for batch in 0..<30 {
      try store.write(.relaxed) { chat in
        for room in 0..<25 {
          if batch > 0, room >= 25 - lateCount {
            // In the middle of a conversation of the transaction before.
            try chat.insert(
              Message(
                id: MessageID("late-\(batch)-\(room)"),
                in: ConversationID("room \(batch - 1) \(room)"), from: "ann", text: "late",
                serverTimestamp: Timestamp(microseconds: time - 489_999_999)))
          }
          try chat.insert(
            contentsOf: (0..<20).map { number in
              time += 1_000_000
              let letters = (0..<60).map { _ in UInt8.random(in: 97...122, using: &random) }
              return Message(
                id: MessageID("\(batch)-\(room)-\(number)"),
                in: ConversationID("room \(batch) \(room)"), from: "ann",
                text: String(decoding: letters, as: UTF8.self),
                serverTimestamp: Timestamp(microseconds: time))
            })
        }
      }
    }
    let live = try leafCount(store, files)
    try store.compact()
    let compacted = try leafCount(store, files)
    try store.expectSound()
    try store.close()
    return (live, compacted, seed)
  }

  /// The number of leaves of the messages tree.
  private func leafCount(_ store: MessageStore, _ files: MemoryDirectory) throws -> Int {
    try store.checkpoint()
    var options = DatabaseOptions()
    options.access = .readOnly
    let database = try Database(in: files.copy(), name: "store", options: options)
    defer { try? database.close() }
    let source = try database.beginRead().source
    try source.enter()
    defer { source.leave() }
    var count = 0
    try BTree(source, TreeNumber(Cells.messagesTree)).check(
      visit: { number in
        guard let page = try? source.page(number) else { return }
        if page[PageHeader.kindOffset] == PageKind.leaf.rawValue { count += 1 }
      }, report: { _, sentence in Issue.record("\(sentence)") })
    return count
  }
}
