import Foundation
import MsgStore
import MsgStoreTools
import PageFile
import Simulation
import Testing

/// Expiring messages where they meet other parts of the store.
struct ExpiryMeetingsTests {
  private let clock = TestClock(1000)

  /// Erases what expires at 2000 or earlier.
  private func erase(_ store: MessageStore) throws {
    clock.set(2100)
    try store.finishWork()
    try store.write { chat in try chat.insert(chatMessage("news", in: "elsewhere", at: 2050)) }
    try store.finishWork()
  }

  @Test(arguments: [true, false]) func everyReaderHidesThem(erases: Bool) throws {
    let store = try expiringStore(clock)
    try store.write { chat throws in
      var rich = expiring("x", at: 10, 1, until: 2000, text: "secret https://a.b")
      rich.mentions = ["me"]
      rich.attachments = [
        MessageAttachment(id: "a", kind: .image, remoteURL: "https://c", contentHash: [7])
      ]
      rich.reactions = [Reaction("👍", from: "you", at: time(11))]
      rich.ownFields = [OwnField("color", [1])]
      rich.replyTo = "first"
      try chat.insert(message("first", at: 1, 0))
      try chat.insert(rich)
      try chat.receiveEdit(of: "x", in: "room", text: "secret edited https://a.b", at: time(12))
      for tag in [MessageTag.pinned, .starred, .own("mine")] {
        try chat.receiveTag(tag, of: "x", in: "room", at: time(13))
      }
      try chat.setTransfer(
        .download, to: .running(doneByteCount: 1), of: "a", message: "x", in: "room")
    }
    clock.set(2000)
    if erases { try erase(store) }
    try store.read { chat throws in
      #expect(try chat.search(SearchQuery("secret")).isEmpty)
      #expect(try chat.history(of: "x", in: "room").isEmpty)
      #expect(try chat.reactions(to: "x", in: "room").isEmpty)
      #expect(try chat.attachments(of: "x", in: "room").isEmpty)
      #expect(try chat.runningTransfers().isEmpty)
      #expect(try chat.attachment(withContentHash: [7]) == nil)
      #expect(try chat.delivery(of: "x", in: "room") == nil)
      #expect(try chat.readers(of: "x", in: "room").isEmpty)
      #expect(try chat.ownFields(of: .message("x", in: "room")).isEmpty)
      #expect(try chat.replies(to: "first", in: "room").newest(9).isEmpty)
      #expect(try chat.replies(to: "first", in: "room").count() == 0)
      #expect(try chat.replies(to: "x", in: "room").newest(9).isEmpty)
      for tag in [MessageTag.image, .link, .mention, .pinned, .starred, .own("mine")] {
        #expect(try chat.thread("room").tagged(tag).tail(9).isEmpty, "\(tag)")
      }
      #expect(try chat.tagged(.pinned).newest(9).isEmpty)
      #expect(try chat.tagged(.starred).newest(9).isEmpty)
      #expect(try chat.thread("room").nextUnreadMention() == nil)
      #expect(try chat.thread("room").firstUnread(count: 1).ids == ["first"])
      let slice = try chat.thread("room").tail(9)
      #expect(slice.ids == ["first"])
      #expect(try chat.unread(in: slice) == [true])
      var exported: [MessageID] = []
      try chat.forEachExportedMessage(in: "room") { exported.append($0.id) }
      #expect(exported == ["first"])
    }
    try store.finishWork()
    try store.read { chat throws in
      #expect(try chat.thread("room").tagged(.image).count == 0)
      #expect(try chat.tagged(.pinned).count == 0)
      #expect(try chat.conversation("room")?.unreadMentionCount == 0)
    }
    try store.expectSound()
  }

  @Test func theirTextsAreInNoFileOnceErased() throws {
    let directory = MemoryDirectory()
    let store = try expiringStore(clock, in: directory)
    func isInFiles() -> Bool { directory.holds("SECRET-XQ") }
    try store.write { chat throws in
      try chat.insert(expiring("x", at: 10, until: 2000, text: "SECRET-XQ"))
      try chat.insert(message("y", at: 11))
    }
    try store.checkpoint()
    #expect(isInFiles())
    try erase(store)
    try store.checkpoint()
    #expect(!isInFiles())
    try store.expectSound()
  }

  @Test func aMovedMessageExpiresAtItsNewPlace() throws {
    let store = try expiringStore(clock)
    try store.write { chat throws in
      try chat.send(expiring("p", at: nil, from: "me", until: 2000))
      try chat.acknowledge("p", in: "room", serverTimestamp: time(500), sequence: 1)
      try chat.acknowledge("p", in: "room", serverTimestamp: time(400), sequence: 1, as: "s")
    }
    try store.expectSound()
    try erase(store)
    clock.set(1500)
    #expect(try store.shownIDs() == [])
    #expect(try store.refuses(message("p", at: 400, 1)))
    #expect(try store.refuses(message("s", at: 400, 1)))
    try store.expectSound()
  }

