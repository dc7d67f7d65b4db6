import Damage
import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// A store as this version left it with work of each kind begun: the history that is pruned, the
/// messages up to a deletion, two conversations that become one, a deleted one, and entries of the
/// outbox that are released.
///
/// It lies in `Stores/working.txt`, see `StoreText`; a store has no export meanwhile. Until the
/// first release `MSGSTORE_GOLDEN=record swift test --filter WorkingStoreTests` makes it anew.
struct WorkingStoreTests {
  private static let url = GoldenMessageStore.folder.appendingPathComponent("working.txt")
  private static let rooms: [ConversationID] = ["lang", "rest", "alt", "neu", "fort"]

  private func files() throws -> MemoryDirectory {
    try StoreText.files(
      String(decoding: Data(contentsOf: Self.url), as: UTF8.self), storeName: "store")
  }

  private func open(
    _ files: MemoryDirectory, _ access: StoreOptions.Access = .readWrite
  ) throws -> MessageStore {
    var options = StoreOptions(localMember: "me", clock: { time(1_000_000) }).makingConversations
    options.access = access
    options.worksInBackground = false
    options.outbox.chance = { 0.5 }
    options.maximumWaitingCount = 1
    options.steps = StepSizes(maximumSweepCount: 2, maximumMergeCount: 2, maximumEntryCount: 2)
    return try MessageStore(in: files, name: "store", options: options)
  }

  private func send(
    _ count: Int, to room: ConversationID, _ chat: borrowing StoreWriter
  ) throws {
    for index in 0..<count {
      try chat.send(Message(id: MessageID("o-\(index)"), in: room, from: "me", text: "offen"))
    }
  }

  /// Makes the store.
  private func record() throws {
    let files = MemoryDirectory()
    let store = try open(files)
    try store.write { chat throws in
      for room in Self.rooms {
        for index in 0..<8 as Range<Int64> {
          try chat.insert(
            chatMessage(MessageID("\(room)-\(index)"), in: room, at: 100 + index), as: .history)
        }
      }
      try send(1, to: "eins", chat)
      try send(1, to: "zwei", chat)
    }
    // One entry waits, and one has failed.
    try store.write { chat throws in
      for kind in [.noConnection, .permission] as [FailureKind] {
        let item = try #require(try chat.outbox.next(for: "worker"))
        try chat.outbox.fail(item, because: SendFailure(kind))
      }
      try chat.outbox.setHoldsNewEntries(true)
      try send(6, to: "warten", chat)
      try send(4, to: "alt", chat)
      try send(4, to: "fort", chat)
      // The facts of the first of them are given up.
      for id in ["w-0", "w-1"] as [MessageID] {
        try chat.receiveEdit(of: id, in: "neu", text: "noch nicht da", at: time(200))
      }
      try chat.setRetention(Retention(messageCount: 2), of: "lang")
    }
    try store.write { chat throws in try chat.doWork() }
    try store.write { chat throws in try chat.prune() }
    try store.write { chat throws in
      try chat.outbox.releaseAll(in: "warten")
      try chat.outbox.retryAll(includesFailed: true)
      let waiting = try chat.outbox.entries(in: "warten", count: 10).entries
      let last = try #require(waiting.last)
      try chat.outbox.hold(last.id)
    }
    try store.write { chat throws in
      try chat.receiveConversationDeletion("rest", at: time(103))
    }
    try store.write { chat throws in try chat.renameConversation("alt", to: "neu") }
    try store.write { chat throws in try chat.deleteConversation("fort") }
    try store.close()
    try Data(StoreText.text(of: files, ["store"]).utf8).write(to: Self.url)
  }

  @Test func whatItHasBegunIsFinishedByEveryLaterVersion() throws {
    if ProcessInfo.processInfo.environment["MSGSTORE_GOLDEN"] == "record" { try record() }
    let reader = try open(files(), .readOnly)
    #expect(try reader.read { try $0.hasWork })
    try reader.expectSound()
    try reader.close()
    let store = try open(files())
    #expect(try store.read { try $0.hasWork })
    try store.expectSound()
    try store.finishWork()
    #expect(try !store.read { try $0.hasWork })
    try store.expectSound()
    func ids(_ room: ConversationID) throws -> [String] {
      try store.read { try $0.thread(room).tail(100).ids }
    }
    #expect(try ids("lang") == ["lang-6", "lang-7"])
    #expect(try ids("rest") == (4..<8).map { "rest-\($0)" })
    #expect(try ids("neu").count == 20)
    #expect(try ids("fort").isEmpty)
    let counts = try store.read { try $0.outbox.counts(in: "warten") }
    // The last one was to be held, after all.
    #expect(counts.held == 1 && counts.queued == 5)
    try store.close()
  }
}
