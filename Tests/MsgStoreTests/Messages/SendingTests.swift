import MsgStore
import Testing

/// Sending: what may be sent, and what becomes of it until the server has it.
struct SendingTests {
  @Test func allFieldsOfAMessageAreKept() throws {
    let store = try memoryStore()
    var given = Message(
      id: "m", in: "room", from: "you", text: "e\u{301} 👋", localTime: time(3),
      serverTimestamp: time(5), sequence: 7, status: .read, replyTo: "m0")
    given.mentions = ["ann", "me"]
    given.reactions = [Reaction("👍", from: "ann", at: time(9))]
    given.attachments = [MessageAttachment(id: "a", kind: .image, fileName: "x.png")]
    given.editedAt = time(8)
    given.deliveredAt = time(6)
    given.readAt = time(7)
    try store.write { chat in try chat.insert(given) }
    let stored = try #require(try store.message("m"))
    #expect(stored == given)
    #expect(stored.isEdited && !stored.isRetracted && stored.syncStatus == .synced)
    #expect(stored.retryCount == 0 && stored.conversation == "room")
  }

  @Test func aSentMessageIsPendingAndInTheTailAtOnce() throws {
    let clock = TestClock(77)
    let store = try clock.store()
    try store.write { chat in
      try chat.insert(message("old", at: 99))
      let sent = try chat.send(own("m"))
      #expect(sent.status == .pending && sent.syncStatus == .pending)
      #expect(sent.localTime == time(77) && sent.serverTimestamp == nil)
      #expect(try chat.thread("room").tail(5).ids == ["old", "m"])
      #expect(try chat.conversation("room")?.preview?.messageID == "m")
    }
    #expect(try store.tail == ["old", "m"])
    try store.expectSound()
  }

  /// As somebody does who sends or forwards a message that has failed elsewhere.
  @Test(arguments: MessageStatus.allCases.filter { $0 != .held })
  func howFarAMessageHadComeIsNotTakenOver(status: MessageStatus) throws {
    let store = try TestClock().store()
    var given = Message(id: "m", in: "room", from: "me", text: "x", status: status)
    given.failure = SendFailure(.invalid)
    given.retryCount = 3
    let sent = try store.write { try $0.send(given) }
    #expect(sent.status == .pending && sent.failure == nil && sent.retryCount == 0)
    #expect(try store.message("m") == sent)
    #expect(try store.read { try $0.outbox.entries(count: 9).entries.map(\.state) } == [.queued])
    try store.expectSound()
  }

  /// There are servers that know conversations by their messages only.
  @Test func aMessageMakesItsConversation() throws {
    let store = try TestClock().store()
    try store.write { try $0.send(own("m")) }
    let room = try #require(try store.read { try $0.conversation("room") })
    #expect(room.kind == .unknown && room.participants == [])
    #expect(try store.read { try $0.outbox.entries(count: 9).entries.map(\.kind) } == [.send])
    try store.expectSound()
  }

