import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// The messages that answer one.
struct RepliesTests {
  @Test(arguments: [false, true]) func pagesGoBothWaysAndSayIfThereAreMore(isPacked: Bool) throws {
    let store = try memoryStore(packs: isPacked, packing: PackingSizes(looseCount: 2))
    try store.write { chat in
      for number in 0..<300 as Range<Int64> {
        // Ten messages at each time, and every third answers.
        let (id, time) = (MessageID("m\(1000 + number)"), number / 10)
        try chat.insert(
          number % 3 == 1
            ? reply(id, to: "m1000", at: time, number) : message(id, at: time, number))
      }
      for number in 0..<2 {
        try chat.send(reply(MessageID("p\(number)"), to: "m1000", at: nil, from: "me"))
      }
    }
    let expected =
      (0..<300).filter { $0 % 3 == 1 }.map { "m\(1000 + $0)" } + ["p0", "p1"]
    try store.read { chat in
      let replies = try chat.replies(to: "m1000", in: "room")
      #expect(try replies.count() == 102)
      #expect(try replies.count(atMost: 7) == 7 && replies.count(atMost: 0) == 0)
      var slice = try replies.oldest(7)
      var found: [String] = []
      while !slice.isEmpty {
        #expect((slice.older == .end) == found.isEmpty)
        found += slice.ids
        guard case .more(let last) = slice.newer else { break }
        slice = try replies.after(last, count: 7)
      }
      #expect(found == expected)
      found = []
      slice = try replies.newest(7)
      while !slice.isEmpty {
        #expect((slice.newer == .end) == found.isEmpty)
        found = slice.ids + found
        guard case .more(let first) = slice.older else { break }
        slice = try replies.before(first, count: 7)
      }
      #expect(found == expected)
      // From a message that is no reply, between two of one time.
      let position = try #require(try chat.message("m1155", in: "room")?.position)
      #expect(try replies.after(position, count: 2).ids == ["m1157", "m1160"])
      #expect(try replies.before(position, count: 2).ids == ["m1151", "m1154"])
      #expect(try replies.before(position, count: 2).map(\.replyTo) == ["m1000", "m1000"])
      #expect(throws: StoreError.input(.count(0))) { _ = try replies.oldest(0) }
      #expect(throws: StoreError.input(.count(-1))) { _ = try replies.newest(-1) }
    }
    try store.expectSound()
  }

  @Test func nothingAnswersWhatNobodyHasAnswered() throws {
    let store = try memoryStore()
    try store.write { try $0.insert(message("m", at: 1)) }
    for (id, room) in [("m", "room"), ("x", "room"), ("", "room"), ("m", "nowhere")] {
      #expect(try store.replyNames(to: MessageID(id), in: ConversationID(room)) == [])
    }
    let long = MessageID(String(repeating: "x", count: 300))
    #expect(try store.replyNames(to: long) == [])
  }

