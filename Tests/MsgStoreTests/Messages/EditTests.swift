import MsgStore
import PageFile
import Testing

/// Edits, made here and received.
struct EditTests {
  @Test func anEditKeepsEveryEarlierTextWithItsTime() throws {
    let clock = TestClock(100)
    let store = try clock.store()
    try store.write { chat in
      try chat.send(own("m", "one"))
      #expect(try chat.edit("m", in: "room", text: "two") == time(1))
      try chat.insert(message("newest", at: 200))
      #expect(try chat.edit("m", in: "room", text: "three") == time(201))
      // The same text again is no edit, and the clock has no say.
      #expect(try chat.edit("m", in: "room", text: "three") == nil)
      clock.set(50)
      #expect(try chat.edit("m", in: "room", text: "four") == time(202))
    }
    let stored = try #require(try store.message("m"))
    #expect(stored.text == "four" && stored.isEdited && stored.editedAt == time(202))
    #expect(stored.hasHistory)
    let history = try store.read { try $0.history(of: "m", in: "room") }
    #expect(history.map(\.text) == ["one", "two", "three"])
    #expect(history.map(\.time) == [nil, time(1), time(201)])
    #expect(try store.preview?.text == "four")
    try store.expectSound()
  }

  @Test func onlyOnesOwnMessagesAreEdited() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("theirs", at: 1))
      #expect(throws: StoreError.message(.notOwn, "theirs", in: "room")) {
        try chat.edit("theirs", in: "room", text: "x")
      }
      #expect(throws: StoreError.message(.notFound, "none", in: "room")) {
        try chat.edit("none", in: "room", text: "x")
      }
      try chat.send(own("mine"))
      try chat.receiveRetraction(of: "mine", in: "room")
      #expect(throws: StoreError.message(.retracted, "mine", in: "room")) {
        try chat.edit("mine", in: "room", text: "x")
      }
    }
  }

  @Test func theLastEditWinsAndTheLoserIsInTheHistory() throws {
    for isReversed in [false, true] {
      let store = try memoryStore()
      let edits: [(String, Int64)] = [("a", 10), ("z", 20), ("b", 20), ("m", 15)]
      try store.write { chat in
        try chat.insert(message("m", at: 1, text: "first"))
        for (text, moment) in isReversed ? edits.reversed() : edits {
          #expect(try chat.receiveEdit(of: "m", in: "room", text: text, at: time(moment)))
          #expect(try !chat.receiveEdit(of: "m", in: "room", text: text, at: time(moment)))
        }
      }
      let stored = try #require(try store.message("m"))
      // At equal times the greater bytes win.
      #expect(stored.text == "z" && stored.editedAt == time(20))
      #expect(try store.history("m") == ["first", "a", "m", "b"])
      try store.expectSound()
    }
  }

  @Test func anEditReceivedDuringOnesOwnIsMergedWithIt() throws {
    let clock = TestClock(100)
    let store = try clock.store()
    try store.write { chat in
      try chat.insert(message("m", at: 1, from: "me", text: "first"))
      try chat.insert(message("newest", at: 99))
      try chat.edit("m", in: "room", text: "here")
      try chat.receiveEdit(of: "m", in: "room", text: "elsewhere", at: time(50))
    }
    #expect(try store.message("m")?.text == "here")
    #expect(try store.history("m") == ["first", "elsewhere"])
    try store.write { _ = try $0.receiveEdit(of: "m", in: "room", text: "later", at: time(101)) }
    #expect(try store.message("m")?.text == "later")
    #expect(try store.history("m") == ["first", "elsewhere", "here"])
  }

  @Test func aConfirmedEditStaysPerhapsUnderTheServersTime() throws {
    let clock = TestClock(100)
    let store = try clock.store()
    try store.write { chat in
      try chat.insert(message("m", at: 1, from: "me", text: "first"))
      let made = try #require(try chat.edit("m", in: "room", text: "second"))
      #expect(try chat.message("m", in: "room")?.syncStatus == .pending)
      #expect(try chat.confirmEdit(of: "m", in: "room", at: made, serverTime: time(300)))
      #expect(try !chat.confirmEdit(of: "m", in: "room", at: made))
      #expect(try !chat.receiveEdit(of: "m", in: "room", text: "second", at: time(300)))
    }
    let stored = try #require(try store.message("m"))
    #expect(stored.text == "second" && stored.editedAt == time(300))
    #expect(stored.syncStatus == .synced)
    #expect(try store.history("m") == ["first"])
    try store.expectSound()
  }

  @Test func aRefusedEditIsUndoneWithTheReason() throws {
    let clock = TestClock(100)
    let store = try clock.store()
    let reason = SendFailure(.permission, code: 403, text: "too old")
    try store.write { chat in
      try chat.insert(message("m", at: 1, from: "me", text: "first"))
      let one = try #require(try chat.edit("m", in: "room", text: "second"))
      let two = try #require(try chat.edit("m", in: "room", text: "third"))
      #expect(try chat.refuseEdit(of: "m", in: "room", at: one, because: reason))
      #expect(try chat.message("m", in: "room")?.text == "third")
      #expect(try chat.history(of: "m", in: "room").map(\.text) == ["first"])
      #expect(try chat.refuseEdit(of: "m", in: "room", at: two, because: reason))
      #expect(try !chat.refuseEdit(of: "m", in: "room", at: two, because: reason))
    }
    let stored = try #require(try store.message("m"))
    #expect(stored.text == "first" && !stored.isEdited && !stored.hasHistory)
    #expect(stored.failure == reason && stored.syncStatus == .synced)
    #expect(try store.preview?.text == "first")
    try store.expectSound()
  }

  @Test func mentionsGoWithTheTextThatMakesThem() throws {
    let store = try memoryStore()
    try store.write { chat in
      var first = message("m", at: 1, text: "@me @ann")
      first.mentions = ["me", "ann"]
      try chat.insert(first)
      #expect(try chat.message("m", in: "room")?.mentions == ["ann", "me"])
      #expect(try chat.conversation("room")?.unreadMentionCount == 1)
      try chat.receiveEdit(
        of: "m", in: "room", text: "@bob", mentions: ["bob", "bob"], at: time(2))
      #expect(try chat.message("m", in: "room")?.mentions == ["bob"])
      #expect(try chat.conversation("room")?.unreadMentionCount == 0)
      try chat.receiveEdit(of: "m", in: "room", text: "@bob", mentions: ["me"], at: time(2))
      #expect(try chat.message("m", in: "room")?.mentions == ["bob", "me"])
      var mine = own("n", "@you")
      mine.mentions = ["you"]
      #expect(try chat.send(mine).mentions == ["you"])
      try chat.edit("n", in: "room", text: "@you", mentions: ["you", "ann"])
      #expect(try chat.message("n", in: "room")?.mentions == ["ann", "you"])
    }
    try store.expectSound()
  }
}
