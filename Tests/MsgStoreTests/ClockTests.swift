import MsgStore
import PageFile
import Testing

/// This device's clock is a year ahead of the server's, or a year behind, or jumps: nothing that the
/// server says is decided by it.
struct ClockTests {
  /// The server's time in these tests, in microseconds.
  private static let noon: Int64 = 1_700_000_000_000_000
  private static let year: Int64 = 365 * 86_400_000_000
  static let clocks: [Int64] = [noon, noon + year, noon - year, 0, .max]

  private static func at(_ seconds: Int64) -> Timestamp { time(noon + seconds * 1_000_000) }

  /// A group with three members and one message, of which the server knows.
  private func filled(_ clock: TestClock) throws -> MessageStore {
    let store = try clock.outboxStore()
    try store.write { (chat) throws in
      var group = ReceivedConversation("g", at: Self.at(0))
      group.kind = .group
      group.members = [.init("me"), .init("ann"), .init("bob")]
      _ = try chat.receive(group)
      try chat.insert(chatMessage("m", in: "g", at: Self.at(10).microseconds))
    }
    return store
  }

  private func told(
    _ seconds: Int64, _ tell: (inout ReceivedConversation) -> Void
  ) -> ReceivedConversation {
    ReceivedConversation("g", at: Self.at(seconds), tell)
  }

  private func group(_ store: MessageStore) throws -> Conversation {
    try #require(try store.read { try $0.conversation("g") })
  }

  @Test(arguments: clocks) func whatComesAfterADeletionIsKept(clock: Int64) throws {
    let store = try filled(TestClock(clock))
    try store.write { _ = try $0.deleteConversation("g") }
    #expect(try store.read { try $0.conversation("g") } == nil)
    try store.write { (chat) throws in
      #expect(try chat.insert(chatMessage("m", in: "g", at: Self.at(10).microseconds)) == .deleted)
      for second in 11...13 as ClosedRange<Int64> {
        let later = chatMessage(MessageID("l\(second)"), in: "g", at: Self.at(second).microseconds)
        #expect(try chat.insert(later) == .inserted)
      }
    }
    #expect(try group(store).unreadCount == 3)
    try store.expectSound()
  }

  @Test(arguments: clocks) func theServerSaysUpToWhenADeletionGoes(clock: Int64) throws {
    let store = try filled(TestClock(clock))
    try store.write { _ = try $0.deleteConversation("g") }
    let item = try store.take()
    try store.write { (chat) throws in
      for second in 11...13 as ClosedRange<Int64> {
        try chat.insert(
          chatMessage(MessageID("l\(second)"), in: "g", at: Self.at(second).microseconds))
      }
      _ = try chat.setDraft("new", in: "g")
    }
    try store.done(item, serverTime: Self.at(12))
    try store.finishWork()
    #expect(try store.read { try $0.thread("g").tail(9).ids } == ["l13"])
    #expect(try group(store).deletedUpTo == Self.at(12) && group(store).hasDraft)
    #expect(try store.waiting == [])
    try store.expectSound()
  }

  @Test(arguments: clocks) func anEmptyConversationStaysDeletedUntilSomethingComes(
    clock: Int64
  ) throws {
    let store = try TestClock(clock).outboxStore()
    try store.write { (chat) throws in
      _ = try chat.receive(told(0) { $0.kind = .group })
      _ = try chat.deleteConversation("g")
      _ = try chat.receive(told(1) { $0.title = .text("t") })
      #expect(try chat.conversation("g") == nil)
      #expect(try chat.insert(chatMessage("m", in: "g", at: Self.at(1).microseconds)) == .inserted)
      #expect(try chat.conversation("g") != nil)
    }
    try store.expectSound()
  }

