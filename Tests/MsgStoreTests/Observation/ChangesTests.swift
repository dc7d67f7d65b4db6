import MsgStore
import PageFile
import Testing

/// What is told of single commits, and of several as one.
struct ChangesTests {
  /// A store in which "room" has "m1" and "m2", and who listens to it.
  private func listened() throws -> (MessageStore, ChangeSequence.Iterator) {
    let store = try memoryStore()
    try store.write { chat in
      try chat.putConversation("room", participants: ["me", "you"])
      try chat.insert(message("m1", at: 10))
      try chat.insert(message("m2", at: 20, from: "me"))
    }
    return (store, store.changes.makeAsyncIterator())
  }

  @Test func aMessageThatComesIsTold() throws {
    let (store, changes) = try listened()
    try store.write { try $0.insert(message("m3", at: 30)) }
    let told = try #require(changes.nextIfThere())
    #expect(told.hasCounterChanges)
    #expect(!told.hasOutboxChanges && !told.coversEverything)
    #expect(Array(told.conversations.keys) == ["room"])
    let room = try #require(told.conversations["room"])
    #expect(room.messages.mapValues(\.kind) == ["m3": .inserted])
    #expect(room.entry?.from != nil && room.entry?.to != nil)
    #expect(changes.nextIfThere() == nil)
  }