  @Test func theAnsweredMessageMayComeLaterAndGetOtherNames() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(reply("r1", to: "server", at: 20))
      try chat.insert(reply("r2", to: "temporary", at: 10))
      // A name of a conversation elsewhere is another one.
      try chat.insert(reply("r3", to: "server", at: 10, in: "other"))
    }
    #expect(try store.replyNames(to: "temporary") == ["r2"])
    // The server's name comes before the message, then the message.
    try store.write { chat in
      try chat.acknowledge("temporary", in: "room", serverTimestamp: time(5), as: "server")
    }
    for id in ["temporary", "server"] as [MessageID] {
      #expect(try store.replyNames(to: id) == ["r2", "r1"])
    }
    try store.write { try $0.insert(message("temporary", at: nil, from: "me", local: 1)) }
    for id in ["temporary", "server"] as [MessageID] {
      #expect(try store.replyNames(to: id) == ["r2", "r1"])
    }
    // One more name, once it is here.
    try store.write { chat in
      try chat.insert(reply("r4", to: "third", at: 30))
      try chat.acknowledge("temporary", in: "room", serverTimestamp: time(5), as: "third")
    }
    #expect(try store.replyNames(to: "server") == ["r2", "r1", "r4"])
    // Deleted, it is known by the name that is asked for.
    try store.write { try $0.delete("temporary", in: "room") }
    #expect(try store.replyNames(to: "server") == ["r1"])
    try store.expectSound()
  }

  @Test func aReplyMovesWhenItIsAcknowledged() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("m", at: 1))
      for id in ["a", "b", "c"] as [MessageID] {
        try chat.send(reply(id, to: "m", at: nil, from: "me"))
      }
    }
    #expect(try store.replyNames(to: "m") == ["a", "b", "c"])
    try store.write { chat in
      try chat.acknowledge("c", in: "room", serverTimestamp: time(50))
      try chat.acknowledge("a", in: "room", serverTimestamp: time(50), as: "s")
      #expect(try chat.replyNames(to: "m") == ["c", "a", "b"])
    }
    try store.expectSound()
    try store.write { chat in
      try chat.acknowledge("c", in: "room", serverTimestamp: time(90), revision: 1)
    }
    #expect(try store.replyNames(to: "m") == ["a", "c", "b"])
    try store.expectSound()
  }

  @Test func aRetractedReplyIsNoneAndAnEditedOneStays() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("m", at: 1))
      for (id, sender) in [("a", "me"), ("b", "you"), ("c", "me"), ("d", "you")] {
        try chat.insert(reply(MessageID(id), to: "m", at: 5, from: MemberID(sender)))
      }
      try chat.receiveEdit(of: "d", in: "room", text: "else", at: time(9))
      try chat.receiveRetraction(of: "b", in: "room", at: time(9))
      try chat.retract("a", in: "room")
    }
    #expect(try store.replyNames(to: "m") == ["c", "d"])
    try store.expectSound()
    // The server does not agree.
    try store.write {
      try $0.refuseRetraction(of: "a", in: "room", because: SendFailure(.permission))
    }
    #expect(try store.replyNames(to: "m") == ["a", "c", "d"])
    try store.write { chat in
      try chat.retract("a", in: "room")
      try chat.confirmRetraction(of: "a", in: "room")
      try chat.delete("c", in: "room")
      // The retraction of a reply that comes later.
      try chat.receiveRetraction(of: "e", in: "room", at: time(9))
      try chat.insert(reply("e", to: "m", at: 5))
    }
    #expect(try store.replyNames(to: "m") == ["d"])
    try store.write { try $0.delete("d", in: "room") }
    #expect(try store.replyNames(to: "m") == [])
    try store.expectSound()
  }

  @Test func aRetractedMessageKeepsItsReplies() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("m", at: 1))
      try chat.insert(reply("a", to: "m", at: 2))
      try chat.receiveRetraction(of: "m", in: "room", at: time(3))
    }
    #expect(try store.replyNames(to: "m") == ["a"])
  }

  /// Copies of one message agree on what it answers: the greatest name.
  @Test func aReplyFollowsWhatItIsSaidToAnswer() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(reply("a", to: "m1", at: 5))
      try chat.insert(message("b", at: 5))
    }
    try store.write { chat in
      try chat.insert(reply("a", to: "m2", at: 5))
      try chat.insert(reply("b", to: "m1", at: 5))
    }
    #expect(try store.replyNames(to: "m1") == ["b"] && store.replyNames(to: "m2") == ["a"])
    try store.expectSound()
  }

  /// These two have the digest 0x13422ED4.
  @Test func namesOfOneDigestAreToldApart() throws {
    let (a, b) = ("m77967", "m89167") as (MessageID, MessageID)
    #expect(ReplyKey.digest(of: a) == 0x1342_2ED4 && ReplyKey.digest(of: b) == 0x1342_2ED4)
    let store = try memoryStore()
    try store.write { chat in
      for number in 0..<120 as Range<Int64> {
        try chat.insert(
          reply(MessageID("r\(number)"), to: number % 40 == 7 ? a : b, at: number / 2, number))
      }
    }
    #expect(try store.replyNames(to: a) == ["r7", "r47", "r87"])
    #expect(try store.replyNames(to: b).count == 117)
    let slice = try store.read { try $0.replies(to: a, in: "room").newest(2) }
    #expect(slice.ids == ["r47", "r87"])
    try store.write { chat in
      for id in ["r7", "r6", "r47"] as [MessageID] { try chat.delete(id, in: "room") }
    }
    #expect(try store.replyNames(to: a) == ["r87"] && store.replyNames(to: b).count == 116)
    try store.expectSound()
  }

  @Test func runsOfMessagesEnterTheirRepliesToo() throws {
    func run(_ range: Range<Int64>) -> [Message] {
      range.map { number in
        let id = MessageID("m\(1000 + number)")
        return number % 4 == 3
          ? reply(id, to: MessageID("m\(1000 + number - 3)"), at: number, number)
          : message(id, at: number, number)
      }
    }
    let store = try memoryStore()
    // The newest first, and then the history before it.
    for range in [600..<900, 200..<600, 0..<200] as [Range<Int64>] {
      try store.write { try $0.insert(contentsOf: run(range), as: .history) }
    }
    for number in stride(from: 0, to: 900, by: 4) {
      #expect(try store.replyNames(to: MessageID("m\(1000 + number)")) == ["m\(1003 + number)"])
    }
    try store.expectSound()
  }

  @Test func repliesGoWithTheirConversationAndFollowItsNames() throws {
    var options = StoreOptions(localMember: "me", clock: { time(1_000_000) })
    options.worksInBackground = false
    options.steps = StepSizes(maximumSweepCount: 5, maximumMergeCount: 3)
    let directory = MemoryDirectory()
    let store = try MessageStore(in: directory, name: "store", options: options)
    try store.write { chat in
      for (room, start) in [("a", 0), ("b", 100)] as [(ConversationID, Int64)] {
        _ = try chat.createGroup(room, participants: ["you"])
        for number in start..<start + 20 {
          try chat.insert(reply(MessageID("r\(number)"), to: "m", at: number, in: room))
        }
      }
    }
    try store.write { chat in
      try chat.renameConversation("a", to: "b")
      #expect(try chat.replies(to: "m", in: "a").count() >= 20)
    }
    for _ in 0..<3 { try store.write { try $0.doWork() } }
    try store.expectSound()
    try store.finishWork()
    #expect(try store.replyNames(to: "m", in: "a").count == 40)
    try store.expectSound()
    try store.write { try $0.receiveConversationDeletion("b", at: time(104)) }
    try store.finishWork()
    #expect(try store.replyNames(to: "m", in: "b").count == 15)
    try store.expectSound()
    try store.write { try $0.deleteConversation("b") }
    #expect(try store.replyNames(to: "m", in: "b") == [])
    try store.finishWork()
    try store.expectSound()
    try store.close()
    #expect(try directory.indexCells(.reply).isEmpty)
  }

  @Test func aStoreWithoutRepliesHasNothingOfThem() throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write { chat in
      for number in 0..<200 as Range<Int64> {
        try chat.insert(message(MessageID("m\(number)"), at: number, number))
      }
      try chat.insert(reply("r", to: "m1", at: 3))
      try chat.delete("r", in: "room")
    }
    try store.close()
    #expect(try directory.indexCells(.reply).isEmpty)
  }

  @Test func aRestoreAndASalvageEnterRepliesAnew() throws {
    let directory = try TemporaryDirectory()
    let store = try MessageStore(path: directory.path("chat"))
    try store.write { chat in
      for number in 0..<50 as Range<Int64> {
        try chat.insert(
          reply(MessageID("r\(number)"), to: MessageID("m\(number % 3)"), at: number / 5, number))
      }
    }
    let expected = try store.replyNames(to: "m1")
    #expect(expected.count == 17)
    var pieces = [try store.lines()]
    try store.close()
    try MessageStore.restore(to: directory.path("restored"), reading: { pieces.popLast() ?? [] })
    _ = try MessageStore.salvage(damaged: directory.path("chat"), to: directory.path("salvaged"))
    for name in ["restored", "salvaged"] {
      let copy = try MessageStore(path: directory.path(name))
      #expect(try copy.replyNames(to: "m1") == expected)
      try copy.expectSound()
      try copy.close()
    }
  }

  // MARK: Live

  @Test func aLiveViewShowsEachNewReplyAndOlderOnesWhenAsked() throws {
    let store = try memoryStore()
    try store.write { chat in
      for number in 0..<4 as Range<Int64> {
        try chat.insert(reply(MessageID("r\(number)"), to: "m", at: number))
      }
    }
    let view = store.thread("room").live(repliesTo: "m", newest: 2)
    var values = view.makeAsyncIterator()
    #expect(try values.nextIfThere()?.slice.ids == ["r2", "r3"])
    try store.write { try $0.insert(message("x", at: 9)) }
    #expect(try values.nextIfThere() == nil)
    view.loadOlder(1)
    #expect(try values.nextIfThere()?.slice.ids == ["r1", "r2", "r3"])
    try store.write { chat in
      try chat.insert(reply("r9", to: "m", at: 9))
      try chat.receiveRetraction(of: "r2", in: "room", at: time(9))
    }
    let value = try #require(try values.nextIfThere())
    #expect(value.slice.ids == ["r1", "r3", "r9"])
    #expect(value.differences.removed == [1] && value.differences.inserted == [2])
    var refused = store.thread("room").live(repliesTo: "m", newest: 0).makeAsyncIterator()
    #expect(throws: StoreError.input(.count(0))) { _ = try refused.nextIfThere() }
  }
}
