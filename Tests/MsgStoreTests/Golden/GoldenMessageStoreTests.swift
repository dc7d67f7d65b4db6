import Damage
import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Stores of messages as earlier schema versions left them: every later version opens them, for ever.
///
/// They lie in `Stores`, each as text, see `StoreText`, and with its export: only the data file, since
/// they were closed. Until the first release
/// `MSGSTORE_GOLDEN=record swift test --filter GoldenMessageStoreTests` makes that of the newest version
/// anew; after that it stays as it is.
struct GoldenMessageStoreTests {
  private func files(_ version: UInt64) throws -> MemoryDirectory {
    let text = try GoldenMessageStore.contents("version-\(version).txt")
    return try StoreText.files(String(decoding: text, as: UTF8.self), storeName: "store")
  }

  private func open(
    _ files: MemoryDirectory, _ access: StoreOptions.Access = .readWrite
  ) throws -> MessageStore {
    try MessageStore(in: files, name: "store", options: StoreOptions(access: access))
  }

  // MARK: What a store holds

  private func export(_ store: MessageStore) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try StoreExport.records(of: store) { JSONLineWriter.append($0, to: &bytes) }
    return bytes
  }

  /// Everything else: what an export leaves out, and what is found out anew from it.
  private func expectIntact(
    _ store: MessageStore, _ lines: [UInt8], _ unread: UnreadTotals, _ comment: Comment
  ) throws {
    #expect(try export(store) == lines, comment)
    try store.expectSound()
    let totals = try store.read { snapshot in try snapshot.unreadTotals }
    #expect(totals == unread, comment)
  }

  private struct Cells {
    var version: UInt64?
    var singleCount = 0
    var segmentCount = 0
    var dictionaries: Set<UInt32> = []
    var besideCount = 0
  }

  /// What lies in the trees of settings and of messages.
  private func cells(_ files: MemoryDirectory) throws -> Cells {
    var options = DatabaseOptions()
    options.access = .readOnly
    let database = try Database(in: files, name: "store", options: options)
    defer { withExtendedLifetime(database) {} }
    let source = try database.beginRead().source
    try source.enter()
    defer { source.leave() }
    var cells = Cells()
    for tree in [Schema.settings, Schema.messages, Schema.beside] {
      var cursor = Cursor(source, tree)
      var isThere = try cursor.first()
      while isThere {
        var key = ByteBuffer()
        var value = ByteBuffer()
        cursor.appendKey(to: &key)
        try cursor.appendValue(to: &value)
        if tree == Schema.settings {
          if key.bytes.array() == Array("schema version".utf8) {
            cells.version = value.bytes.uint64(at: 0)
          }
        } else if tree == Schema.beside {
          cells.besideCount += 1
        } else if let dictionary = SegmentReport.dictionary(value.bytes) {
          cells.segmentCount += 1
          cells.dictionaries.insert(dictionary)
        } else {
          cells.singleCount += 1
        }
        isThere = try cursor.next()
      }
    }
    return cells
  }

  private static let unread: [UInt64: UnreadTotals] = [
    6: UnreadTotals(messages: 405, mutedMessages: 11, mentions: 1, mutedMentions: 1)
  ]

  @Test(arguments: [6] as [UInt64])
  func storesOfEverySchemaVersionOpenForEver(version: UInt64) throws {
    let unread = try #require(Self.unread[version])
    let records = ProcessInfo.processInfo.environment["MSGSTORE_GOLDEN"] == "record"
    if records && version == GoldenMessageStore.newestVersion { try GoldenMessageStore.record() }
    let lines = try GoldenMessageStore.contents("version-\(version).jsonl")
    let files = try files(version)
    let before = files["store"]
    #expect(try cells(files).version == version)

    let reader = try open(files, .readOnly)
    try expectIntact(reader, lines, unread, "read only")
    try reader.close()
    let isUntouched = files["store"] == before && files["store-wal0"] == nil
    #expect(isUntouched)

    var store = try open(files)
    try expectIntact(store, lines, unread, "opened")
    try store.close()
    #expect(try cells(files).version == GoldenMessageStore.newestVersion)
    store = try open(files)
    try expectIntact(store, lines, unread, "opened again")
    try expectGoesOn(&store, files)
  }

  /// It can be written to, compacted, closed, and opened again.
  private func expectGoesOn(_ store: inout MessageStore, _ files: MemoryDirectory) throws {
    let start: Int64 = 1_704_080_000_000_000
    for index in 0..<200 as Range<Int64> {
      try store.write(.relaxed) { chat in
        for room in ["bob", "club"] as [ConversationID] {
          try chat.insert(
            Message(
              id: MessageID("n-\(index)"), in: room, from: index % 3 == 0 ? "ann" : "bob",
              text: "Nachricht \(index)", serverTimestamp: time(start + index * 1000)))
        }
      }
    }
    try store.write { chat in
      try chat.receiveEdit(of: "m-1", in: "club", text: "Hallo", at: time(start))
      try chat.receiveRetraction(of: "m-10", in: "club", at: time(start))
      try chat.delete("m-2", in: "club")
      try chat.delete("-NmX8EVl1IZp5Mct9Qgx", in: "bob")
      try chat.acknowledge("p-1", in: "club", serverTimestamp: time(start / 2), sequence: 2)
      try chat.markRead("bob")
    }
    try store.expectSound()
    let lines = try export(store)
    try store.compact()
    for comment in ["compacted", "opened after that"] as [Comment] {
      #expect(try export(store) == lines, comment)
      try store.expectSound()
      try store.close()
      store = try open(files)
    }
    try store.close()
    let cells = try cells(files)
    #expect(cells.segmentCount > 5)
  }

  /// Counters, lists, previews, receipts to tell, and the outbox's order are those of the text; and once
  /// the store was opened to be written, a recount finds nothing.
  ///
  /// `MSGSTORE_GOLDEN=derived` writes the text anew.
  @Test(arguments: [6] as [UInt64])
  func whatEveryVersionDerivesStaysAsItWas(version: UInt64) throws {
    let name = "version-\(version).derived.txt"
    let reader = try open(files(version), .readOnly)
    let text = try DerivedText.lines(of: reader).joined(separator: "\n") + "\n"
    try reader.close()
    if ProcessInfo.processInfo.environment["MSGSTORE_GOLDEN"] == "derived" {
      try Data(text.utf8).write(to: GoldenMessageStore.folder.appendingPathComponent(name))
    }
    let expected = String(decoding: try GoldenMessageStore.contents(name), as: UTF8.self)
    #expect(text == expected)
    #expect(try Recount.defect(of: open(files(version)), for: "ann") == nil)
  }

  @Test func eachVersionHasWhatItIsKeptFor() throws {
    for version in [6] as [UInt64] {
      let cells = try cells(files(version))
      #expect(cells.segmentCount > 5 && cells.dictionaries.contains(1))
      // Pending messages, and the newest of a long thread.
      #expect(cells.singleCount > 60)
      #expect(cells.besideCount >= 4)
    }
  }

  @Test func theNewestHasMutesWithEndsAndEditsWithIDs() throws {
    let store = try open(files(6), .readOnly)
    try store.read { chat throws in
      let (over, muted) = (try chat.conversation("laut"), try chat.conversation("stumm"))
      #expect(over?.isMuted == false && over?.mutedUntil == nil)
      #expect(muted?.isMuted == true && muted?.mutedUntil == time(GoldenMessageStore.farAhead))
      #expect(try chat.nextExpiry == muted?.mutedUntil)
      #expect(try chat.message("s-0", in: "laut")?.editServerName == "e-2")
      let versions = try chat.history(of: "s-0", in: "laut")
      #expect(versions.map(\.serverName) == [nil, "e-1"])
    }
    try store.close()
  }

  @Test func theNewestHasEntriesOfEveryState() throws {
    let store = try open(files(6), .readOnly)
    let counts = try store.read { try $0.outbox.counts() }
    #expect(counts.held > 3 && counts.running > 0 && counts.waiting > 1)
    #expect(counts.failed == 2 && counts.queued > 1)
    #expect(try store.read { try $0.outbox.holdsNewEntries })
    let kinds = try store.read { try Set($0.outbox.entries(count: 100).entries.map(\.kind)) }
    #expect(kinds.count > 8, "\(kinds)")
    try store.close()
  }
}
