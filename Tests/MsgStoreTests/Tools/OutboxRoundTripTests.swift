import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// What waits to go out travels with an export, and is held when it is restored.
struct OutboxRoundTripTests {
  private func export(_ store: MessageStore) throws -> String {
    var bytes: [UInt8] = []
    try StoreExport.records(of: store) { JSONLineWriter.append($0, to: &bytes) }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func restore(_ lines: String) throws -> MessageStore {
    let directory = MemoryDirectory()
    let restorer = Restorer(isLenient: false, numbersFromOrder: false, localMember: nil)
    try restorer.restore(JSONRecordReader(isLenient: false, source: source(of: Array(lines.utf8))))
    { options throws(StoreError) in
      try MessageStore(in: directory, name: "store", options: options)
    }
    return try MessageStore(in: directory, name: "store", options: StoreOptions())
  }

  private func entries(_ store: MessageStore) throws -> [OutboxEntry] {
    try store.read { try $0.outbox.entries(count: 100).entries }
  }

  /// A store with entries of all kinds, some of which were handed out.
  private func busyStore() throws -> MessageStore {
    let store = try TestClock(5_000_000).store()
    try store.write { chat in
      try chat.insert(message("m1", at: 1_000))
      try chat.insert(message("m2", at: 2_000))
      try chat.putConversation("team", participants: ["me", "you", "ann"])
      try chat.putConversation("old", participants: ["me", "you", "ann"])
      try chat.insert(
        Message(id: "x", in: "gone", from: "you", text: "hi", serverTimestamp: time(500)))
    }
    try store.write { chat in
      try chat.markRead("room")
      try chat.markDelivered("room", upTo: "m2")
      _ = try chat.findOrCreateConversation(with: ["me", "ann"])
      try chat.setTitle("Team", of: "team")
      try chat.setAvatar("ref", of: "team")
      try chat.addParticipants(["bob"], to: "team")
      try chat.removeParticipants(["ann"], from: "team")
      try chat.leave("old")
      try chat.deleteConversation("gone")
      var picture = own("p1", "with a picture")
      picture.attachments = [MessageAttachment(id: "a1", kind: .image, localPath: "/tmp/a")]
      try chat.send(picture)
      try chat.send(own("p2", "plain"))
      try chat.edit("p2", in: "room", text: "edited")
      try chat.react("👍", to: "m1", in: "room")
      try chat.setOwnField("stars", [5], of: .message("m1", in: "room"))
      try chat.setOwnKind("pinned", of: .message("m1", in: "room"))
      try chat.setOwnField("color", Array("red".utf8), of: .conversation("team"))
      try chat.setOwnField("nick", Array("Annie".utf8), of: .member("ann"))
      try chat.outbox.enter("work", payload: [1, 2, 255], in: "room")
      try chat.outbox.enter("store's own")
    }
    try store.write { chat in
      var items: [OutboxItem] = []
      while let item = try chat.outbox.next(for: "worker") { items.append(item) }
      for item in items {
        switch item.task {
        case .setTitle: try chat.outbox.fail(item, because: SendFailure(.permission, text: "no"))
        case .upload: try chat.outbox.fail(item, because: SendFailure(.timeOut))
        case .client: try chat.outbox.returnWork(item)
        default: break
        }
      }
    }
    return store
  }

  @Test func everyEntryComesBackInItsOrderAndHeld() throws {
    let store = try busyStore()
    try store.expectSound()
    let before = try entries(store)
    #expect(Set(before.map(\.kind)).count >= 16, "\(before.map(\.kind))")
    #expect(before.contains { if case .running = $0.state { true } else { false } })
    let lines = try export(store)
    let restored = try restore(lines)
    let after = try entries(restored)
    #expect(after.map(\.kind) == before.map(\.kind))
    #expect(after.map(\.token) == before.map(\.token))
    #expect(after.map(\.message) == before.map(\.message))
    #expect(after.map(\.conversation) == before.map(\.conversation))
    #expect(after.map(\.text) == before.map(\.text))
    #expect(after.map(\.created) == before.map(\.created))
    #expect(after.map(\.attemptCount) == before.map(\.attemptCount))
    #expect(after.map(\.failure) == before.map(\.failure))
    #expect(after.allSatisfy { $0.state == .held })
    try restored.expectSound()
    #expect(try restored.read { try $0.message("p2", in: "room")?.status } == .held)

    try store.holdOutbox()
    #expect(try export(restored) == export(store))
    #expect(try export(restore(export(restored))) == export(restored))
  }

  /// What the server may have had goes out under the token that it may have had.
  @Test func whatIsReleasedGoesOnWhereItWas() throws {
    let store = try busyStore()
    let restored = try restore(try export(store))
    let tokens = try entries(store).map(\.token)
    var done: [OutboxToken] = []
    try restored.write { chat in
      #expect(try chat.outbox.next(for: "worker") == nil)
      try chat.outbox.releaseAll()
    }
    while let item = try restored.write(.full, { try $0.outbox.next(for: "worker") }) {
      done.append(item.token)
      try restored.write { chat in
        if case .createConversation = item.task, let id = item.conversation {
          try chat.renameConversation(id, to: "new")
        }
        try chat.outbox.complete(item)
      }
    }
    #expect(Set(done).isSuperset(of: tokens))
    #expect(try entries(restored) == [])
    try restored.expectSound()
  }

  @Test func holdingIsKept() throws {
    let store = try memoryStore()
    try store.write { try $0.outbox.setHoldsNewEntries(true) }
    #expect(try export(store) == #"{"kind":"store","local_member":"me","holding":true}"# + "\n")
    let restored = try restore(try export(store))
    #expect(try restored.read { try $0.outbox.holdsNewEntries })
  }

  /// An export of a store that had no outbox says nothing of it.
  @Test func whatWaitsInAnOlderExportIsEntered() throws {
    let older = try export(try busyStore()).split(separator: "\n").filter { line in
      !line.contains(#""kind":"outbox""#)
    }.joined(separator: "\n")
    let restored = try restore(older)
    let entries = try entries(restored)
    #expect(entries.allSatisfy { $0.state == .held })
    #expect(
      entries.filter { $0.message != nil }.map(\.kind) == [.upload, .send, .send, .edit])
    #expect(Set(entries.map(\.kind)).isSuperset(of: [.readReceipt, .deliveredReceipt]))
    // The server may have had what was being sent.
    let sent = try #require(entries.first { $0.kind == .send && $0.message == "p2" })
    #expect(sent.attemptCount == (try busyStore().message("p2")?.status == .pending ? 0 : 1))
    try restored.expectSound()
    #expect(try export(restore(export(restored))) == export(restored))
  }

  @Test(arguments: [
    (
      #"{"kind":"outbox","task":"send","conversation":"c","message":"x"}"#,
      "nothing to tell the server"
    ),
    (
      #"{"kind":"outbox","task":"send","conversation":"c","message":"m"}"#,
      "nothing to tell the server"
    ),
    (
      #"{"kind":"outbox","task":"set title","conversation":"d"}"#,
      "nothing to tell the server"
    ),
    (#"{"kind":"outbox","task":"send","message":"m"}"#, #"the field "conversation" is missing"#),
    (#"{"kind":"outbox","task":"send","conversation":"c"}"#, #"the field "message" is missing"#),
    (#"{"kind":"outbox","task":"call"}"#, #"there is no task of the outbox "call""#),
    (
      #"{"kind":"outbox","task":"client","name":"n","token":"12"}"#,
      "token: expected 32 hexadecimal digits"
    ),
    (
      #"{"kind":"outbox","task":"client","name":"n","emoji":"👍"}"#,
      #"unknown field "emoji" of an entry of the outbox"#
    ),
    (#"{"kind":"outbox","task":"client","name":""}"#, "a name of work is empty"),
  ])
  func whatTellsOfNothingIsRefused(line: String, reason: String) throws {
    let message = #"{"conversation":"c","id":"m","sender":"s","text":"t","timestamp_ms":1}"#
    let error = #expect(throws: StoreToolError.self) { _ = try restore(message + "\n" + line) }
    #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
  }
}

extension MessageStore {
  /// Holds all that waits to go out, as it is in a store that was restored.
  func holdOutbox() throws {
    try write { chat in
      let entries = try chat.outbox.entries(count: 100_000).entries
      for case .running(let owner, _) in entries.map(\.state) {
        try chat.outbox.reclaimWork(of: owner)
      }
      for entry in entries { try chat.outbox.hold(entry.id) }
    }
  }
}
