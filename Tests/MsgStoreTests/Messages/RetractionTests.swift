import MsgStore
import PageFile
import Testing

/// Taking messages back, here and as told by the server.
struct RetractionTests {
  private static let day: Int64 = 24 * 3600 * 1_000_000

  /// A message with everything that has to go.
  private func full(_ id: MessageID, at moment: Int64, from sender: MemberID = "me") -> Message {
    var message = message(id, at: moment, 1, from: sender, local: moment - 1, text: "secret")
    message.replyTo = "other"
    message.mentions = ["ann"]
    message.reactions = [Reaction("👍", from: "ann", at: time(9))]
    message.attachments = [MessageAttachment(id: "a", kind: .image, fileName: "secret.png")]
    return message
  }

  private func expectTombstone(_ message: Message?, at moment: Int64, from sender: MemberID) throws
  {
    let stone = try #require(message)
    #expect(stone.isRetracted && stone.id == "m" && stone.sender == sender)
    #expect(stone.serverTimestamp == time(moment) && stone.sequence == 1)
    #expect(stone.localTime == time(moment - 1))
    #expect(stone.text == "" && stone.replyTo == nil && stone.mentions == [])
    #expect(stone.reactions == [] && stone.attachments == [] && stone.editedAt == nil)
    #expect(!stone.hasHistory && stone.failure == nil)
  }

