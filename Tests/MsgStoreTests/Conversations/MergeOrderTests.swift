import MsgStore
import Testing

/// A conversation that was made here becomes another one of the server's: what was told of their
/// messages before and after that comes to the same.
struct MergeOrderTests {
  private static let merge: ToldFact = { _ = try $0.renameConversation("made", to: "room") }

  private static func make(_ rest: @escaping ToldFact) -> ToldFact {
    { chat in
      _ = try chat.createGroup("made", participants: ["bob"])
      try rest(chat)
    }
  }

  @Sendable private static func room(_ chat: borrowing StoreWriter) throws {
    var told = ReceivedConversation("room", at: time(0))
    told.kind = .group
    told.members = [.init("me"), .init("bob")]
    try chat.receive(told)
  }

  @Sendable private static func send(_ chat: borrowing StoreWriter) throws {
    try chat.send(Message(id: "p", in: "made", from: "me", text: "x", localTime: time(1)))
  }

  /// The deletion that comes over gives the other conversation a new number, while the message on
  /// its way moves there.
  @Test(arguments: [false, true])
  func aDeletionComesOverWithAMessageOnItsWay(isAcknowledged: Bool) throws {
    let facts: [ToldFact] = [
      { _ = try $0.receiveConversationDeletion("made", at: time(60)) },
      { chat in
        if isAcknowledged {
          _ = try chat.acknowledge("p", in: "room", serverTimestamp: time(50), as: "s")
        } else {
          _ = try chat.insert(chatMessage("p", in: "room", at: 50, from: "me"))
        }
      },
      Self.merge,
    ]
    let seen = try outcomes(after: [Self.make(Self.send)], of: facts) { chat in
      try "\(chat.conversations(count: 9).map(\.id)) \(chat.outbox.counts().total) entries"
    }
    #expect(seen.count == 1, "\(seen)")
  }

  @Test func aReceiptMovesWithItsMessage() throws {
    let acts = [
      Self.make { chat in
        try Self.send(chat)
        try chat.acknowledge("p", in: "made", serverTimestamp: time(80))
      }
    ]
    let facts: [ToldFact] = [
      { _ = try $0.acknowledge("p", in: "room", serverTimestamp: time(80), as: "s") },
      { _ = try $0.receive(ReceivedReceipt(in: "made", of: "bob", .read, .upTo("p"))) },
      Self.merge,
    ]
    let seen = try outcomes(after: acts, of: facts) { chat in
      let message = try #require(try chat.message("p", in: "room"))
      return try "\(message.status) \(chat.delivery(of: "p", in: "room")?.readCount ?? -1)"
    }
    #expect(seen == ["read 1"])
  }

  @Test func aReceiptMovesWithAMessageThatBecomesAnother() throws {
    let acts = [
      Self.make { chat in
        try Self.send(chat)
        try chat.acknowledge("p", in: "made", serverTimestamp: time(80))
      }
    ]
    let facts: [ToldFact] = [
      { chat in
        var copy = chatMessage("s", in: "room", at: 80, from: "me")
        copy.text = "x"
        try chat.insert(copy)
      },
      { _ = try $0.acknowledge("p", in: "room", serverTimestamp: time(80), as: "s") },
      { _ = try $0.receive(ReceivedReceipt(in: "made", of: "bob", .read, .upTo("p"))) },
      Self.merge,
    ]
    let seen = try outcomes(after: acts, of: facts) { chat in
      let message = try #require(try chat.message("p", in: "room"))
      return try "\(message.id) \(message.status) \(chat.thread("room").tail(9).count)"
    }
    #expect(seen == ["p read 1"])
  }

  @Test func whatTheLocalMemberHasReadElsewhereMovesWithItsMessage() throws {
    let acts = [
      Self.make { chat in
        try Self.room(chat)
        try chat.insert(chatMessage("n", in: "made", at: 80))
      }
    ]
    let facts: [ToldFact] = [
      { _ = try $0.acknowledge("n", in: "room", serverTimestamp: time(80), as: "z") },
      { _ = try $0.receive(ReceivedReceipt(in: "made", of: "me", .read, .upTo("n"))) },
      Self.merge,
    ]
    let unread = try outcomes(after: acts, of: facts) { try $0.conversation("room")?.unreadCount }
    #expect(unread == [0])
  }

