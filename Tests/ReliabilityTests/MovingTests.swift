import Foundation
import MovingFromSQLite
import MsgStore
import MsgStoreTools
import Testing

/// A move from an SQLite file, as the example makes it: complete, or continued after a kill.
struct MovingTests {
  private let directory: Scratch
  private let now = Timestamp(seconds: 1_800_000_000)

  init() throws { directory = try Scratch() }

  /// A file with a conversation of each kind, and rows of each kind.
  private func makeOldFile(messageCount: Int = 120) throws -> String {
    let path = directory.path("old.sqlite")
    try SampleFile.make(at: path, messageCount: messageCount, conversationCount: 3)
    return path
  }

  private func openStore(_ name: String = "new") throws -> MessageStore {
    let now = now
    return try MessageStore(
      path: directory.path(name),
      options: StoreOptions(localMember: SampleFile.member, clock: { now }))
  }

  private func move(
    _ path: String, to store: MessageStore, batchCount: Int = 30,
    progress: (Move.Progress) throws -> Void = { _ in }
  ) throws -> MoveReport {
    try Move(from: path, to: store, of: SampleFile.member, batchCount: batchCount, now: now)
      .run(progress: progress)
  }

  private func execute(_ text: String, in path: String) throws {
    try SQLiteFile(path: path, isReadOnly: false).execute(text)
  }

  private struct Stop: Error {}

  /// The export of a closed store.
  ///
  /// - Parameter isExact: False to leave out when the store came to know of a conversation.
  private func export(_ name: String, isExact: Bool = true) throws -> [String] {
    let tool = try Child("msgdump", ["export", directory.path(name)], in: directory.url)
    #expect(tool.end() == 0)
    let lines = String(decoding: try tool.output, as: UTF8.self).split(separator: "\n")
    guard !isExact else { return lines.map(String.init) }
    return lines.map { String($0.replacing(/"since_ms":[0-9.]+,?/, with: "")) }
  }

  @Test func everythingIsMovedWithItsMarksDraftsAndUnreadCounts() throws {
    let old = try makeOldFile()
    // The last three of the others in the second conversation are unread, and a draft is there.
    try execute(
      """
      DELETE FROM read_mark WHERE conversation = 2 AND member = 'ann';
      INSERT INTO read_mark (conversation, member, time) SELECT 2, 'ann', time FROM message
        WHERE conversation = 2 AND sender <> 'ann' ORDER BY time DESC LIMIT 1 OFFSET 3;
      UPDATE conversation SET draft = 'see you at' WHERE id = 2;
      """, in: old)
    let store = try openStore()
    var seen: [Int] = []
    let report = try move(old, to: store) { state in
      let isMoved = try store.read { try $0.isMoved }
      #expect(state.totalCount == 120 && !isMoved)
      seen.append(state.doneCount)
    }
    // The last commit has the marks of the last conversation.
    #expect(seen == [30, 60, 90, 120, 120])
    #expect(report.movedCount == 120 && report.refusals == [])
    #expect(report.reactionCount > 0 && report.attachmentCount > 0)
    try store.read { chat in
      #expect(try chat.isMoved)
      #expect(try chat.conversations(count: 10).count == 3)
      #expect(try chat.conversation("room-1")?.unreadCount == 3)
      #expect(try chat.draft(of: "room-1")?.text == "see you at")
      // What the server has is not told again.
      #expect(try chat.outbox.counts().total == 0)
      let newest = try #require(try chat.thread("room-0").tail(200).last)
      #expect(newest.serverTimestamp != nil)
    }
    #expect(try store.check() == [])
    // A complete move is not made again, even without the old file.
    try FileManager.default.removeItem(atPath: old)
    #expect(try move(old, to: store) { _ in Issue.record("moved twice") } == report)
  }