  /// How late it is only the server knows: what it has told is all that counts.
  @Test(arguments: [0, 1_000, .max] as [Int64])
  func oneMayTakeBackForADayByTheServersTimes(clock: Int64) throws {
    let store = try TestClock(clock).store()
    try store.write { chat in
      for id: MessageID in ["a", "b", "c", "f"] {
        try chat.insert(message(id, at: id == "f" ? 1_001 : 1_000, from: "me"))
      }
      try chat.insert(message("newest", at: 1_000 + Self.day))
      #expect(try chat.retract("a", in: "room"))
      try chat.insert(message("later", at: 1_001 + Self.day))
      #expect(throws: StoreError.message(.tooOldToRetract, "b", in: "room")) {
        try chat.retract("b", in: "room")
      }
      #expect(try chat.retract("f", in: "room"))
      // What was received is kept at any age.
      #expect(try chat.receiveRetraction(of: "c", in: "room"))
      #expect(try chat.message("c", in: "room")?.isRetracted == true)
      #expect(try chat.message("b", in: "room")?.isRetracted == false)
    }
    try store.expectSound()
  }

  @Test func howOldAMessageMayBeIsAnOption() throws {
    for (limit, isAllowed) in [(Duration?.none, true), (.seconds(9), false), (.seconds(10), true)] {
      let store = try TestClock().store { $0.maximumRetractionAge = limit }
      try store.write { chat in
        try chat.insert(message("m", at: 1_000_000, from: "me"))
        try chat.insert(message("n", at: 11_000_000))
        if isAllowed {
          #expect(try chat.retract("m", in: "room"))
        } else {
          #expect(throws: StoreError.message(.tooOldToRetract, "m", in: "room")) {
            try chat.retract("m", in: "room")
          }
        }
      }
    }
  }

  /// Where no outbox knows that it has not left, the message stays, erased.
  @Test func aPendingMessageIsTakenBackAtAnyAge() throws {
    let clock = TestClock(0)
    let store = try clock.store { $0.outbox.isEnabled = false }
    try store.write { chat in
      try chat.send(own("m", "secret"))
      try chat.edit("m", in: "room", text: "more secret")
      clock.set(100 * Self.day)
      #expect(try chat.retract("m", in: "room"))
    }
    let stone = try #require(try store.message("m"))
    #expect(stone.isRetracted && stone.text == "" && stone.retractedAt == time(100 * Self.day))
    #expect(try store.history("m") == [])
    try store.expectSound()
  }

  @Test func onlyOnesOwnMessagesAreTakenBack() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(message("m", at: 1))
      #expect(throws: StoreError.message(.notOwn, "m", in: "room")) {
        try chat.retract("m", in: "room")
      }
      #expect(throws: StoreError.message(.notFound, "n", in: "room")) {
        try chat.retract("n", in: "room")
      }
      try chat.receiveRetraction(of: "m", in: "room")
    }
  }

  @Test func whatIsTakenBackIsHiddenAtOnceAndAConfirmationEndsIt() throws {
    let store = try TestClock(100).store()
    try store.write { chat in
      try chat.insert(full("m", at: 50))
      try chat.receiveEdit(of: "m", in: "room", text: "secret too", at: time(60))
      #expect(try chat.retract("m", in: "room"))
      let hidden = try #require(try chat.message("m", in: "room"))
      #expect(hidden.isRetracted && hidden.text == "" && hidden.attachments == [])
      #expect(hidden.syncStatus == .pending)
      let preview = try chat.conversation("room")?.preview
      #expect(preview?.isRetracted == true && preview?.text == "" && preview?.attachment == nil)
      #expect(throws: StoreError.message(.retracted, "m", in: "room")) {
        try chat.retract("m", in: "room")
      }
      #expect(try chat.confirmRetraction(of: "m", in: "room"))
      #expect(try !chat.confirmRetraction(of: "m", in: "room"))
    }
    try expectTombstone(try store.message("m"), at: 50, from: "me")
    #expect(try store.message("m")?.syncStatus == .synced)
    #expect(try store.history("m") == [])
    try store.expectSound()
  }

  @Test func aRefusedRetractionShowsTheMessageAgainWithTheReason() throws {
    let store = try TestClock(100).store()
    let reason = SendFailure(.notFound, text: "gone")
    try store.write { chat in
      try chat.insert(full("m", at: 50))
      try chat.receiveEdit(of: "m", in: "room", text: "newer", at: time(60))
      let before = try #require(try chat.message("m", in: "room"))
      try chat.retract("m", in: "room")
      #expect(try chat.refuseRetraction(of: "m", in: "room", because: reason))
      #expect(try !chat.refuseRetraction(of: "m", in: "room", because: reason))
      var after = try #require(try chat.message("m", in: "room"))
      #expect(after.failure == reason && after.syncStatus == .synced)
      after.failure = nil
      #expect(after == before)
      #expect(try chat.conversation("room")?.preview?.text == "newer")
    }
    #expect(try store.history("m") == ["secret"])
    try store.expectSound()
  }

  @Test func aTombstoneStaysOneWhateverIsDeliveredAfterwards() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.insert(full("m", at: 50, from: "you"))
      #expect(try chat.receiveRetraction(of: "m", in: "room", at: time(70)))
      #expect(try !chat.receiveRetraction(of: "m", in: "room", at: time(70)))
      #expect(try chat.insert(full("m", at: 50, from: "you")) == .duplicate)
      #expect(try !chat.receiveEdit(of: "m", in: "room", text: "again", at: time(99)))
      #expect(
        try !chat.receive(Reaction("👍", from: "ann", at: time(99)), to: "m", in: "room"))
    }
    try expectTombstone(try store.message("m"), at: 50, from: "you")
    #expect(try store.message("m")?.retractedAt == time(70))
    try store.expectSound()
  }

  @Test func aRetractionThatComesFirstLeavesNothingOfTheMessage() throws {
    let store = try memoryStore()
    try store.write { chat in
      try chat.receiveEdit(of: "m", in: "room", text: "newer secret", at: time(60))
      #expect(try chat.receiveRetraction(of: "m", in: "room"))
      #expect(try !chat.receiveEdit(of: "m", in: "room", text: "another", at: time(61)))
      try chat.insert(full("m", at: 50, from: "you"))
    }
    try expectTombstone(try store.message("m"), at: 50, from: "you")
    #expect(try store.preview?.isRetracted == true)
    try store.expectSound()
  }
}