  @Test func aPendingMessageLeavesTheOutbox() throws {
    let store = try expiringStore(clock)
    try store.write { chat throws in
      var carrier = expiring("p", at: nil, from: "me", until: 2000)
      carrier.attachments = [MessageAttachment(id: "a", kind: .image)]
      try chat.send(carrier)
      try chat.send(message("q", at: nil, from: "me"))
    }
    #expect(try store.read { try $0.outbox.counts().total } == 3)
    clock.set(2000)
    try store.read { chat throws in
      #expect(
        try chat.outbox.entries(count: 9).entries.filter { $0.message == "p" }
          .allSatisfy { $0.text != "hello" })
    }
    try store.finishWork()
    #expect(try store.read { try $0.outbox.entries(count: 9).entries.map(\.message) } == ["q"])
    #expect(try store.shownIDs() == ["q"])
    try store.expectSound()
    // A clock that was ahead brings it back, held for a decision.
    clock.set(1500)
    try store.finishWork()
    #expect(try store.shownIDs() == ["p", "q"])
    try store.read { chat throws in
      #expect(try chat.message("p", in: "room")?.status == .held)
      #expect(try chat.outbox.counts().held == 2)
    }
    try store.expectSound()
  }

  @Test func aPendingMessageComesBackWithAllThatIsToBeTold() throws {
    let store = try expiringStore(clock)
    try store.write { chat throws in
      try chat.send(expiring("p", at: nil, from: "me", until: 2000, text: "one"))
      _ = try chat.edit("p", in: "room", text: "two")
      _ = try chat.react("👍", to: "p", in: "room")
      _ = try chat.react("🎉", to: "p", in: "room")
      _ = try chat.removeReaction("🎉", from: "p", in: "room")
    }
    #expect(try store.waiting.count == 3)
    clock.set(2000)
    try store.finishWork()
    #expect(try store.waiting == [])
    clock.set(1500)
    try store.finishWork()
    #expect(
      try store.waiting == ["send p held", "edit p held, blocked", "react p held, blocked"])
    try store.expectSound()
    try store.write { _ = try $0.outbox.releaseAll() }
    #expect(try store.drain() == ["send p", "edit p: two", "+👍 p"])
    try store.expectSound()
  }

  @Test func whatMayHaveLeftStaysUntilTheServerAnswers() throws {
    let store = try expiringStore(clock)
    try store.write { chat in try chat.send(expiring("p", at: nil, from: "me", until: 2000)) }
    let item = try #require(try store.write { chat in try chat.outbox.next(for: "w") })
    try erase(store)
    #expect(try store.read { try $0.outbox.counts().total } == 1)
    #expect(try store.shownIDs() == [])
    try store.expectSound()
    try store.write { chat in
      try chat.outbox.complete(item)
      try chat.acknowledge("p", in: "room", serverTimestamp: time(1500), sequence: 4)
    }
    try store.finishWork()
    #expect(try store.read { try $0.outbox.counts().total } == 0)
    clock.set(1600)
    #expect(try store.shownIDs() == [], "it is erased")
    try store.expectSound()
  }

  @Test(arguments: [true, false]) func theyGoWithTheirConversation(packs: Bool) throws {
    let store = try expiringStore(clock, packs: packs)
    try store.write { chat throws in
      for index in 1...30 as ClosedRange<Int64> {
        try chat.insert(expiring(MessageID("m\(index)"), at: index, index, until: 1900 + index % 3))
      }
      _ = try chat.deleteConversation("room")
    }
    try store.finishWork()
    #expect(try store.read { try $0.nextExpiry } == nil)
    try store.expectSound()
    try erase(store)
    try store.expectSound()
  }

  @Test func theyMoveWithTheirConversation() throws {
    let store = try expiringStore(clock)
    try store.write { chat throws in
      for index in 1...8 as ClosedRange<Int64> {
        var moved = expiring(
          MessageID("m\(index)"), at: index, index, until: index % 2 == 0 ? 2000 : 5000)
        moved.conversation = "old"
        try chat.insert(moved)
      }
      try chat.insert(message("r", at: 3))
      try chat.renameConversation("old", to: "room")
    }
    try store.finishWork()
    try store.expectSound()
    try erase(store)
    clock.set(1500)
    #expect(try store.shownIDs() == ["m1", "m3", "r", "m5", "m7"])
    try store.expectSound()
  }

  @Test func aReaderBesideTheOwnerHidesThemToo() throws {
    let directory = MemoryDirectory()
    let store = try expiringStore(clock, in: directory)
    try store.write { chat throws in
      try chat.insert(expiring("a", at: 1, until: 2000))
      try chat.insert(message("b", at: 2))
    }
    let reader = try expiringStore(clock, in: directory) { $0.access = .readOnly }
    #expect(try reader.shownIDs() == ["a", "b"])
    clock.set(2000)
    #expect(try reader.shownIDs() == ["b"])
    #expect(try reader.read { try $0.conversation("room")?.messageCount } == 2)
    try reader.close()
    try store.expectSound()
  }

  @Test func aRestoredStoreHasTheTimesAndNoHiddenMessage() throws {
    let store = try expiringStore(clock)
    try store.write { chat throws in
      try chat.insert(expiring("a", at: 1, until: 2000))
      try chat.insert(expiring("b", at: 2, until: 3000))
      try chat.receiveExpiry(of: "c", in: "room", at: time(2500))
    }
    clock.set(2000)
    let lines = String(decoding: try store.lines(), as: UTF8.self)
    #expect(!lines.contains("\"a\""))
    #expect(lines.contains("\"expires_ms\":3"))
    #expect(lines.contains("\"expires_ms\":2.5"))
    try store.close()
  }

  @Test func aSnapshotThatHoldsErasedMessagesExpires() throws {
    let directory = MemoryDirectory()
    let store = try expiringStore(clock, in: directory) {
      // Long enough for a slow machine to read twice.
      $0.maximumExpiredReading = .seconds(2)
    }
    try store.write { chat throws in
      for index in 1...50 as ClosedRange<Int64> {
        try chat.insert(expiring(MessageID("m\(index)"), at: index, until: 2000, text: "SECRET-XQ"))
      }
    }
    try store.checkpoint()
    func isInFiles() -> Bool { directory.holds("SECRET-XQ") }
    struct Ended: Error {}
    var isExpired = false
    do {
      try store.read { chat throws in
        if isExpired { throw Ended() }
        #expect(try chat.thread("room").tail(5).count == 5)
        try erase(store)
        // The snapshot is still there, and sees what it saw.
        #expect(try chat.thread("room").tail(5).count == 5)
        while !isExpired {
          do throws(StoreError) {
            _ = try chat.thread("room").tail(5)
          } catch {
            #expect(error == .storage(.snapshotExpired))
            isExpired = true
          }
          // What waits leaves the processor to other tests.
          Thread.sleep(forTimeInterval: 0.02)
        }
        throw Ended()
      }
    } catch is Ended {}
    #expect(isExpired)
    for _ in 0..<500 where isInFiles() { Thread.sleep(forTimeInterval: 0.02) }
    #expect(!isInFiles())
    try store.close()
  }

  @Test func manyThatExpireAtOnceAreLetGoInBoundedSteps() throws {
    let count: Int64 = 3000
    let store = try expiringStore(clock) { $0.steps = StepSizes(maximumSweepCount: 100) }
    try store.write { chat throws in
      try chat.insert(
        contentsOf: (1...count).map { expiring(MessageID("m\($0)"), at: $0, $0, until: 2000) })
      try chat.insert(message("last", at: count + 1))
    }
    clock.set(2_000_000)
    try store.write { chat in try chat.insert(chatMessage("news", in: "elsewhere", at: 1_999_000)) }
    var stepCount = 0
    var unread = Int.max
    while try store.commits({ try $0.doWork() }) {
      stepCount += 1
      try store.read { chat throws in
        #expect(try chat.thread("room").tail(5).ids == ["last"])
        let now = try chat.conversation("room")?.unreadCount ?? 0
        #expect(now <= unread && unread - now <= 100 || unread == .max)
        unread = now
      }
    }
    #expect(stepCount >= 2 * Int(count) / 100)
    #expect(unread == 1)
    try store.expectSound()
  }

  @Test func theStoreLetsThemGoByItself() async throws {
    let store = try MessageStore.inMemory(options: StoreOptions(localMember: "me"))
    let now = StoreOptions.systemClock().microseconds
    try await store.write { chat throws in
      try chat.insert(expiring("a", at: now, until: now + 200_000))
      try chat.insert(message("b", at: now + 1))
    }
    var unread: Int? = 2
    for _ in 0..<500 where unread != 1 {
      try await Task.sleep(for: .milliseconds(20))
      unread = try await store.read { try $0.conversation("room")?.unreadCount }
    }
    #expect(unread == 1)
    try await store.close()
  }

  @Test func anOpeningLetsThemGo() async throws {
    let directory = MemoryDirectory()
    let store = try expiringStore(clock, in: directory)
    try await store.write { chat throws in
      try chat.insert(expiring("a", at: 1, until: 2000))
      try chat.insert(message("b", at: 2))
    }
    try await store.close()
    clock.set(3000)
    let opened = try expiringStore(clock, in: directory) { $0.worksInBackground = true }
    var unread: Int? = 2
    for _ in 0..<500 where unread != 1 {
      try await Task.sleep(for: .milliseconds(20))
      unread = try await opened.read { try $0.conversation("room")?.unreadCount }
    }
    #expect(unread == 1)
    try await opened.close()
  }
}
