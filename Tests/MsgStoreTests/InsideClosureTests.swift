import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// Calls of a store inside its own closures: each works, or is refused at once.
@Suite(.timeLimit(.minutes(30))) struct InsideClosureTests {
  private func store(_ clock: TestClock = TestClock()) throws -> MessageStore {
    let store = try memoryStore(clock: clock)
    try store.write { chat in
      for number in 0..<20 { try chat.insert(message(MessageID("m\(number)"), at: Int64(number))) }
    }
    return store
  }

  private func refuses(_ call: String, _ body: () throws -> Void) {
    #expect(throws: StoreError.storage(.insideTransaction(call: call))) { try body() }
  }

  @Test func whatWouldWaitForTheWriteIsRefusedInIt() throws {
    let store = try store()
    let sent = try store.send(own("before"))
    try store.write { chat in
      try chat.insert(message("new", at: 50))
      refuses("write") { try store.write { _ in } }
      refuses("write") { try store.write(.relaxed) { _ in } }
      refuses("write") { _ = try store.writeWithoutWaiting { _ in } }
      refuses("write") { _ = try store.send(own("inside")) }
      refuses("checkpoint") { try store.checkpoint() }
      refuses("compact") { try store.compact() }
      refuses("close") { try store.close() }
      // These wait for nobody.
      try store.resume()
      try sent.waitUntilDurable()
      #expect(try store.read { try $0.thread("room").tail(1).ids } == ["before"])
      #expect(try store.check() == [])
      try chat.insert(message("newer", at: 51))
    }
    #expect(try store.tail.suffix(3) == ["new", "newer", "before"])
    try store.expectSound()
    try store.close()
  }

  @Test func progressIsRefusedOnlyWhereItWouldBeStored() throws {
    let clock = TestClock()
    let store = try store(clock)
    let picture = MessageAttachment(id: "a", kind: .image, byteCount: 1000)
    try store.write { chat in
      try chat.insert(
        Message(
          id: "p", in: "room", from: "you", text: "", serverTimestamp: time(60),
          attachments: [picture]))
      _ = try chat.setTransfer(
        .download, to: .running(doneByteCount: 0), of: "a", message: "p", in: "room")
    }
    func report() throws {
      try store.reportProgress(.download, doneByteCount: 10, of: "a", message: "p", in: "room")
    }
    try store.write { _ in try report() }
    clock.advance(10)
    try store.write { _ in refuses("write") { try report() } }
    try report()
  }

  @Test(arguments: [true, false]) func aReadMayWriteCloseAndSuspend(closes: Bool) throws {
    let store = try store()
    let ids = try store.read { chat in
      let thread = try chat.thread("room")
      let before = try thread.tail(2).ids
      try store.write(.relaxed) { try $0.insert(message("new", at: 50)) }
      #expect(try thread.tail(2).ids == before)
      try store.checkpoint()
      if closes { try store.close() } else { try store.suspend() }
      // The moment is gone, and nobody waits for it.
      #expect(throws: StoreError.self) { try thread.tail(2) }
      return before
    }
    #expect(ids == ["m18", "m19"])
    if !closes {
      try store.resume()
      #expect(try store.tail.last == "new")
    }
  }

  /// The closure runs on a thread that closing waits for.
  @Test func closingInAnAsynchronousReadIsRefused() async throws {
    let store = try store()
    try await store.read { _ in
      let expected = StoreError.storage(.insideTransaction(call: "close"))
      #expect(throws: expected) { try store.close() }
    }
    try await store.write(.relaxed) { _ in
      let expected = StoreError.storage(.insideTransaction(call: "close"))
      #expect(throws: expected) { try store.close() }
    }
    #expect(try await store.read { try $0.thread("room").tail(1).ids } == ["m19"])
    try await store.close()
  }
}
