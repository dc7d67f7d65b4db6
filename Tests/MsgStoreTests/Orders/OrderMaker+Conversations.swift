import MsgStore

/// Facts about members and conversations, and those of some beginnings.
extension OrderMaker {
  mutating func memberFact(_ kind: OrderKind) -> OrderFact? {
    let room = room()
    switch kind {
    case .memberField: return field(kind, of: .member("bob"))
    case .conversationField: return field(kind, of: .conversation(room))
    case .profile:
      let profile = MemberProfile(
        of: "bob", name: pick([nil, "B", "C"]), version: Int64(pick([0, 1])),
        fetchedAt: one(in: 2) ? nil : orderTime(time()))
      return OrderFact(kind, "profile \(profile)") { writer, _ in try writer.receive(profile) }
    case .receiptUpTo, .receiptSequence, .receiptNames, .receiptPosition:
      let member = pick(["me", "bob", "cid", "dan"] as [MemberID])
      let which = pick([.read, .delivered] as [ReceiptKind])
      let extent: ReceivedReceipt.Extent =
        switch kind {
        case .receiptUpTo: .upTo(name())
        case .receiptSequence: .upToSequence(Int64(pick([1, 3, 6, 8])))
        case .receiptNames: .messages([name()])
        default:
          .upToPosition(
            MessagePosition(
              .acknowledged(
                orderTime(time()).microseconds, sequence: nil), "zz"))
        }
      let receipt = ReceivedReceipt(
        in: room, of: member, which, extent, time: one(in: 2) ? orderTime(time()) : nil)
      return OrderFact(kind, "\(which) of \(member): \(extent) in \(room) at \(receipt.time.brief)")
      { writer, _ in
        try writer.receive(receipt)
      }
    case .members:
      var told = ReceivedConversation(room, at: orderTime(time()))
      let known: [MemberID] = ["me", "bob", "cid", "dan"] + (beginning.isOwn ? ["x0", "x1"] : [])
      told.members = (0..<pick([1, 1, 2])).map { _ in
        .init(
          pick(known), isActive: !one(in: 3), joinedAt: one(in: 2) ? orderTime(time()) : nil)
      }
      told.hasAllMembers = one(in: 6)
      return conversation(kind, told)
    default: return nil
    }
  }

  mutating func conversationFact(_ kind: OrderKind) -> OrderFact {
    let room = room()
    let time = time()
    switch kind {
    case .conversation: return conversation(kind, receivedConversation(room, at: time))
    case .conversationList:
      // A list of which no conversation is missing.
      let list = (beginning.merges ? [orderLocalRoom, orderRoom] : [orderRoom]).map {
        receivedConversation($0, at: time)
      }
      return OrderFact(kind, "conversations \(list.map(\.line))") { writer, _ in
        try writer.reconcile(list)
      }
    case .draft:
      var told = ReceivedConversation(room, at: orderTime(time))
      told.draft = Draft(
        text: pick(["", "d"]), replyTo: one(in: 2) ? name() : nil, time: orderTime(self.time()))
      return conversation(kind, told)
    case .deletion:
      let room = OrderExclusions.deletedName(room, after: beginning)
      return OrderFact(kind, "deletion of \(room) up to \(time)") { writer, _ in
        try writer.receiveConversationDeletion(room, at: orderTime(time))
      }
    case .absent:
      let first = Int64(pick([1, 3, 5, 8]))
      return OrderFact(kind, "absent \(first)…\(first + 1) in \(room)") { writer, _ in
        try writer.declareAbsent(first...first + 1, in: room)
      }
    case .retention:
      return OrderFact(kind, "retention of 2 messages") { writer, _ in
        try writer.setRetention(Retention(messageCount: 2))
      }
    case .wholeList, .incompleteList:
      let list = messages.map { copy($0, in: orderRoom) }
      let told = kind == .wholeList ? list : Array(list.dropLast())
      return OrderFact(kind, "all of \(orderRoom): \(told.map(\.line))") { writer, _ in
        try writer.reconcile(told, in: orderRoom, within: .all)
      }
    case .completeConversationList:
      return OrderFact(kind, "there is no conversation but another") { writer, _ in
        try writer.reconcile([ReceivedConversation("other", at: orderTime(90))])
      }
    default: return beginningFact(kind)
    }
  }