  @Test func unsentMessagesGoToTheOutboxAndFailedOnesAreHeld() throws {
    let old = try makeOldFile(messageCount: 20)
    try execute(
      """
      INSERT INTO message (name, conversation, sender, text, time, state) VALUES
        ('u-1', 1, 'ann', 'not yet there', 1600000000000, 1),
        ('u-2', 1, 'ann', 'refused', 1600000001000, 2),
        ('u-3', 1, 'member-0', 'not mine', 1600000002000, 1);
      """, in: old)
    let store = try openStore()
    let report = try move(old, to: store)
    #expect(report.unsentCount == 2 && report.movedCount == 22 && report.refusedCount == 1)
    try store.read { chat in
      let entries = try chat.outbox.entries(count: 10).entries
      #expect(entries.map(\.text) == ["not yet there", "refused"])
      #expect(entries.map(\.state) == [.queued, .held])
      let last = try chat.thread("room-0").tail(2)
      #expect(last.map(\.id) == ["u-1", "u-2"] && last.map(\.status) == [.pending, .held])
    }
    #expect(try store.check() == [])
  }

  @Test func rowsThatCannotBeUsedAreReportedAndStopNothing() throws {
    let old = try makeOldFile(messageCount: 60)
    try execute(
      """
      INSERT INTO message (id, name, conversation, sender, text, time, state) VALUES
        (1001, 'b-1', 1, 'bob', NULL, 1500000000001, 0),
        (1002, 'b-2', 1, 'bob', CAST(x'C328' AS TEXT), 1500000000002, 0),
        (1003, 'b-3', 1, 'bob', 'no time', 0, 0),
        (1004, 'b-4', 1, 'bob', 'future', 1900000000000, 0),
        (1005, printf('%.300c', 'x'), 1, 'bob', 'id too long', 1500000000005, 0),
        (1006, 'b-6', 1, NULL, 'no sender', 1500000000006, 0),
        (1007, NULL, 1, 'bob', 'no id', 1500000000007, 0),
        (1008, 'b-8', 99, 'bob', 'no conversation', 1500000000008, 0),
        (1009, 'b-9', 1, 'bob', 'time is text', 'noon', 0),
        (1010, 'twice', 1, 'bob', 'first', 1500000000010, 0),
        (1011, 'twice', 1, 'bob', 'in the same batch', 1500000000011, 0),
        (1012, 'twice', 1, 'bob', 'in another batch', 1700000000000, 0),
        (1013, 'picture', 1, 'bob', NULL, 1500000000013, 0);
      INSERT INTO attachment (id, message, name, type) VALUES
        (2001, 1013, 'a', 'image/png'), (2002, 1013, 'a', 'image/png'), (2003, 1013, NULL, '');
      INSERT INTO reaction (id, message, member, emoji, time) VALUES
        (3001, 1013, 'bob', '👍', 1500000000014), (3002, 1013, 'bob', '', 1500000000014);
      """, in: old)
    let store = try openStore()
    let report = try move(old, to: store, batchCount: 10)
    let refused = report.refusals.map { "\($0.table) \($0.row) \($0.reason)" }.sorted()
    #expect(
      refused == [
        "attachment 2002 duplicateID", "attachment 2003 noID", "message 1001 noText",
        "message 1002 notUTF8", "message 1003 noTime", "message 1004 timeInFuture",
        "message 1005 refusedByStore", "message 1006 noMember", "message 1007 noID",
        "message 1008 noConversation", "message 1009 noTime", "message 1011 duplicateID",
        "message 1012 duplicateID", "reaction 3002 refusedByStore",
      ])
    #expect(report.movedCount == 62 && report.refusedCount == 11)
    #expect(report.refusedByReason["duplicateID"] == 3)
    let picture = try #require(try store.read { try $0.message("picture", in: "room-0") })
    #expect(picture.text == "" && picture.attachments.map(\.id) == ["a"])
    #expect(picture.reactions.map(\.emoji) == ["👍"])
    #expect(try store.read { try $0.message("twice", in: "room-0")?.text } == "first")
    #expect(try store.check() == [])
  }

  @Test func aMoveThatEndsAfterEachBatchGivesTheSameStore() throws {
    let old = try makeOldFile()
    try execute("UPDATE message SET text = NULL WHERE id % 25 = 0", in: old)
    let whole = try openStore("whole")
    let report = try move(old, to: whole, batchCount: 12)
    try whole.close()

    var runCount = 0
    while true {
      let store = try openStore("pieces")
      defer { try? store.close() }
      let doneBefore = runCount * 12
      runCount += 1
      do {
        let last = try move(old, to: store, batchCount: 12) { state in
          #expect(state.doneCount == min(doneBefore + 12, 120))
          #expect(try !store.read { try $0.isMoved })
          throw Stop()
        }
        #expect(last == report)
        break
      } catch is Stop {}
      try #require(runCount < 20)
    }
    #expect(runCount == 12)
    #expect(try export("pieces") == export("whole"))
  }

  @Test func aProcessThatIsKilledIsContinuedByTheNext() async throws {
    let old = try makeOldFile()
    // It waits after its first batch for longer than any load delays this test, so the kill comes
    // before the second.
    let child = try Child(
      "move-from-sqlite", ["run", old, directory.path("killed"), "50", "1800000"], in: directory.url
    )
    try await wait { try child.output.contains(UInt8(ascii: "\n")) }
    child.kill()
    #expect(child.end() == SIGKILL)

    let store = try openStore("killed")
    #expect(try await !store.read { chat in try chat.isMoved })
    var first: Int?
    let report = try move(old, to: store) { first = first ?? $0.doneCount }
    // It goes on behind the batch of the killed process.
    #expect(first == 80)
    #expect(try await store.check() == [])
    try await store.close()

    let whole = try openStore("whole")
    #expect(try move(old, to: whole) == report)
    try await whole.close()
    #expect(try export("killed", isExact: false) == export("whole", isExact: false))
  }

  @Test func aStoreInUseIsNotMixedWithAnOldFile() throws {
    let store = try openStore()
    try store.write { chat in _ = try chat.findOrCreateConversation(with: ["bob"]) }
    let old = try makeOldFile(messageCount: 10)
    let error = #expect(throws: MoveError.self) { try move(old, to: store) }
    #expect(error?.description.contains("already in use") == true)
    #expect(try !store.read { try $0.isMoved })
  }

  @Test func aDifferenceKeepsTheMoveFromBeingComplete() throws {
    let old = try makeOldFile(messageCount: 40)
    let store = try openStore()
    // Somebody changes the old file behind the place that was reached.
    let error = #expect(throws: MoveError.self) {
      try move(old, to: store) { state in
        guard state.doneCount == 30 else { return }
        try execute("UPDATE message SET text = 'changed' WHERE time % 7 = 0", in: old)
      }
    }
    #expect(error?.description.contains("another text") == true)
    #expect(try !store.read { try $0.isMoved })
  }

  /// The way an app opens its store, as the article shows it.
  private func openMoved(old: String, new: String, me: MemberID) async throws -> MessageStore {
    let store = try await MessageStore.open(path: new, options: .init(localMember: me))
    if try await !store.read({ chat in try chat.isMoved }) {
      let report = try await Move(from: old, to: store, of: me).run { state in
        print(state.doneCount, "of", state.totalCount)
      }
      for row in report.refusals { print(row.table, row.row, row.reason) }
    }
    // Here the store is complete and durable, and equal to the old file.
    return store
  }

  @Test func anAppMovesOnceAndOpensFromThenOn() async throws {
    let old = try makeOldFile(messageCount: 10)
    for _ in 1...2 {
      let store = try await openMoved(
        old: old, new: directory.path("new"), me: SampleFile.member)
      #expect(try await store.read { chat in try chat.isMoved })
      try await store.close()
      try? FileManager.default.removeItem(atPath: old)
    }
  }

  @Test func aCancelledTaskEndsAfterTheBatchAndGoesOnLater() async throws {
    let old = try makeOldFile()
    let store = try openStore()
    let move = Move(from: old, to: store, of: SampleFile.member, batchCount: 10, now: now)
    let task = Task {
      // Cancelled already: one batch is made all the same.
      try await move.run()
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await !store.read { try $0.isMoved })
    #expect(try await move.run().movedCount == 120)
  }
}

/// A directory that goes with the test.
private final class Scratch {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("msgstore-move-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}