  @Test(arguments: clocks) func whoWasAddedIsWaitedForFromThenOn(clock: Int64) throws {
    let store = try filled(TestClock(clock))
    try store.write { (chat) throws in
      try chat.insert(chatMessage("before", in: "g", at: Self.at(11).microseconds, from: "me"))
      #expect(try chat.addParticipants(["dan"], to: "g"))
    }
    let item = try store.take()
    try store.write { (chat) throws in
      try chat.insert(chatMessage("after", in: "g", at: Self.at(20).microseconds, from: "me"))
      for member in ["ann", "bob"] as [MemberID] {
        _ = try chat.receive(ReceivedReceipt(in: "g", of: member, .read, .upTo("after")))
      }
    }
    func statuses() throws -> [MessageStatus] {
      try store.read { try $0.thread("g").tail(2).map(\.status) }
    }
    #expect(try statuses() == [.read, .sent])
    try store.done(item, serverTime: Self.at(15))
    #expect(try statuses() == [.read, .sent])
    let all = try store.read { try $0.participations(in: "g") }
    #expect(all.first { $0.member == "dan" }?.joinedAt == Self.at(15))
    try store.write { (chat) throws in
      _ = try chat.receive(told(30) { $0.members = [.init("dan", isActive: false)] })
    }
    #expect(try statuses() == [.read, .read])
    try store.expectSound()
  }

  @Test(arguments: clocks) func laterWordsCountMoreThanWhatWasDoneHere(clock: Int64) throws {
    let store = try filled(TestClock(clock))
    try store.write { (chat) throws in
      #expect(try chat.setTitle("mine", of: "g"))
      #expect(try chat.setAvatar("mine", of: "g"))
      #expect(try chat.setPinned(true, of: "g"))
      #expect(try chat.setMuted(true, of: "g"))
      #expect(try chat.setArchived(true, of: "g"))
      #expect(try chat.setDraft("mine", in: "g"))
      #expect(try chat.removeParticipants(["ann"], from: "g"))
      // What was said before is no news, nor is it when it is said again.
      var old = told(10) { old in
        old.title = .text("old")
        old.avatar = .text("old")
        (old.isPinned, old.isMuted, old.isArchived) = (false, false, false)
        old.members = [.init("ann")]
      }
      old.draft = Draft(text: "old", time: Self.at(10))
      #expect(try !chat.receive(old))
    }
    let mine = try group(store)
    #expect(mine.title == "mine" && mine.avatar == "mine" && mine.hasDraft)
    #expect(mine.isPinned && mine.isMuted && mine.isArchived)
    #expect(mine.participants == ["bob", "me"])
    try store.write { (chat) throws in
      var new = told(11) { new in
        new.title = .text("theirs")
        new.avatar = .removed
        (new.isPinned, new.isMuted, new.isArchived) = (false, false, false)
        new.members = [.init("ann")]
      }
      new.draft = Draft(text: "theirs", time: Self.at(11))
      #expect(try chat.receive(new))
      #expect(try chat.draft(of: "g")?.text == "theirs")
    }
    let theirs = try group(store)
    #expect(theirs.title == "theirs" && theirs.avatar == nil)
    #expect(!theirs.isPinned && !theirs.isMuted && !theirs.isArchived)
    #expect(Set(theirs.participants) == ["ann", "bob", "me"])
    try store.expectSound()
  }

  @Test(arguments: clocks) func theServersTimeDecidesBetweenTitlesInAnyOrder(clock: Int64) throws {
    for (other, title) in [(29, "mine"), (31, "theirs")] as [(Int64, String)] {
      for isAfter in [false, true] {
        let store = try filled(TestClock(clock))
        try store.write { _ = try $0.setTitle("mine", of: "g") }
        let item = try store.take()
        func tell() throws {
          try store.write { _ = try $0.receive(told(other) { $0.title = .text("theirs") }) }
        }
        if !isAfter { try tell() }
        try store.done(item, serverTime: Self.at(30))
        if isAfter { try tell() }
        #expect(try group(store).title == title, "\(other) \(isAfter)")
        try store.expectSound()
      }
    }
  }

  @Test(arguments: clocks) func theServersTimeDecidesBetweenMembersInAnyOrder(clock: Int64) throws {
    for (other, isActive) in [(29, true), (31, false)] as [(Int64, Bool)] {
      for isAfter in [false, true] {
        let store = try filled(TestClock(clock))
        try store.write { _ = try $0.addParticipants(["dan"], to: "g") }
        let item = try store.take()
        func tell() throws {
          try store.write {
            _ = try $0.receive(told(other) { $0.members = [.init("dan", isActive: false)] })
          }
        }
        if !isAfter { try tell() }
        try store.done(item, serverTime: Self.at(30))
        if isAfter { try tell() }
        #expect(try group(store).participants.contains("dan") == isActive, "\(other) \(isAfter)")
        try store.expectSound()
      }
    }
  }

