import MsgStore
import PageFile
import Testing

/// In order within a conversation, each conversation by itself.
struct OutboxOrderTests {
  @Test func aConversationGoesInTheOrderInWhichThingsWereDone() throws {
    let store = try TestClock().outboxStore()
    try store.write {
      try $0.insert(message("r", at: 1))
      try $0.send(own("a"))
      _ = try $0.react("👍", to: "r", in: "room")
      try $0.send(own("b"))
      _ = try $0.edit("a", in: "room", text: "better")
      _ = try $0.outbox.enter("poll", in: "room")
      try $0.send(own("c"))
    }
    #expect(
      try store.drain() == ["send a", "+👍 r", "send b", "edit a: better", "client poll", "send c"])
    #expect(try store.counts().total == 0 && store.waiting == [])
    try store.expectSound()
  }

  @Test func oneOfAConversationIsOutAtATime() throws {
    let store = try TestClock().outboxStore()
    try store.write {
      try $0.send(own("a1", in: "a"))
      try $0.send(own("a2", in: "a"))
      try $0.send(own("b1", in: "b"))
      _ = try $0.outbox.enter("x")
      _ = try $0.outbox.enter("y")
    }
    let first = try store.take()
    let second = try store.take("other")
    let third = try store.take()
    #expect([first, second, third].map(\.name) == ["send a1", "send b1", "client x"])
    #expect(try store.next() == nil)
    #expect(try store.counts() == OutboxCounts(queued: 2, running: 3))
    try store.done(first)
    #expect(try store.take().name == "send a2")
    try store.done(third)
    #expect(try store.take().name == "client y")
    try store.expectSound()
  }

  @Test func aMessageWaitsForItsUploadsAndHoldsTheOthersBack() throws {
    let store = try TestClock().outboxStore()
    try store.write {
      try $0.send(ownWithFiles("m", ["f", "g"]))
      try $0.send(own("n"))
    }
    #expect(try store.waiting.count == 4)
    let (f, g) = (try store.take(), try store.take())
    #expect([f.name, g.name] == ["upload f", "upload g"])
    #expect(try store.next() == nil)
    guard case .upload(let state) = f.task else { return #expect(Bool(false)) }
    #expect(state.upload == .running(doneByteCount: 0) && state.message == "m")
    try store.done(g)
    #expect(try store.next() == nil)
    try store.done(f)
    #expect(try store.drain() == ["send m", "send n"])
    try store.expectSound()
  }

  @Test func uploadsThatNeedNotBeMadeAreNotEntered() throws {
    let store = try TestClock().outboxStore()
    var forwarded = ownWithFiles("m", ["f"])
    forwarded.attachments[0].remoteURL = "https://there"
    try store.write { try $0.send(forwarded) }
    #expect(try store.drain() == ["send m"])
    // An upload that somebody else says is done lets its message go too.
    try store.write {
      try $0.send(ownWithFiles("n", ["f"]))
      try $0.setTransfer(.upload, to: .done, of: "f", message: "n", in: "room")
    }
    #expect(try store.drain() == ["send n"])
    try store.expectSound()
  }

  @Test func anUploadGoesOnFromWhereItWas() throws {
    let clock = TestClock()
    let store = try clock.outboxStore()
    try store.write { try $0.send(ownWithFiles("m", ["f"])) }
    let item = try store.take()
    try store.reportProgress(.upload, doneByteCount: 40, of: "f", message: "m", in: "room")
    try store.fail(item)
    func upload() throws -> AttachmentTransfer? {
      try store.read { try $0.attachments(of: "m", in: "room").first?.upload }
    }
    #expect(try upload() == .queued, "nobody runs it now")
    clock.advance(1)
    let again = try store.take()
    guard case .upload(let state) = again.task else { return #expect(Bool(false)) }
    #expect(state.upload == .running(doneByteCount: 40) && again.token == item.token)
    #expect(try store.write { try $0.outbox.returnWork(again) })
    #expect(try upload() == .queued)
    let last = try store.take()
    try store.done(last)
    #expect(try upload() == .done)
    try store.expectSound()
  }

  @Test func theConversationIsMadeBeforeAnythingElse() throws {
    let clock = TestClock()
    let store = try clock.outboxStore()
    try store.write {
      _ = try $0.createGroup("g", participants: ["you", "ann"], title: "T")
      try $0.send(own("m", in: "g"))
      // The server will be told of these when it is told of the group.
      _ = try $0.setTitle("U", of: "g")
      _ = try $0.addParticipants(["bob"], to: "g")
    }
    #expect(try store.waiting == ["createConversation queued", "send m queued"])
    let item = try store.take()
    guard case .createConversation(let group) = item.task else { return #expect(Bool(false)) }
    #expect(group.title == "U" && Set(group.participants) == ["me", "you", "ann", "bob"])
    // Now the server may know it.
    try store.write {
      _ = try $0.setTitle("V", of: "g")
      _ = try $0.removeParticipants(["bob"], from: "g")
    }
    try store.fail(item, .invalid)
    #expect(try store.next() == nil, "nothing goes before, also when it has failed")
    #expect(try store.entries().dropFirst().allSatisfy(\.isBlocked))
    #expect(try store.write { try $0.outbox.retry(item.id) })
    #expect(
      try store.drain() == ["create g", "send m", "title V", "members -bob"])
    try store.expectSound()
  }

  @Test func aConversationThatIsHeldHoldsAllBack() throws {
    let store = try TestClock().outboxStore()
    try store.write {
      _ = try $0.createGroup("g", participants: ["you", "ann"], title: nil)
      try $0.send(own("m", in: "g"))
      try $0.send(own("other"))
    }
    let creation = try store.entryID(.createConversation)
    #expect(try store.write { try $0.outbox.hold(creation) })
    #expect(try store.drain() == ["send other"])
    #expect(
      try store.waiting == ["createConversation held", "send m queued, blocked"])
    #expect(try store.write { try $0.outbox.release(creation) })
    #expect(try store.drain() == ["create g", "send m"])
  }
}
