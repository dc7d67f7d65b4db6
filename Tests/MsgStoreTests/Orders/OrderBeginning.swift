import MsgStore

/// The acts of the local member, and what came, before any of the facts.
struct OrderBeginning: Sendable {
  let name: String
  /// The messages that are there, and that facts speak of.
  var messages: [MessageID] = []
  /// The kinds that this beginning needs, beside those that may come anywhere.
  var kinds: [OrderKind] = []
  /// True if two conversations become one.
  var merges = false
  /// True if the local member deletes the conversation.
  var hasDeleted = false
  /// True if the messages of the facts are the local member's own.
  var isOwn = false
  /// True if the local member has read up to a mark.
  var hasMark = false
  /// True if the work that was handed out is a receipt.
  var handsOutReceipt = false
  var maximumAttemptCount: Int?
  let act: @Sendable (borrowing StoreWriter, OrderHand) throws -> Void

  static let all: [OrderBeginning] = [
    OrderBeginning(name: "nothing") { _, _ in },
    OrderBeginning(
      name: "u at 50 was read up to here", messages: ["u"], hasMark: true
    ) { writer, _ in
      try writer.receive(group())
      try writer.insert(message("u", 50))
      try writer.markRead(orderRoom)
      try writer.markDelivered(orderRoom)
    },
    OrderBeginning(
      name: "p0 and p1 sent and handed out", messages: ["p0", "p1"], kinds: [.outcome]
    ) { writer, hand in
      try writer.receive(group())
      try writer.send(message("p0", nil, from: "me", "composed"))
      try writer.send(message("p1", nil, from: "me", "composed"))
      hand.items = try writer.outbox.next(for: "sync", maximumCount: 5)
    },
    OrderBeginning(
      name: "l1 made here, p0 sent in it", messages: ["p0"], kinds: [.rename, .outcome],
      merges: true
    ) { writer, hand in
      _ = try writer.createGroup(orderLocalRoom, participants: ["bob"], title: "T")
      try writer.send(
        Message(
          id: "p0", in: orderLocalRoom, from: "me", text: "composed", localTime: orderTime(1)))
      if let item = try writer.outbox.next(for: "sync") { hand.items.append(item) }
    },
    acted,
    OrderBeginning(
      name: "the conversation with d0 at 30 was deleted here, which was handed out",
      messages: ["d0"], kinds: [.outcome], hasDeleted: true
    ) { writer, hand in
      try writer.receive(group())
      try writer.insert(message("d0", 30))
      _ = try writer.deleteConversation(orderRoom)
      if let item = try writer.outbox.next(for: "sync") { hand.items.append(item) }
    },
    OrderBeginning(
      name: "q0 with a file sent, edited, reacted to; its upload was handed out",
      messages: ["q0"], kinds: [.outcome]
    ) { writer, hand in
      try writer.receive(group())
      var sent = message("q0", nil, from: "me", "composed")
      sent.attachments = [
        MessageAttachment(id: "a0", kind: .image, localPath: "/p", byteCount: 7)
      ]
      try writer.send(sent)
      _ = try writer.edit("q0", in: orderRoom, text: "edited")
      _ = try writer.react("+", to: "q0", in: orderRoom)
      try writer.setDraft("draft", replyTo: "q0", in: orderRoom)
      if let item = try writer.outbox.next(for: "sync") { hand.items.append(item) }
    },
    OrderBeginning(
      name: "v0 at 20 and v1 at 60, v1 read by its name, v0 starred; pinned and muted here",
      messages: ["v0", "v1"], kinds: [.outcome], handsOutReceipt: true
    ) { writer, hand in
      try writer.receive(group())
      try writer.insert(message("v0", 20))
      try writer.insert(message("v1", 60))
      try writer.markRead(["v1"], in: orderRoom)
      try writer.setTag(.starred, of: "v0", in: orderRoom)
      try writer.setPinned(true, of: orderRoom)
      try writer.setMuted(true, of: orderRoom, until: orderTime(5500))
      if let item = try writer.outbox.next(for: "sync") { hand.items.append(item) }
    },
    OrderBeginning(
      name: "w0 at 20 and w1 at 60 among 80 messages", messages: ["w0", "w1"]
    ) { writer, _ in
      try writer.receive(group())
      try writer.insert(message("w0", 20))
      try writer.insert(message("w1", 60))
      for index in 0..<40 {
        try writer.insert(message(MessageID("k\(index)"), 15 + index))
        try writer.insert(message(MessageID("x\(index)"), 2000 + index))
      }
    },
    OrderBeginning(name: "a group in which the messages are mine", isOwn: true) { writer, _ in
      try writer.receive(group())
    },
    OrderBeginning(name: "messages of mine, the group comes later", isOwn: true) { writer, _ in
      try writer.insert(message("a", 5))
    },
    OrderBeginning(name: "a group of 40 in which the messages are mine", isOwn: true) {
      writer, _ in
      var told = group()
      told.members += (0..<37).map { .init(MemberID("x\($0)")) }
      try writer.receive(told)
    },
    OrderBeginning(
      name: "l1 made here with n0 at 25 in it, c1 with n1 at 35", messages: ["n0", "n1"],
      kinds: [.rename], merges: true
    ) { writer, _ in
      _ = try writer.createGroup(orderLocalRoom, participants: ["bob"], title: "T")
      try writer.insert(message("n0", 25, in: orderLocalRoom))
      try writer.receive(group())
      try writer.insert(message("n1", 35))
    },
    OrderBeginning(name: "a clock that jumps", kinds: [.clock]) { writer, _ in
      try writer.receive(group())
    },
  ]

  /// Acts of which each went out and failed, so that the next followed; the server may have them.
  private static let acted = OrderBeginning(
    name: "o0 edited, o1 retracted, o2 reacted to, title and fields set here, all handed out",
    messages: ["o0", "o2"], kinds: [.outcome, .echo], maximumAttemptCount: 1
  ) { writer, hand in
    try writer.receive(group())
    for (id, time) in [("o0", 10), ("o1", 20)] as [(MessageID, Int)] {
      try writer.insert(message(id, time, from: "me"))
    }
    try writer.insert(message("o2", 30))
    _ = try writer.edit("o0", in: orderRoom, text: "edited here")
    _ = try writer.retract("o1", in: orderRoom)
    _ = try writer.react("+", to: "o2", in: orderRoom)
    _ = try writer.setTitle("here", of: orderRoom)
    _ = try writer.setOwnField("f", [1], of: .message("o2", in: orderRoom))
    _ = try writer.setOwnField("g", [1], of: .conversation(orderRoom))
    while hand.items.count < 10, let item = try writer.outbox.next(for: "sync") {
      hand.items.append(item)
      _ = try writer.outbox.fail(item, because: SendFailure(.timeOut))
    }
  }

  /// The group as the server made it.
  static func group() -> ReceivedConversation {
    var room = ReceivedConversation(orderRoom, at: orderTime(0))
    room.kind = .group
    room.members = [.init("me"), .init("bob"), .init("cid")]
    return room
  }

  private static func message(
    _ id: MessageID, _ time: Int?, from sender: MemberID = "bob",
    in room: ConversationID = orderRoom, _ text: String = "text"
  ) -> Message {
    Message(
      id: id, in: room, from: sender, text: text,
      localTime: sender == "me" ? orderTime(1) : nil, serverTimestamp: time.map(orderTime))
  }
}
