import Damage
import Foundation
import MsgStore
import MsgStoreTools
import PageFile

/// The store of the newest version, made anew: everything that a store can hold.
enum GoldenMessageStore {
  static let newestVersion: UInt64 = 6
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Stores")

  static func contents(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: folder.appendingPathComponent(name)))
  }

  /// What a restore makes of `base.jsonl`, a thread that is packed with a dictionary and then grows, and
  /// an outbox with entries of every state.
  ///
  /// The dictionary is planted, so that the store has one whatever the code thinks of its worth.
  static func record() throws {
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
    try addRest(to: store)
    // One of the mutes is over for good.
    try store.finishWork()
    try fillOutbox(of: store, clock)
    try store.write { chat in try addHeld(chat) }
    try store.finishWork()
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
  static let farAhead: Int64 = 4_000_000_000_000_000

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
      try chat.send(Message(id: "o-5", in: "stumm", from: "ann", text: "wird abgelehnt"))
      try chat.send(
        Message(id: "o-6", in: "laut", from: "ann", text: "zum Jubiläum"), at: time(farAhead))
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
        case .send(let message) where message.id == "o-5":
          try chat.outbox.fail(item, because: SendFailure(.invalid, code: 400, text: "zu lang"))
        case .receipt(let receipt) where receipt.kind == .delivered:
          try chat.outbox.complete(item)
        case .upload: try chat.outbox.fail(item, because: SendFailure(.timeOut))
        case .client:
          try chat.outbox.fail(item, because: SendFailure(.permission, code: 403, text: "nein"))
        case .createConversation: try chat.outbox.returnWork(item)
        default: break
        }
      }
      // The receipt behind the one that the server has.
      _ = try chat.outbox.next(for: "golden", lease: .seconds(3600))
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
}
