import MsgStore
import PageFile
import Testing

/// Edits, reactions and taking back wait for their message.
struct OutboxRetractionTests {
  @Test func takingBackWhatNeverLeftTakesEverythingAway() throws {
    let store = try TestClock().outboxStore()
    try store.write {
      try $0.send(ownWithFiles("m", ["f"]))
      _ = try $0.edit("m", in: "room", text: "better")
      _ = try $0.react("👍", to: "m", in: "room")
      try $0.send(own("n"))
    }
    #expect(try store.counts("room").total == 5)
    #expect(try store.write { try $0.retract("m", in: "room") })
    #expect(try store.waiting == ["send n queued"])
    #expect(try store.message("m") == nil)
    #expect(try store.drain() == ["send n"])
    try store.expectSound()
  }

  @Test func whatIsBlockedGoesWithItsMessageToo() throws {
    let store = try TestClock().outboxStore()
    try store.write {
      try $0.send(ownWithFiles("m", ["f"]))
      _ = try $0.edit("m", in: "room", text: "better")
    }
    try store.fail(try store.take(), .invalid)
    #expect(
      try store.waiting == ["upload m failed", "send m queued, blocked", "edit m queued, blocked"])
    try store.write { _ = try $0.retract("m", in: "room") }
    #expect(try store.waiting == [])
    try store.expectSound()
  }

  @Test func deletingAMessageTakesItsEntriesAway() throws {
    let store = try TestClock().outboxStore()
    try store.write {
      try $0.send(ownWithFiles("m", ["f"]))
      _ = try $0.edit("m", in: "room", text: "better")
    }
    try store.fail(try store.take(), .invalid)
    try store.write { _ = try $0.delete("m", in: "room") }
    #expect(try store.waiting == [])
    try store.expectSound()
  }

  @Test func whatMayHaveLeftIsTakenBackBehindItself() throws {
    let clock = TestClock()
    let store = try clock.outboxStore()
    try store.write {
      try $0.send(own("m"))
      _ = try $0.edit("m", in: "room", text: "better")
    }
    let item = try store.take()
    try store.write { _ = try $0.retract("m", in: "room") }
    #expect(
      try store.waiting == ["send m running", "edit m queued, blocked", "retract m queued"])
    try store.fail(item, .timeOut)
    clock.advance(1)
    let again = try store.take()
    #expect(again.name == "send m" && again.token == item.token)
    try store.done(again)
    let retract = try store.take()
    #expect(retract.name == "retract m")
    try store.done(retract)
    #expect(try store.waiting == [], "nothing is left to be told of it")
    #expect(try store.message("m")?.isRetracted == true)
    try store.expectSound()
  }

  @Test func aSendThatWasGivenUpGoesAgainToBeTakenBack() throws {
    let store = try TestClock().outboxStore { $0.maximumAttemptCount = 1 }
    try store.write { try $0.send(own("m")) }
    try store.fail(try store.take(), .timeOut)
    #expect(try store.waiting == ["send m failed"])
    try store.write { _ = try $0.retract("m", in: "room") }
    #expect(try store.drain() == ["send m", "retract m"])
    try store.expectSound()
  }

  @Test func aSendThatWasRefusedNeverLeft() throws {
    let store = try TestClock().outboxStore()
    try store.write { try $0.send(own("m")) }
    try store.fail(try store.take(), .permission)
    try store.write { _ = try $0.retract("m", in: "room") }
    #expect(try store.waiting == [] && store.message("m") == nil)
    try store.expectSound()
  }

  @Test func whatTheServerHasIsTakenBackByTellingIt() throws {
    let clock = TestClock(100)
    let store = try clock.outboxStore()
    try store.write {
      try $0.insert(message("m", at: 1, from: "me"))
      _ = try $0.edit("m", in: "room", text: "better")
      _ = try $0.retract("m", in: "room")
    }
    #expect(try store.waiting == ["edit m queued, blocked", "retract m queued"])
    let item = try store.take()
    #expect(item.name == "retract m")
    // The server refuses: the message is shown again, and its edit goes.
    try store.write {
      _ = try $0.refuseRetraction(of: "m", in: "room", because: SendFailure(.permission))
    }
    #expect(try store.message("m")?.isRetracted == false)
    #expect(try !store.done(item))
    #expect(try store.drain() == ["edit m: better"])
    try store.expectSound()
  }

  @Test func anEditUnderWayWaitsForHowTakingBackEnds() throws {
    let clock = TestClock(100)
    let store = try clock.outboxStore()
    try store.write {
      try $0.insert(message("m", at: 1, from: "me"))
      _ = try $0.edit("m", in: "room", text: "better")
    }
    let edit = try store.take()
    try store.write { _ = try $0.retract("m", in: "room") }
    #expect(try store.waiting == ["edit m running", "retract m queued"])
    #expect(try store.next() == nil, "one after the other")
    clock.advance(61)
    let retract = try store.take()
    #expect(retract.name == "retract m")
    #expect(try store.waiting == ["edit m queued, blocked", "retract m running"])
    try store.write {
      try $0.outbox.returnWork(retract); try $0.outbox.remove(retract.id)
    }
    #expect(try store.message("m")?.isRetracted == false)
    let again = try store.take()
    #expect(again.name == "edit m: better" && again.token == edit.token)
    try store.done(again)
    try store.expectSound()
  }

  @Test func takingBackGoesOutAlsoWhenTheMessageIsDeletedHere() throws {
    let store = try TestClock(100).outboxStore()
    try store.write {
      try $0.insert(message("m", at: 1, from: "me"))
      _ = try $0.retract("m", in: "room")
      _ = try $0.delete("m", in: "room")
    }
    #expect(try store.drain() == ["retract m"])
    try store.expectSound()
  }

  @Test func editsAndReactionsWaitForTheirMessage() throws {
    let store = try TestClock().outboxStore()
    try store.write {
      try $0.send(own("m"))
      _ = try $0.edit("m", in: "room", text: "better")
      _ = try $0.react("👍", to: "m", in: "room")
      try $0.send(own("n"))
    }
    let id = try store.entryID(.send, "m")
    try store.write { _ = try $0.outbox.hold(id) }
    #expect(
      try store.waiting == [
        "send m held", "edit m queued, blocked", "react m queued, blocked", "send n queued",
      ])
    #expect(try store.drain() == ["send n"])
    try store.write { _ = try $0.outbox.release(id) }
    #expect(try store.drain() == ["send m", "edit m: better", "+👍 m"])
    try store.expectSound()
  }

  @Test func anEditIsSentWithTheTextItHadAndTheMessageWithItsFirst() throws {
    let store = try TestClock().outboxStore()
    try store.write {
      try $0.send(own("m", "one"))
      _ = try $0.edit("m", in: "room", text: "two")
      _ = try $0.edit("m", in: "room", text: "three")
    }
    let send = try store.take()
    guard case .send(let message) = send.task else { return #expect(Bool(false)) }
    #expect(message.text == "one")
    try store.done(send)
    #expect(try store.drain() == ["edit m: two", "edit m: three"])
    #expect(try store.message("m")?.text == "three")
    try store.expectSound()
  }

  @Test func aReactionThatIsUndoneBeforeItLeftIsNotTold() throws {
    let store = try TestClock().outboxStore()
    try store.write {
      try $0.insert(message("m", at: 1))
      _ = try $0.react("👍", to: "m", in: "room")
      _ = try $0.react("🎉", to: "m", in: "room")
      _ = try $0.removeReaction("👍", from: "m", in: "room")
    }
    let item = try store.take()
    #expect(item.name == "+🎉 m")
    // It may have left: both are told.
    try store.write { _ = try $0.removeReaction("🎉", from: "m", in: "room") }
    try store.done(item)
    #expect(try store.drain() == ["-🎉 m"])
    try store.expectSound()
  }

  @Test func takingBackDoesNotWaitForWhatIsSentUnderItsNameLater() throws {
    let store = try TestClock().outboxStore()
    try store.write {
      try $0.insert(message("mine", at: 2, from: "me"))
      _ = try $0.retract("mine", in: "room")
      _ = try $0.deleteConversation("room")
      try $0.outbox.setHoldsNewEntries(true)
      try $0.send(own("mine"))
    }
    #expect(
      try store.waiting == [
        "retract mine queued", "deleteConversation queued", "send mine held",
      ])
    try store.expectSound()
  }

  @Test func whenOthersTakeItBackNothingIsLeftToTell() throws {
    let store = try TestClock().outboxStore()
    try store.write {
      try $0.insert(message("m", at: 1))
      try $0.insert(message("mine", at: 2, from: "me"))
      _ = try $0.react("👍", to: "m", in: "room")
      _ = try $0.edit("mine", in: "room", text: "x")
      _ = try $0.receiveRetraction(of: "m", in: "room", at: time(3))
      _ = try $0.receiveRetraction(of: "mine", in: "room", at: time(3))
    }
    #expect(try store.waiting == [])
    try store.expectSound()
  }

  @Test(arguments: [true, false])
  func aFailedRetractionIsSettledThoughTheMessageIsGone(_ isDeletedFirst: Bool) throws {
    let store = try TestClock().outboxStore { $0.maximumAttemptCount = 1 }
    try store.write {
      try $0.insert(message("mine", at: 2, from: "me"))
      try $0.insert(message("later", at: 9))
      _ = try $0.retract("mine", in: "room")
    }
    try store.fail(try store.take())
    func delete() throws {
      try store.write { _ = try $0.receiveConversationDeletion("room", at: time(3)) }
    }
    if isDeletedFirst { try delete() }
    #expect(try store.waiting == ["retract mine failed"])
    try store.write { _ = try $0.receiveRetraction(of: "mine", in: "room", at: time(3)) }
    if !isDeletedFirst { try delete() }
    #expect(try store.waiting == [])
    try store.expectSound()
  }
}