  @Test func whatIsDifferentOfAMessageIsTold() throws {
    let (store, changes) = try listened()
    func parts(
      _ id: MessageID, _ body: (borrowing StoreWriter) throws -> Void
    ) throws -> MessageChange.Parts? {
      try store.write { try body($0) }
      return changes.nextIfThere()?.conversations["room"]?.messages[id]?.parts
    }
    #expect(
      try parts("m1") {
        try $0.receiveEdit(of: "m1", in: "room", text: "other", at: time(50))
      } == .text)
    #expect(
      try parts("m1") {
        try $0.receive(Reaction("👍", from: "you", at: time(9)), to: "m1", in: "room")
      } == .reactions)
    #expect(
      try parts("m1") {
        try $0.receive(MessageAttachment(id: "a", kind: .image), of: "m1", in: "room")
      } == .attachments)
    #expect(
      try parts("m1") {
        try $0.setLocalPath("/tmp/a", of: "a", message: "m1", in: "room")
      } == .attachments)
    #expect(try parts("m2") { try $0.setStatus(.delivered, of: "m2", in: "room") } == .status)
    #expect(
      try parts("m2") {
        try $0.receive(receipt("you", .delivered, ["m2"]))
      } == .delivery)
    #expect(
      try parts("m1") {
        try $0.receiveRetraction(of: "m1", in: "room", at: time(60))
      }?.contains(.deletion) == true)
    let move = try store.write { chat in
      try chat.acknowledge("m1", in: "room", serverTimestamp: time(25), revision: 1)
      return true
    }
    let moved = changes.nextIfThere()?.conversations["room"]?.messages["m1"]
    #expect(move && moved?.kind == .moved && moved?.parts.contains(.place) == true)
  }

  @Test func aTransferThatGoesOnWhereItWasIsTold() throws {
    let directory = MemoryDirectory()
    let store = try memoryStore(directory)
    try store.write { chat in
      try chat.insert(message("m", at: 10))
      try chat.receive(MessageAttachment(id: "a", kind: .image), of: "m", in: "room")
      try chat.setTransfer(
        .download, to: .running(doneByteCount: 7), of: "a", message: "m", in: "room")
    }
    let after = try memoryStore(directory.copy())
    let changes = after.changes.makeAsyncIterator()
    func state() throws -> AttachmentTransfer? {
      try after.read { try $0.attachments(of: "m", in: "room").first?.download }
    }
    #expect(try state() == .queued)
    #expect(
      try after.write {
        try $0.setTransfer(
          .download, to: .running(doneByteCount: 7), of: "a", message: "m", in: "room")
      })
    #expect(try state() == .running(doneByteCount: 7))
    #expect(changes.nextIfThere()?.conversations["room"]?.messages["m"]?.parts == .attachments)
    #expect(
      try !after.write {
        try $0.setTransfer(
          .download, to: .running(doneByteCount: 7), of: "a", message: "m", in: "room")
      })
    #expect(changes.nextIfThere() == nil)
    try after.close()
    try store.close()
  }

  @Test func aMarkOfSomebodyElseTellsBetweenWhichPlacesItMoves() throws {
    let (store, changes) = try listened()
    let position = try #require(try store.read { try $0.message("m2", in: "room") }).position
    try store.write { try $0.receive(receipt("you", .read, upTo: "m2")) }
    let range = changes.nextIfThere()?.conversations["room"]?.delivery
    #expect(range?.upperBound == position)
    // Told again it changes nothing.
    try store.write { try $0.receive(receipt("you", .read, upTo: "m2")) }
    #expect(changes.nextIfThere() == nil)
  }

  @Test func severalCommitsAreToldAsOne() throws {
    let (store, changes) = try listened()
    try store.write { try $0.insert(message("new", at: 30)) }
    try store.write { try $0.setStatus(.delivered, of: "m2", in: "room") }
    try store.write { try $0.receiveEdit(of: "new", in: "room", text: "!", at: time(50)) }
    try store.write { try $0.insert(message("short", at: 40)) }
    try store.write { try $0.delete("short", in: "room") }
    try store.write { try $0.delete("m1", in: "room") }
    let told = try #require(changes.nextIfThere()?.conversations["room"])
    // Somebody may have read the one that came and went.
    #expect(
      told.messages.mapValues(\.kind) == [
        "new": .inserted, "m2": .changed, "m1": .removed, "short": .removed,
      ])
    #expect(changes.nextIfThere() == nil)
  }

  @Test func movesAreToldAsOneFromTheFirstPlaceToTheLast() throws {
    let (store, changes) = try listened()
    let first = try #require(try store.read { try $0.message("m1", in: "room") }).position
    for (revision, moment) in [(1, Int64(30)), (2, 5), (3, 40)] {
      try store.write {
        try $0.acknowledge(
          "m1", in: "room", serverTimestamp: time(moment), revision: Int64(revision))
      }
    }
    let last = try #require(try store.read { try $0.message("m1", in: "room") }).position
    let told = changes.nextIfThere()?.conversations["room"]?.messages["m1"]
    #expect(told?.from == first && told?.to == last)
    #expect(told?.kind == .moved && told?.parts == [.place, .delivery])
  }

  @Test func tooManyMessagesBecomeAnyMessage() throws {
    let (store, changes) = try listened()
    let count = ConversationChanges.maximumMessageCount + 1
    for round in 0..<2 {
      try store.write { chat in
        for index in 0..<count / 2 + 1 {
          try chat.insert(message(MessageID("n\(round)-\(index)"), at: Int64(100 + index)))
        }
      }
    }
    let told = try #require(changes.nextIfThere()?.conversations["room"])
    #expect(told.coversAllMessages && told.messages.isEmpty)
  }

  /// A later mark with an earlier time gives that time to messages that were read before.
  @Test func messagesThatAReceiptGivesAnEarlierTimeAreTold() throws {
    for isLater in [true, false] {
      let (store, changes) = try listened()
      try store.write { chat in
        try chat.putConversation("room", participants: ["me", "you"])
        for index in 1...3 as ClosedRange<Int64> {
          try chat.insert(message(MessageID("x\(index)"), at: 100 + index, from: "me"))
        }
        try chat.receive(receipt("you", .read, upTo: "x1", at: 60))
        try chat.receive(receipt("you", .read, upTo: "x2", at: 70))
      }
      _ = changes.nextIfThere()
      let before = try store.message("x1")
      try store.write { chat in
        _ = try chat.receive(receipt("you", .read, upTo: "x3", at: isLater ? 80 : 50))
      }
      let told = try #require(changes.nextIfThere()?.conversations["room"]?.delivery)
      let after = try #require(try store.message("x1"))
      #expect(after.readAt == time(isLater ? 60 : 50))
      #expect(told.contains(after.position) == (before != after))
      #expect(told.contains(try #require(try store.message("x3")).position))
      try store.close()
    }
  }

  @Test func tooManyConversationsBecomeAnything() throws {
    let (store, changes) = try listened()
    try store.write { chat in
      for index in 0...StoreChanges.maximumConversationCount {
        try chat.putConversation(ConversationID("room\(index)"), participants: ["me", "you"])
      }
    }
    #expect(changes.nextIfThere()?.coversEverything == true)
  }

  @Test func conversationsThatAreMadeRenamedAndDeletedAreTold() throws {
    let (store, changes) = try listened()
    try store.write { try $0.putConversation("new", participants: ["me", "you"]) }
    var entry = changes.nextIfThere()?.conversations["new"]?.entry
    #expect(entry?.from == nil && entry?.to != nil)
    try store.write { try $0.renameConversation("new", to: "server") }
    let renamed = try #require(changes.nextIfThere())
    #expect(renamed.conversations["new"]?.newID == "server")
    #expect(renamed.conversations["server"]?.coversAllMessages == true)
    entry = renamed.conversations["server"]?.entry
    #expect(entry?.from == nil && entry?.to != nil)
    entry = renamed.conversations["new"]?.entry
    #expect(entry?.from != nil && entry?.to == nil)
    try store.write { try $0.setTitle("title", of: "new") }
    #expect(changes.nextIfThere()?.conversations["server"]?.entry != nil)
    try store.write { try $0.setDraft("draft", replyTo: nil, in: "server") }
    #expect(changes.nextIfThere()?.conversations["server"]?.entry != nil)
    try store.write { try $0.deleteConversation("server") }
    let deleted = try #require(changes.nextIfThere()?.conversations["server"])
    #expect(deleted.entry?.to == nil && deleted.coversAllMessages)
  }

  @Test func whatIsEnteredInTheOutboxIsTold() throws {
    let (store, changes) = try listened()
    try store.write { try $0.send(message("mine", at: nil, from: "me")) }
    let told = try #require(changes.nextIfThere())
    #expect(told.hasOutboxChanges)
    #expect(told.conversations["room"]?.messages["mine"]?.kind == .inserted)
    // Handing work out changes the outbox alone.
    try store.write { chat in _ = try chat.outbox.next(for: "sync") }
    let handedOut = try #require(changes.nextIfThere())
    #expect(handedOut.hasOutboxChanges)
    #expect(handedOut.conversations["room"]?.messages["mine"]?.kind != .inserted)
  }

  @Test func whatChangesNothingIsNotTold() throws {
    let (store, changes) = try listened()
    try store.write { try $0.insert(message("m1", at: 10)) }
    #expect(throws: CancellationError.self) {
      try store.write { chat in
        try chat.insert(message("m9", at: 90))
        throw CancellationError()
      }
    }
    try store.compact()
    #expect(changes.nextIfThere() == nil)
  }

  @Test func whatConcernsNoConversationIsToldAsASetting() throws {
    let (store, changes) = try listened()
    let settings = StoreChanges(conversations: [:], hasSettingChanges: true)
    try store.write { try $0.setSyncPosition([1], for: "server") }
    #expect(changes.nextIfThere() == settings)
    // A fact about a message that is not here changes the number of those.
    try store.write {
      try $0.receive(Reaction("👍", from: "you", at: time(9)), to: "later", in: "room")
    }
    #expect(changes.nextIfThere() == settings)
    try store.write { try $0.insert(message("later", at: 30)) }
    #expect(changes.nextIfThere()?.conversations["room"]?.messages["later"]?.kind == .inserted)
  }

  @Test func whoListensFromTheMiddleOfAWriteIsToldThatAnythingMayHaveChanged() throws {
    let (store, _) = try listened()
    var changes: ChangeSequence.Iterator?
    try store.write { chat in
      changes = store.changes.makeAsyncIterator()
      try chat.insert(message("m3", at: 30))
    }
    #expect(changes?.nextIfThere()?.coversEverything == true)
  }

  @Test func afterResumingAnythingMayHaveChanged() throws {
    let (store, changes) = try listened()
    try store.suspend()
    try store.resume()
    #expect(changes.nextIfThere()?.coversEverything == true)
    try store.write { try $0.insert(message("m3", at: 30)) }
    #expect(changes.nextIfThere()?.conversations["room"]?.messages["m3"]?.kind == .inserted)
  }

  /// What has waited under a name turns out to be of a message that is called otherwise.
  @Test func whatHasWaitedUnderAnotherNameIsToldOfTheMessageAlone() throws {
    let (store, _) = try listened()
    try store.write { chat in
      try chat.receiveEdit(of: "m3", in: "room", text: "other", at: time(50))
    }
    let changes = store.changes.makeAsyncIterator()
    try store.write { chat in
      try chat.acknowledge("m2", in: "room", serverTimestamp: time(20), as: "m3")
    }
    let room = try #require(changes.nextIfThere()?.conversations["room"])
    #expect(Array(room.messages.keys) == ["m2"])
    #expect(try store.message("m3")?.text == "other")
  }
}
