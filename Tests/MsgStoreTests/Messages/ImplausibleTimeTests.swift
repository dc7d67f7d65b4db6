import MsgStore
import MsgStoreTools
import Testing

/// Times that cannot be, above all milliseconds that were read as seconds, are refused and named.
struct ImplausibleTimeTests {
  private static let mistaken = Timestamp(seconds: 1_704_067_200_000)
  private static let odd = [
    mistaken, time(-1), time(.min), time(.max), time(7_258_118_400_000_000),
  ]

  private struct Act: Sendable {
    let name: String
    let run: @Sendable (borrowing StoreWriter, Timestamp) throws -> Void

    init(
      _ name: String, _ run: @escaping @Sendable (borrowing StoreWriter, Timestamp) throws -> Void
    ) {
      self.name = name
      self.run = run
    }
  }

  private static func new(_ change: (inout Message) -> Void) -> Message {
    var new = message("n", at: 5)
    change(&new)
    return new
  }

  private static let acts = [
    Act("a server time") { try $0.insert(message("n", at: $1.microseconds)) },
    Act("a local time") { try $0.insert(message("n", at: 5, local: $1.microseconds)) },
    Act("an edit in a copy") { (chat, time) in
      try chat.insert(new { $0.editedAt = time })
    },
    Act("a delivery in a copy") { (chat, time) in
      try chat.insert(new { $0.deliveredAt = time })
    },
    Act("a reading in a copy") { (chat, time) in
      try chat.insert(new { $0.readAt = time })
    },
    Act("a reaction in a copy") { (chat, time) in
      try chat.insert(new { $0.reactions = [Reaction("👍", from: "ann", at: time)] })
    },
    Act("the time of an attachment's address") { (chat, time) in
      try chat.receive(
        MessageAttachment(id: "a", kind: .image, remoteURL: "u", remoteURLAt: time), of: "m",
        in: "room")
    },
    Act("a batch") { (chat, time) in
      try chat.insert(contentsOf: [message("n", at: 5), message("o", at: time.microseconds)])
    },
    Act("a local time to be sent") { try $0.send(own("n", at: $1.microseconds)) },
    Act("an acknowledgement") {
      try $0.acknowledge("mine", in: "room", serverTimestamp: $1)
    },
    Act("a status") { _ = try $0.receiveStatus(.read, of: "m", in: "room", at: $1) },
    Act("an edit") { _ = try $0.receiveEdit(of: "m", in: "room", text: "x", at: $1) },
    Act("a retraction") { _ = try $0.receiveRetraction(of: "m", in: "room", at: $1) },
    Act("a reaction") {
      _ = try $0.receive(Reaction("👍", from: "ann", at: $1), to: "m", in: "room")
    },
    Act("a tag") { _ = try $0.receiveTag(.pinned, of: "m", in: "room", at: $1) },
    Act("a receipt") {
      _ = try $0.receive(ReceivedReceipt(in: "room", of: "ann", .read, .upTo("m"), time: $1))
    },
    Act("a version of a conversation") { (chat, time) in
      _ = try chat.receive(ReceivedConversation("room", at: time) { $0.title = .text("x") })
    },
    Act("the creation of a conversation") { (chat, time) in
      _ = try chat.receive(
        ReceivedConversation("room", at: Timestamp(microseconds: 9)) { $0.createdAt = time })
    },
    Act("the end of a mute") {
      try $0.insert(message("m", at: 5))
      try $0.setMuted(true, of: "room", until: $1)
    },
    Act("the end of a received mute") { (chat, time) in
      _ = try chat.receive(
        ReceivedConversation("room", at: Timestamp(microseconds: 9)) {
          $0.isMuted = true
          $0.mutedUntil = time
        })
    },
    Act("a joining") { (chat, time) in
      _ = try chat.receive(
        ReceivedConversation("room", at: Timestamp(microseconds: 9)) {
          $0.members = [.init("eve", joinedAt: time)]
        })
    },
    Act("a draft") { (chat, time) in
      _ = try chat.receive(
        ReceivedConversation("room", at: Timestamp(microseconds: 9)) {
          $0.draft = Draft(text: "x", time: time)
        })
    },
    Act("an own field in a copy") { (chat, time) in
      try chat.insert(new { $0.ownFields = [OwnField("a", [1], at: time)] })
    },
    Act("an own field of a message") {
      try $0.receive([OwnField("a", [1], at: $1)], of: .message("m", in: "room"))
    },
    Act("the kind of a conversation") {
      try $0.receive([.kind("call", at: $1)], of: .conversation("room"))
    },
    Act("an own field of a member") {
      try $0.receive([OwnField("a", nil, at: $1)], of: .member("ann"))
    },
    Act("a deletion") { _ = try $0.receiveConversationDeletion("room", at: $1) },
  ]

  private func filled() throws -> MessageStore {
    let store = try TestClock().store()
    try store.write { chat throws in
      try chat.insert(message("m", at: 5))
      try chat.send(own("mine"))
    }
    return store
  }