  @Test(arguments: clocks) func aMemberWhoWasRemovedSinceStaysRemoved(clock: Int64) throws {
    let store = try filled(TestClock(clock))
    try store.write { _ = try $0.addParticipants(["dan"], to: "g") }
    let item = try store.take()
    try store.write { _ = try $0.removeParticipants(["dan"], from: "g") }
    try store.done(item, serverTime: Self.at(30))
    #expect(try !group(store).participants.contains("dan"))
    try store.done(try store.take(), serverTime: Self.at(31))
    #expect(try !group(store).participants.contains("dan"))
    try store.expectSound()
  }

  @Test(arguments: clocks) func aGroupThatWasMadeHereTakesTheServersWord(clock: Int64) throws {
    let store = try TestClock(clock).outboxStore()
    try store.write { _ = try $0.createGroup("g", participants: ["ann"], title: "mine") }
    let item = try store.take()
    try store.write { _ = try $0.receive(told(1) { $0.title = .text("theirs") }) }
    #expect(try group(store).title == "theirs")
    try store.done(item, serverTime: Self.at(2))
    #expect(try group(store).title == "mine" && group(store).createdAt == Self.at(2))
    try store.expectSound()
  }

  @Test(arguments: clocks) func editsAndReactionsElsewhereAreSeen(clock: Int64) throws {
    let store = try filled(TestClock(clock))
    try store.write { (chat) throws in
      try chat.insert(chatMessage("own", in: "g", at: Self.at(20).microseconds, from: "me"))
      let time = try #require(try chat.edit("own", in: "g", text: "mine"))
      #expect(try chat.react("👍", to: "m", in: "g"))
      _ = try chat.receiveEdit(of: "own", in: "g", text: "old", at: Self.at(20))
      #expect(try chat.message("own", in: "g")?.text == "mine")
      #expect(try chat.confirmEdit(of: "own", in: "g", at: time))
      #expect(try chat.receiveEdit(of: "own", in: "g", text: "theirs", at: Self.at(30)))
      #expect(try chat.message("own", in: "g")?.text == "theirs")
      let gone = Reaction("👍", from: "me", at: Self.at(30))
      #expect(try chat.receive(gone, isRemoved: true, to: "m", in: "g"))
      #expect(try chat.message("m", in: "g")?.reactions == [])
    }
    try store.expectSound()
  }

  @Test(arguments: clocks) func aMessageIsTakenBackWhateverTheClockSays(clock: Int64) throws {
    let clock = TestClock(clock)
    let store = try filled(clock)
    try store.write { (chat) throws in
      try chat.insert(chatMessage("own", in: "g", at: Self.at(20).microseconds, from: "me"))
      #expect(try chat.retract("own", in: "g"))
      // The device's time of it gives way to the server's.
      #expect(try chat.receiveRetraction(of: "own", in: "g", at: Self.at(30)))
      #expect(try chat.message("own", in: "g")?.retractedAt == Self.at(30))
    }
    try store.expectSound()
  }

  @Test(arguments: clocks) func workGoesOutThoughTheClockJumps(clock: Int64) throws {
    let clock = TestClock(clock)
    let store = try clock.outboxStore()
    try store.write { (chat) throws in
      for index in 0..<6 {
        try chat.send(own(MessageID("m\(index)"), in: ConversationID("c\(index)")))
      }
    }
    let first = try store.take()
    #expect(try store.fail(try store.take()))
    for now in Self.clocks + [-Self.year] {
      clock.set(now)
      if let item = try store.next() { try store.done(item) }
    }
    try store.done(first)
    clock.set(Self.noon)
    _ = try store.drain()
    clock.set(Self.noon + 2 * 86_400_000_000)
    _ = try store.drain()
    #expect(try store.waiting == [])
    try store.expectSound()
  }
}