  @Test func aMessageKeepsItsOwnName() throws {
    let acts = [
      Self.make { chat in
        try chat.insert(chatMessage("n", in: "made", at: 25))
        try Self.room(chat)
      }
    ]
    let facts: [ToldFact] = [
      { chat in
        try chat.acknowledge("n", in: "room", serverTimestamp: time(25), as: "s")
        try chat.receive(Reaction("+", from: "bob", at: time(30)), to: "n", in: "room")
      },
      { try $0.insert(chatMessage("s", in: "made", at: 25)) },
      Self.merge,
    ]
    let seen = try outcomes(after: acts, of: facts) { chat in
      try chat.thread("room").tail(9).map { message in
        "\(message.id) \(message.serverName ?? "-") \(message.reactions.count)"
      }
    }
    #expect(seen == [["n s 1"]])
  }

  @Test func aPendingMessageGoesThatTheOtherConversationKnowsToBeDeleted() throws {
    let facts: [ToldFact] = [
      { _ = try $0.receiveConversationDeletion("room", at: time(80)) },
      { _ = try $0.acknowledge("p", in: "room", serverTimestamp: time(60)) },
      Self.merge,
    ]
    let seen = try outcomes(after: [Self.make(Self.send)], of: facts) { chat in
      try "\(chat.conversations(count: 9).map(\.id)) \(chat.thread("room").tail(9).map(\.id))"
        + " \(chat.outbox.entries(count: 9).entries.map(\.kind))"
    }
    #expect(seen == ["[] [] []"])
  }

  @Test func anEmptyConversationIsHiddenIfTheOtherWasDeleted() throws {
    let facts: [ToldFact] = [
      { _ = try $0.receiveConversationDeletion("room", at: time(80)) }, Self.merge,
    ]
    let listed = try outcomes(after: [Self.make { _ in }], of: facts) { chat in
      try chat.conversations(count: 9).map(\.id)
    }
    #expect(listed == [[]])
  }

  @Test func nothingIsLeftToTellOfAMessageThatIsGone() throws {
    let acts: [ToldFact] = [
      { chat in
        try Self.room(chat)
        try chat.insert(chatMessage("u", in: "room", at: 50))
        try chat.markRead("room")
        try chat.markDelivered("room")
      }
    ]
    let facts: [ToldFact] = [
      { try $0.insert(chatMessage("m", in: "room", at: 30)) },
      { _ = try $0.receiveConversationDeletion("room", at: time(60)) },
      { try $0.insert(chatMessage("n", in: "room", at: 90)) },
    ]
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2]] {
      let store = try TestClock().store()
      for act in acts + order.map({ facts[$0] }) { try store.write { try act($0) } }
      let lines = String(decoding: try store.lines(), as: UTF8.self)
      #expect(!lines.contains(#""message":"m""#), "\(order)")
      try store.expectSound()
    }
  }

  @Test func theListShowsTheFirstAttachmentOfTheMergedMessage() throws {
    @Sendable func message(in conversation: ConversationID, _ files: [String]) -> Message {
      var message = chatMessage("m", in: conversation, at: 35, text: "")
      message.attachments = files.map { MessageAttachment(id: $0, kind: .image, fileName: $0) }
      return message
    }
    let acts = [Self.make(Self.room)]
    let facts: [ToldFact] = [
      { try $0.insert(message(in: "room", ["a2", "a0"])) },
      { try $0.insert(message(in: "made", ["a0"])) },
      Self.merge,
    ]
    let seen = try outcomes(after: acts, of: facts) { chat in
      try chat.message("m", in: "room")?.attachments.map(\.id)
    }
    #expect(seen == [["a0", "a2"]])
  }
}
