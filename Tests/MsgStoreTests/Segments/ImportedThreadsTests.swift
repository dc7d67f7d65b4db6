import MsgStore
import PageFile
import Testing

/// Threads that a transaction brings as a whole go into segments at once.
@Suite struct ImportedThreadsTests {
  /// Messages that first get cells, and then leave them for segments, leave pages a third empty.
  @Test func newConversationsOfOneTransactionFillTheirPages() throws {
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
    let counts = "\(live) leaves, \(compacted) when compacted, seed \(seed)"
    #expect(live * 100 <= compacted * 108, "\(counts)")
    try store.close()
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