  private mutating func receivedConversation(
    _ room: ConversationID, at time: Int
  ) -> ReceivedConversation {
    var told = ReceivedConversation(room, at: orderTime(time))
    if one(in: 3) { told.kind = pick([.group, .direct]) }
    if one(in: 2) {
      told.members = [
        .init(
          pick(["me", "bob", "cid", "dan"]), isActive: !one(in: 3),
          joinedAt: one(in: 3) ? orderTime(self.time()) : nil)
      ]
      if one(in: 3) { told.hasAllMembers = true }
    }
    if one(in: 3) { told.title = pick([.text("t1"), .text("t2"), .removed]) }
    if one(in: 4) { told.avatar = pick([.text("a1"), .removed]) }
    if one(in: 4) { told.isPinned = pick([true, false]) }
    if one(in: 3) {
      told.isMuted = pick([true, false])
      if one(in: 2) { told.mutedUntil = orderTime(5000 + self.time()) }
    }
    if one(in: 4) { told.isArchived = pick([true, false]) }
    if one(in: 4) { told.isMarkedUnread = pick([true, false]) }
    if one(in: 5) { told.createdBy = pick(["bob", "cid"]) }
    if one(in: 5) { told.createdAt = orderTime(self.time()) }
    return told
  }

  private func conversation(_ kind: OrderKind, _ told: ReceivedConversation) -> OrderFact {
    OrderFact(kind, "\(told.line)") { writer, _ in try writer.receive(told) }
  }

  /// Facts of some beginnings.
  private mutating func beginningFact(_ kind: OrderKind) -> OrderFact {
    switch kind {
    case .rename:
      return OrderFact(kind, "\(orderLocalRoom) is \(orderRoom)") { writer, _ in
        do {
          try writer.renameConversation(orderLocalRoom, to: orderRoom)
        } catch StoreError.conversation {
          // It has become that one already, or was deleted.
        }
      }
    case .clock:
      return OrderFact(kind, "the clock passes 6000, and z is heard at 5999") { writer, hand in
        hand.clock.set(orderTime(6000).microseconds)
        try writer.insert(
          Message(
            id: "z", in: orderRoom, from: "bob", text: "z", serverTimestamp: orderTime(5999)))
      }
    case .echo: return echo()
    default:
      let (index, hasTime) = (pick([0, 1, 2, 3, 4, 5, 6]), beginning.kinds.contains(.echo))
      let isFailure = beginning.messages.contains("p1") && index == 1
      return OrderFact(.outcome, "work \(index) \(isFailure ? "fails" : "is done")") {
        writer, hand in
        guard index < hand.items.count else { return }
        if isFailure {
          try writer.outbox.fail(hand.items[index], because: SendFailure(.permission))
        } else {
          try writer.outbox.complete(
            hand.items[index], serverTime: hasTime ? orderTime(30 + 7 * index) : nil)
        }
      }
    }
  }

  /// What the server tells of the acts of `o0` to `o2`, at the times of their outcomes.
  private mutating func echo() -> OrderFact {
    switch pick([0, 1, 2, 3, 4]) {
    case 0:
      return OrderFact(.echo, "echo: edit of o0 at 30") { writer, _ in
        try writer.receiveEdit(of: "o0", in: orderRoom, text: "edited here", at: orderTime(30))
      }
    case 1:
      return OrderFact(.echo, "echo: retraction of o1 at 37") { writer, _ in
        try writer.receiveRetraction(of: "o1", in: orderRoom, at: orderTime(37))
      }
    case 2:
      return OrderFact(.echo, "echo: reaction of me to o2 at 44") { writer, _ in
        try writer.receive(Reaction("+", from: "me", at: orderTime(44)), to: "o2", in: orderRoom)
      }
    case 3:
      return OrderFact(.echo, "echo: title at 51") { writer, _ in
        var told = ReceivedConversation(orderRoom, at: orderTime(51))
        told.title = .text("here")
        try writer.receive(told)
      }
    default:
      return OrderFact(.echo, "echo: field f of o2 at 58") { writer, _ in
        try writer.receive(
          [OwnField("f", [1], at: orderTime(58))], of: .message("o2", in: orderRoom))
      }
    }
  }
}

extension ReceivedConversation {
  fileprivate var line: String {
    var line = "conversation \(id) at \(Timestamp?(at).brief)"
    if let kind { line += " \(kind)" }
    for member in members {
      line += " \(member.id) \(member.isActive ? "in" : "out") \(member.joinedAt.brief)"
    }
    if hasAllMembers { line += " and nobody else" }
    if let title { line += " title \(title)" }
    if let avatar { line += " avatar \(avatar)" }
    if let isPinned { line += " pinned \(isPinned)" }
    if let isMuted { line += " muted \(isMuted) until \(mutedUntil.brief)" }
    if let isArchived { line += " archived \(isArchived)" }
    if let isMarkedUnread { line += " marked \(isMarkedUnread)" }
    if let createdBy { line += " by \(createdBy)" }
    if let createdAt { line += " made \(Timestamp?(createdAt).brief)" }
    if let draft {
      line +=
        " draft \(draft.text) to \(draft.replyTo?.string ?? "-") \(Timestamp?(draft.time).brief)"
    }
    return line
  }
}