  @Test func aTimeThatCannotBeIsRefusedWhereverItComesFromAndStoresNothing() throws {
    let store = try filled()
    for act in Self.acts {
      for odd in Self.odd {
        let hasCommitted = try store.commits { chat throws in
          #expect(throws: StoreError.input(.implausibleTime(odd)), "\(act.name), \(odd)") {
            try act.run(chat, odd)
          }
        }
        #expect(!hasCommitted, "\(act.name), \(odd)")
      }
    }
    #expect(try store.tail == ["m", "mine"])
    try store.expectSound()
  }

  @Test func theFirstAndTheLastPlausibleTimeAreTaken() throws {
    for time in [Timestamp.plausibleRange.lowerBound, Timestamp.plausibleRange.upperBound] {
      for act in Self.acts {
        let store = try filled()
        #expect(throws: Never.self, "\(act.name), \(time)") {
          try store.write { chat in try act.run(chat, time) }
        }
        try store.expectSound()
      }
    }
  }

  @Test func ofABatchTheMistakenOnesAreNamedAndTheOthersStored() throws {
    let store = try filled()
    let batch = try store.write { chat throws in
      try chat.insertSkippingInvalid(
        contentsOf: [
          message("a", at: 6), message("b", at: Self.mistaken.microseconds), message("c", at: 7),
        ])
    }
    #expect(batch.refusals.map(\.id) == ["b"] && batch.refusals.map(\.index) == [1])
    #expect(batch.refusals.first?.reason == .input(.implausibleTime(Self.mistaken)))
    #expect(try store.tail == ["m", "a", "c", "mine"])
    let text = "\(StoreError.input(.implausibleTime(Self.mistaken)))"
    #expect(text.contains("implausible") && text.contains("unit"))
    try store.expectSound()
  }

  /// Such a message would lead its list in the new store, too.
  @Test func exportsWithThemAreRefused() throws {
    for odd in Self.odd where (odd.microseconds % 1000) == 0 {
      let milliseconds = odd.microseconds / 1000
      let lines = [
        #"{"kind":"store","local_member":"me"}"#, #"{"kind":"conversation","id":"room"}"#,
        #"{"kind":"message","conversation":"room","id":"m","sender":"you","timestamp_ms":5,"text":"t"}"#,
        #"{"kind":"reaction","conversation":"room","message":"m","member":"ann","emoji":"👍","time_ms":\#(milliseconds)}"#,
      ]
      let text = Array((lines.joined(separator: "\n") + "\n").utf8)
      let error = #expect(throws: StoreToolError.self) { try MessageStore.restored(from: text) }
      #expect("\(error.map(String.init(describing:)) ?? "")".hasPrefix("line 4, byte"))
      // Whoever has no other export gets the nearest time.
      let store = try MessageStore.restored(from: text, isLenient: true)
      let reactions = try store.read { try $0.reactions(to: "m", in: "room") }
      #expect(reactions == [Reaction("👍", from: "ann", at: odd.nearestPlausible)])
    }
  }

  /// Whatever the clock showed while they were made.
  @Test(arguments: [Int64.min, -1, 315_360_000_000_000_000, .max])
  func exportsOfAStoreWithAWildClockAreRestored(clock: Int64) throws {
    let store = try TestClock(clock).store { $0.createsConversationsOnSend = true }
    try store.write { chat throws in
      _ = try chat.createGroup("g", participants: ["bob"], title: "T")
      for name in ["a", "b", "c"] { _ = try chat.send(own(MessageID(name), in: "g")) }
      try chat.insert(chatMessage("theirs", in: "g", at: 1))
      try chat.insert(chatMessage("next", in: "g", at: 2))
      _ = try chat.setTag(.starred, of: "theirs", in: "g")
      _ = try chat.markRead(["theirs"], in: "g")
      _ = try chat.markRead("g")
      _ = try chat.retract("b", in: "g")
      _ = try chat.setTitle("U", of: "g")
      try chat.setDraft("draft", in: "g")
    }
    for _ in 0..<3 {
      guard let item = try store.write({ try $0.outbox.next(for: "w") }) else { break }
      _ = try store.write { try $0.outbox.fail(item, because: SendFailure(.timeOut)) }
    }
    try store.expectSound()
    let again = try MessageStore.restored(from: try store.lines())
    #expect(try again.lines() == (try MessageStore.restored(from: again.lines())).lines())
    try again.expectSound()
  }

  @Test func anAnswerWithATimeThatCannotBeLeavesTheWorkOut() throws {
    let store = try filled()
    let item = try #require(try store.write { try $0.outbox.next(for: "w") })
    try store.write { chat throws in
      #expect(throws: StoreError.input(.implausibleTime(Self.mistaken))) {
        try chat.outbox.complete(item, serverTime: Self.mistaken)
      }
      #expect(try chat.outbox.counts().running == 1)
      #expect(try chat.outbox.complete(item))
    }
    try store.expectSound()
  }

  /// Else the server's copy, which has the time of the client, would be refused.
  @Test(arguments: [Int64.min, -1, .max]) func aClockThatIsFarOffStopsNobody(clock: Int64) throws {
    let store = try TestClock(clock).store()
    let sent = try store.write { try $0.send(own("n")) }
    #expect(try Timestamp.plausibleRange.contains(#require(sent.localTime)))
    var echo = sent
    echo.serverTimestamp = time(5)
    #expect(try store.write { try $0.insert(echo) } == .acknowledged)
    try store.expectSound()
  }
}