  @Test func textsAreCheckedWhenSentAndStoredAsGiven() throws {
    let store = try memoryStore()
    let longest = String(repeating: "x", count: 10_000)
    let kept = [
      " \n a \t", "  " + longest + "\n\n", "👨‍👩‍👧‍👦e\u{301}\r\n.", String(repeating: "👨‍👩‍👧‍👦", count: 10_000),
    ]
    try store.write { chat in
      for (index, text) in kept.enumerated() {
        let sent = try chat.send(own(MessageID("m\(index)"), text))
        #expect(sent.text.utf8.elementsEqual(text.utf8))
      }
      for empty in ["", " \n\t\u{2003}"] {
        #expect(throws: StoreError.input(.text(.empty))) { try chat.send(own("no", empty)) }
      }
      #expect(throws: StoreError.input(.text(.tooManyCharacters(count: 10_001, limit: 10_000)))) {
        try chat.send(own("no", longest + "x"))
      }
      let heavy = "e" + String(repeating: "\u{301}", count: 1 << 19)
      #expect(
        throws: StoreError.input(.text(.tooManyBytes(count: heavy.utf8.count, limit: 1 << 20)))
      ) { try chat.send(own("no", heavy)) }
      #expect(try chat.message("no", in: "room") == nil)
      // An attachment may come without words.
      var picture = own("picture", "")
      picture.attachments = [MessageAttachment(id: "a", kind: .image)]
      #expect(try chat.send(picture).attachments.count == 1)
    }
    for (index, text) in kept.enumerated() {
      #expect(try store.message(MessageID("m\(index)"))?.text.utf8.elementsEqual(text.utf8) == true)
    }
    try store.expectSound()
  }

  @Test func textsAreCheckedWhenEditedAsWhenSent() throws {
    let store = try memoryStore()
    let longest = String(repeating: "x", count: 10_000)
    try store.write { chat in
      try chat.send(own("m"))
      #expect(try chat.edit("m", in: "room", text: longest + "  ") != nil)
      #expect(try chat.message("m", in: "room")?.text == longest + "  ")
      #expect(throws: StoreError.input(.text(.tooManyCharacters(count: 10_001, limit: 10_000)))) {
        try chat.edit("m", in: "room", text: longest + "y")
      }
      #expect(throws: StoreError.input(.text(.empty))) { try chat.edit("m", in: "room", text: " ") }
      #expect(try chat.message("m", in: "room")?.text == longest + "  ")
    }
  }

  @Test func limitsAreOptionsAndDoNotBindWhatIsReceived() throws {
    let store = try TestClock().store { $0.textLimits = TextLimits(maximumCharacterCount: 3) }
    try store.write { chat in
      try chat.send(own("m", "abc"))
      #expect(throws: StoreError.input(.text(.tooManyCharacters(count: 4, limit: 3)))) {
        try chat.send(own("n", "abcd"))
      }
      #expect(try chat.insert(message("r", at: 1, text: "abcd")) == .inserted)
      #expect(try chat.insert(message("e", at: 2, text: "")) == .inserted)
      #expect(try chat.receiveEdit(of: "r", in: "room", text: "", at: time(3)))
    }
    #expect(try store.message("r")?.text == "")
  }

  @Test func onlyOnesOwnMessagesAreSentAndEachIDOnce() throws {
    let store = try memoryStore()
    try store.write { chat in
      #expect(throws: StoreError.message(.notOwn, "m", in: "room")) {
        try chat.send(Message(id: "m", in: "room", from: "you", text: "x"))
      }
      try chat.send(own("m"))
      #expect(throws: StoreError.message(.idInUse, "m", in: "room")) { try chat.send(own("m")) }
      try chat.delete("m", in: "room")
      #expect(throws: StoreError.message(.idInUse, "m", in: "room")) { try chat.send(own("m")) }
      #expect(try chat.message("m", in: "room") == nil)
    }
    let nobodys = try memoryStore(localMember: nil)
    #expect(throws: StoreError.noLocalMember) { try nobodys.write { try $0.send(own("m")) } }
  }

  @Test func nothingButWhatIsComposedIsSent() throws {
    let store = try memoryStore()
    try store.write { chat in
      var forwarded = message("r", at: 5, 3, from: "me", local: 4)
      forwarded.reactions = [Reaction("👍", from: "you", at: time(6))]
      forwarded.mentions = ["ann"]
      forwarded.editedAt = time(7)
      forwarded.readAt = time(8)
      try chat.insert(forwarded)
      forwarded.id = "m"
      let sent = try chat.send(forwarded)
      #expect(sent.status == .pending && sent.serverTimestamp == nil && sent.sequence == nil)
      #expect(sent.reactions == [] && !sent.isEdited && sent.readAt == nil)
      #expect(sent.mentions == ["ann"] && sent.localTime == time(4))
    }
    try store.expectSound()
  }

  @Test func aSendingThatFailsIsTriedAgainAndThenAcknowledged() throws {
    let store = try memoryStore()
    let failure = SendFailure(.timeOut, code: 504, text: "too slow")
    try store.write { chat in
      try chat.send(own("m", at: 5))
      #expect(try chat.setStatus(.sending, of: "m", in: "room"))
      #expect(
        try chat.setStatus(.retrying, of: "m", in: "room", retryAt: time(60), failure: failure))
      let waits = try #require(try chat.message("m", in: "room"))
      #expect(waits.retryAt == time(60) && waits.retryCount == 1 && waits.failure == failure)
      #expect(waits.syncStatus == .pending)
      #expect(try chat.setStatus(.failed, of: "m", in: "room", failure: failure))
      let failed = try #require(try chat.message("m", in: "room"))
      #expect(failed.syncStatus == .failed && failed.failure == failure && failed.retryAt == nil)
      #expect(try chat.setStatus(.sending, of: "m", in: "room"))
      #expect(try chat.message("m", in: "room")?.retryCount == 2)
      #expect(try chat.acknowledge("m", in: "room", serverTimestamp: time(9), sequence: 1))
    }
    let sent = try #require(try store.message("m"))
    #expect(sent.status == .sent && sent.syncStatus == .synced && sent.serverTimestamp == time(9))
    #expect(sent.failure == nil && sent.retryCount == 0 && sent.localTime == time(5))
    try store.expectSound()
  }

  @Test func aFailedMessageStaysAtTheEndButYieldsThePreview() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("m1", at: 10))
      try chat.send(own("p", at: 20))
      try chat.setStatus(.failed, of: "p", in: "room", failure: SendFailure(.noConnection))
    }
    #expect(try store.preview?.messageID == "p")
    try store.write { try $0.insert(message("m2", at: 30)) }
    #expect(try store.tail == ["m1", "m2", "p"])
    #expect(try store.preview?.messageID == "m2")
    #expect(try store.read { try $0.conversation("room")?.lastActivity } == time(30))
    // Whoever decides to try again brings it back.
    try store.write { _ = try $0.setStatus(.sending, of: "p", in: "room") }
    #expect(try store.preview?.messageID == "p")
    try store.write { _ = try $0.setStatus(.failed, of: "p", in: "room") }
    #expect(try store.preview?.messageID == "m2")
    try store.write { _ = try $0.delete("m2", in: "room") }
    #expect(try store.preview?.messageID == "p")
    try store.write { _ = try $0.delete("p", in: "room") }
    #expect(try store.preview?.messageID == "m1")
    #expect(try store.tail == ["m1"])
    try store.expectSound()
  }

  /// What waits for a message that is held is let go before it is taken out, too.
  @Test func aHeldMessageThatIsTakenBackLeavesNothingInTheOutbox() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.send(own("m"))
      try chat.react("👍", to: "m", in: "room")
      try chat.setStatus(.held, of: "m", in: "room")
      var copy = message("m", at: 10, from: "me")
      copy.isRetracted = true
      try chat.insert(copy)
    }
    try store.expectSound()
    try store.write { _ = try $0.send(own("n")) }
    try store.expectSound()
  }
}
