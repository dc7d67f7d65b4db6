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
@Suite struct GoldenMessageStoreTests {
  private static let newestVersion: UInt64 = 5
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Stores")

  private static func contents(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: folder.appendingPathComponent(name)))
  }

  private func files(_ version: UInt64) throws -> MemoryDirectory {
    let text = try Self.contents("version-\(version).txt")
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
    for tree in [TreeNumber(0), TreeNumber(6), TreeNumber(16)] {
      var cursor = Cursor(source, tree)
      var isThere = try cursor.first()
      while isThere {
        var key = ByteBuffer()
        var value = ByteBuffer()
        cursor.appendKey(to: &key)
        try cursor.appendValue(to: &value)
        if tree == TreeNumber(0) {
          if key.bytes.array() == Array("schema version".utf8) {
            cells.version = value.bytes.uint64(at: 0)
          }
        } else if tree == TreeNumber(16) {
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

  // MARK: Making one

  /// What a restore makes of `base.jsonl`, a thread that is packed with a dictionary and then grows, and
  /// an outbox with entries of every state.
  ///
  /// The dictionary is planted, so that the store has one whatever the code thinks of its worth.
  private static func record() throws {
    let lines = try contents("base.jsonl")
    let files = MemoryDirectory()
    let restorer = Restorer(isLenient: false, numbersFromOrder: false, localMember: nil)
    try restorer.restore(JSONRecordReader(isLenient: false, source: source(of: lines))) {
      options throws(StoreError) in
      try MessageStore(in: files, name: "store", options: options)
    }
    let strings = (subjects + verbs + ends).map { Array($0.utf8) + [0xFF] }
    try files.plantDictionary(Array(strings.joined()), number: 1, in: "store")
    let clock = TestClock(1_704_075_000_000_000)
    var options = StoreOptions(clock: { clock.now }).makingConversations
    options.outbox.chance = { 0.5 }
    let store = try MessageStore(in: files, name: "store", options: options)
    let messages = longThread()
    try store.write { chat in for message in messages[..<280] { try chat.insert(message) } }
    try store.compact()
    // The newest of these keep cells of their own.
    try store.write { chat in for message in messages[280...] { try chat.insert(message) } }
    // What has changed since it was packed lies beside its segment.
    try store.write { chat in
      for index in [20, 21, 150] {
        try chat.receiveEdit(
          of: messages[index].id, in: "lang", text: "geändert \(index)",
          at: time(1_704_074_900_000_000))
      }
    }
    try store.write { chat in
      try chat.receive(
        MemberProfile(
          of: "bob", name: "Bob Ü.", picture: "file://bob.png", version: 3,
          fetchedAt: time(1_704_074_900_000_000)))
      try chat.receive(MemberProfile(of: "eve", name: "Eve", version: 2))
      try chat.forgetMember("eve")
    }
    try store.write { chat in try addCrowd(chat) }
    try store.write { chat in try addFields(chat) }
    try store.write { chat in try addMutes(chat) }
    try store.write { chat in try addNamedEdits(chat) }
    // One of the mutes is over for good.
    try store.finishWork()
    try fillOutbox(of: store, clock)
    var export: [UInt8] = []
    try StoreExport.records(of: store) { JSONLineWriter.append($0, to: &export) }
    try store.close()
    let name = "version-\(newestVersion)"
    try Data(export).write(to: folder.appendingPathComponent("\(name).jsonl"))
    try Data(StoreText.text(of: files, ["store"]).utf8)
      .write(to: folder.appendingPathComponent("\(name).txt"))
  }

  /// A group whose members have cells, and messages with receipts by name.
  private static func addCrowd(_ chat: borrowing StoreWriter) throws {
    let start: Int64 = 1_704_074_000_000_000
    var crowd = ReceivedConversation("crowd", at: time(start))
    crowd.hasAllMembers = true
    crowd.members = [.init("ann")]
    crowd.members += (0..<40).map { .init(MemberID("crowd-\($0)"), joinedAt: time(start)) }
    try chat.receive(crowd)
    for index in 0..<3 as Range<Int64> {
      try chat.insert(
        Message(
          id: MessageID("c-\(index)"), in: "crowd", from: "ann", text: "an alle \(index)",
          serverTimestamp: time(start + 1 + index)))
    }
    // All have read the first, and all but one the second.
    for index in 0..<40 {
      _ = try chat.receive(
        ReceivedReceipt(
          in: "crowd", of: MemberID("crowd-\(index)"), .read,
          .messages(index == 7 ? ["c-0"] : ["c-0", "c-1"]), time: time(start + 9)))
    }
    var news = ReceivedConversation("crowd", at: time(start + 20))
    news.members = [
      .init("crowd-3", isActive: false), .init("late", joinedAt: time(start + 20)),
    ]
    try chat.receive(news)
  }

  /// The client's own fields of a message, a conversation, and members: short, long, local, removed.
  private static func addFields(_ chat: borrowing StoreWriter) throws {
    let at = time(1_704_074_000_000_000)
    let message = FieldOwner.message("m-1", in: "club")
    try chat.receive(
      [
        .kind("Anruf"), OwnField("seconds", Array("93".utf8)), OwnField("gone", nil, at: at),
        OwnField("wave", [UInt8](repeating: 7, count: 400), at: at),
      ], of: message)
    try chat.setOwnField("mine", [0xFF], of: message, isLocal: true)
    try chat.receive([.kind("Verein"), OwnField("farbe", [1, 2])], of: .conversation("club"))
    try chat.receive([OwnField("nick", Array("Bobby".utf8), at: at)], of: .member("bob"))
    try chat.receive([OwnField("nick", Array("Evi".utf8), at: at)], of: .member("eva"))
  }

  /// A time of the year 2096.
  private static let farAhead: Int64 = 4_000_000_000_000_000

  /// Two conversations muted until a time, of which one has passed, by the server's time too.
  private static func addMutes(_ chat: borrowing StoreWriter) throws {
    let start: Int64 = 1_704_074_950_000_000
    let rooms: [(ConversationID, end: Int64, count: Int64)] = [
      ("laut", start - 1, 1), ("stumm", farAhead, 2),
    ]
    for (room, end, count) in rooms {
      for index in 0..<count {
        try chat.insert(
          Message(
            id: MessageID("s-\(index)"), in: room, from: "bob", text: "psst \(index)",
            serverTimestamp: time(start + index)))
      }
      try chat.receive(
        ReceivedConversation(room, at: time(start)) {
          $0.isMuted = true
          $0.mutedUntil = time(end)
        })
    }
  }

  /// Edits with ids of the server's: the one that is shown, one of the history, and one that waits.
  private static func addNamedEdits(_ chat: borrowing StoreWriter) throws {
    let start: Int64 = 1_704_074_960_000_000
    for (id, text, name) in [
      ("s-0", "leise", "e-1"), ("s-0", "ganz leise", "e-2"), ("s-9", "später", "e-3"),
    ] as [(MessageID, String, MessageID)] {
      try chat.receiveEdit(
        of: id, in: "laut", text: text, at: time(start + (name == "e-1" ? 0 : 1)),
        serverName: name)
    }
  }

  /// Work of many kinds: held, running, waiting, failed, and in its turn.
  private static func fillOutbox(of store: MessageStore, _ clock: TestClock) throws {
    try store.write { chat in
      var message = Message(id: "o-1", in: "club", from: "ann", text: "mit Bild")
      message.attachments = [
        MessageAttachment(id: "o-a", kind: .image, localPath: "/tmp/o.png", byteCount: 5000)
      ]
      try chat.send(message)
      // Nothing needs the first file any more.
      try chat.setLocalPath("/tmp/klein.png", of: "o-a", message: "o-1", in: "club")
      try chat.send(Message(id: "o-2", in: "lang", from: "ann", text: "läuft"))
      try chat.edit("o-2", in: "lang", text: "läuft gerade")
      try chat.send(Message(id: "o-3", in: "bob", from: "ann", text: "wird wieder versucht"))
      try chat.react("👍", to: "m-1", in: "club")
      try chat.setTitle("Neuer Titel", of: "club")
      try chat.setOwnField("stars", [5], of: .message("m-1", in: "club"))
      try chat.setOwnKind("Sprache", of: .conversation("lang"))
      try chat.addParticipants(["neu"], to: "club")
      _ = try chat.findOrCreateConversation(with: ["ann", "zoe"])
      try chat.outbox.enter("token", payload: [0xC0, 0xFF, 0xEE])
      try chat.setOwnField("nick", Array("Zoë".utf8), of: .member("zoe"))
    }
    try store.write { chat in
      var items: [OutboxItem] = []
      while let item = try chat.outbox.next(for: "golden", lease: .seconds(3600)) {
        items.append(item)
      }
      for item in items {
        switch item.task {
        case .send(let message) where message.id == "o-3":
          try chat.outbox.fail(item, because: SendFailure(.noConnection, text: "kein Netz"))
        case .upload: try chat.outbox.fail(item, because: SendFailure(.timeOut))
        case .client:
          try chat.outbox.fail(item, because: SendFailure(.permission, code: 403, text: "nein"))
        case .createConversation: try chat.outbox.returnWork(item)
        default: break
        }
      }
      try chat.outbox.setHoldsNewEntries(true)
    }
    clock.set(clock.now.microseconds + 1_000_000)
    try store.write { chat in
      try chat.send(Message(id: "o-4", in: "bob", from: "ann", text: "noch nicht"))
    }
  }

  private static let subjects = [
    "der Zug nach Norden", "die alte Fähre", "the lighthouse keeper", "поезд в Петербург",
    "chapter nine", "the dog 🐕", "unser Nachbar", "le dernier chapitre",
  ]
  private static let verbs = [
    "kommt heute später", "was my favourite", "опаздывает на час", "got lost on the way",
    "ist endlich da", "kept me awake until three", "m'a fait pleurer",
  ]
  private static let ends = [
    "wieder einmal", "thank goodness", "к сожалению", "as always", "um halb neun", "😂",
  ]

  private static func longThread() -> [Message] {
    var random = SeededGenerator(seed: 3)
    var sequence: Int64 = 0
    var clock: Int64 = 1_704_070_000_000_000
    return (0..<400).map { index in
      sequence += random.chance(10) ? 2 : 1
      clock += Int64.random(in: 0..<60, using: &random) * 1_000_000
      let words = [subjects, verbs, ends].compactMap { $0.randomElement(using: &random) }
      return Message(
        id: MessageID(String(1_000_000 + index * 7, radix: 36)), in: "lang",
        from: ["bob", "chen", "dina"].randomElement(using: &random) ?? "bob",
        text: words.joined(separator: " "), serverTimestamp: time(clock), sequence: sequence,
        replyTo: random.chance(8) ? MessageID(String(1_000_000 + index * 7 - 7, radix: 36)) : nil)
    }
  }

  // MARK: The tests

  private static let unread: [UInt64: UnreadTotals] = [
    4: UnreadTotals(messages: 403, mutedMessages: 8, mentions: 1),
    5: UnreadTotals(messages: 404, mutedMessages: 10, mentions: 1),
  ]

  @Test(arguments: [4, 5] as [UInt64])
  func storesOfEverySchemaVersionOpenForEver(version: UInt64) throws {
    let unread = try #require(Self.unread[version])
    let records = ProcessInfo.processInfo.environment["MSGSTORE_GOLDEN"] == "record"
    if records && version == Self.newestVersion { try Self.record() }
    let lines = try Self.contents("version-\(version).jsonl")
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
    #expect(try cells(files).version == Self.newestVersion)
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
  @Test(arguments: [4, 5] as [UInt64])
  func whatEveryVersionDerivesStaysAsItWas(version: UInt64) throws {
    let name = "version-\(version).derived.txt"
    let reader = try open(files(version), .readOnly)
    let text = try DerivedText.lines(of: reader).joined(separator: "\n") + "\n"
    try reader.close()
    if ProcessInfo.processInfo.environment["MSGSTORE_GOLDEN"] == "derived" {
      try Data(text.utf8).write(to: Self.folder.appendingPathComponent(name))
    }
    let expected = String(decoding: try Self.contents(name), as: UTF8.self)
    #expect(text == expected)
    #expect(try Recount.defect(of: open(files(version)), for: "ann") == nil)
  }

  @Test func eachVersionHasWhatItIsKeptFor() throws {
    for version in [4, 5] as [UInt64] {
      let cells = try cells(files(version))
      #expect(cells.segmentCount > 5 && cells.dictionaries.contains(1))
      // Pending messages, and the newest of a long thread.
      #expect(cells.singleCount > 60)
      #expect(cells.besideCount == (version < 5 ? 0 : 4))
    }
  }

  /// A process that is killed while it raises a store leaves one of either version.
  @Test func aStoreIsRaisedWhereverTheFirstOpeningIsCutOff() throws {
    let lines = try Self.contents("version-4.jsonl")
    let unread = try #require(Self.unread[4])
    let cuts = Locked<[MemoryDirectory]>([])
    let hooked = HookedDirectory(try files(4)) { (call, files) throws(PageFileError) in
      if call.kind == .write || call.kind == .sync { cuts.withLock { $0.append(files.copy()) } }
    }
    try MessageStore(in: hooked, name: "store", options: StoreOptions()).close()
    let found = cuts.withLock { $0 }
    #expect(found.count > 5)
    var versions: Set<UInt64> = []
    for cut in found {
      // Files of which no commit can be read yet are those of the store before.
      let reader = try open(cut.copy(), .readOnly)
      #expect(try export(reader) == lines)
      try reader.close()
      versions.insert(try cells(cut.copy()).version ?? 0)
      let store = try open(cut)
      try expectIntact(store, lines, unread, "cut off")
      try store.close()
      #expect(try cells(cut).version == Self.newestVersion)
    }
    #expect(versions == [4, 5])
  }

  @Test func theNewestHasMutesWithEndsAndEditsWithIDs() throws {
    let store = try open(files(5), .readOnly)
    try store.read { chat throws in
      let (over, muted) = (try chat.conversation("laut"), try chat.conversation("stumm"))
      #expect(over?.isMuted == false && over?.mutedUntil == nil)
      #expect(muted?.isMuted == true && muted?.mutedUntil == time(Self.farAhead))
      #expect(try chat.nextExpiry == muted?.mutedUntil)
      #expect(try chat.message("s-0", in: "laut")?.editServerName == "e-2")
      let versions = try chat.history(of: "s-0", in: "laut")
      #expect(versions.map(\.serverName) == [nil, "e-1"])
    }
    try store.close()
  }

  @Test func theNewestHasEntriesOfEveryState() throws {
    let store = try open(files(5), .readOnly)
    let counts = try store.read { try $0.outbox.counts() }
    #expect(counts.held > 3 && counts.running > 0 && counts.waiting > 1)
    #expect(counts.failed == 1 && counts.queued > 1)
    #expect(try store.read { try $0.outbox.holdsNewEntries })
    let kinds = try store.read { try Set($0.outbox.entries(count: 100).entries.map(\.kind)) }
    #expect(kinds.count > 8, "\(kinds)")
    try store.close()
  }
}
