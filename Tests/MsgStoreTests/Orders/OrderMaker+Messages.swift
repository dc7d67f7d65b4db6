import MsgStore

/// Facts about messages.
extension OrderMaker {
  mutating func messageFact(_ kind: OrderKind) -> OrderFact? {
    let room = room()
    switch kind {
    case .copy, .history, .copyOfServerName, .reply:
      var id = name()
      if kind == .copyOfServerName { id = Self.serverName(pick(messages)) }
      let message = copy(id, in: room)
      let isHistory = kind == .history || kinds.contains(.retention)
      return OrderFact(kind, "\(isHistory ? "history" : "live") \(message.line)") { writer, _ in
        try writer.insert(message, as: isHistory ? .history : .live)
      }
    case .acknowledgement: return acknowledgement(name(), in: room, as: nil)
    case .namedAcknowledgement:
      let id = pick(messages)
      return acknowledgement(id, in: room, as: Self.serverName(id))
    case .status:
      let (id, status) = (name(), pick([.sent, .delivered, .read] as [ReportedStatus]))
      let time = one(in: 2) ? orderTime(time()) : nil
      return OrderFact(kind, "status \(status) of \(id) in \(room) at \(time.brief)") {
        writer, _ in
        try writer.receiveStatus(status, of: id, in: room, at: time)
      }
    case .edit, .editOfFiles: return edit(kind, in: room)
    case .retraction:
      let (id, time) = (name(), one(in: 2) ? orderTime(time()) : nil)
      return OrderFact(kind, "retraction of \(id) in \(room) at \(time.brief)") { writer, _ in
        try writer.receiveRetraction(of: id, in: room, at: time)
      }
    case .reaction: return reaction(in: room)
    case .file:
      let (id, file, index) = (name(), file(), one(in: 2) ? pick([0, 1]) : nil)
      return OrderFact(kind, "file \(file.line) at \(index ?? -1) of \(id) in \(room)") {
        writer, _ in
        try writer.receive(file, at: index, of: id, in: room)
      }
    case .tag:
      let (id, time, isRemoved) = (name(), time(), one(in: 3))
      let tag = pick([.starred, .pinned, .own("x")] as [MessageTag])
      return OrderFact(
        kind, "tag \(tag) \(isRemoved ? "removed from" : "of") \(id) in \(room) at \(time)"
      ) { writer, _ in
        try writer.receiveTag(
          tag, isRemoved: isRemoved, of: id, in: room, at: orderTime(time))
      }
    case .expiry:
      let (id, time) = (name(), 5000 + time())
      return OrderFact(kind, "expiry of \(id) in \(room) at \(time)") { writer, _ in
        try writer.receiveExpiry(of: id, in: room, at: orderTime(time))
      }
    case .messageField: return field(kind, of: .message(name(), in: room))
    default: return nil
    }
  }

  private mutating func acknowledgement(
    _ id: MessageID, in room: ConversationID, as serverName: MessageID?
  ) -> OrderFact {
    let basics = basics(of: id)
    let revision: Int64 = !isConsistent && one(in: 4) ? 1 : 0
    return OrderFact(
      serverName == nil ? .acknowledgement : .namedAcknowledgement,
      "acknowledgement of \(id) in \(room) at \(basics.time) sequence"
        + " \(basics.sequence ?? -1) revision \(revision) as \(serverName?.string ?? "-")"
    ) { writer, _ in
      try writer.acknowledge(
        id, in: room, serverTimestamp: orderTime(basics.time), sequence: basics.sequence,
        revision: revision, as: serverName)
    }
  }

  private mutating func edit(_ kind: OrderKind, in room: ConversationID) -> OrderFact {
    let (id, time, text) = (name(), time(), kind == .edit ? pick(["e", "f"]) : "g")
    let files = kind == .edit ? nil : (0..<pick([0, 1, 2])).map { _ in file() }
    let serverName: MessageID? = kind == .edit && one(in: 4) ? pick(["e1", "e2"]) : nil
    let mentions: [MemberID] = kind == .edit && one(in: 4) ? ["me"] : []
    return OrderFact(
      kind,
      "edit of \(id) in \(room) \(text) at \(time) as \(serverName?.string ?? "-") \(mentions)"
        + (files.map { " lists \($0.map(\.line))" } ?? "")
    ) { writer, _ in
      try writer.receiveEdit(
        of: id, in: room, text: text, mentions: mentions, attachments: files,
        at: orderTime(time), serverName: serverName)
    }
  }

  private mutating func reaction(in room: ConversationID) -> OrderFact {
    let (id, time, isRemoved) = (name(), time(), one(in: 3))
    let reaction = Reaction(
      pick(["+", "-"]), from: pick(["bob", "me"]), at: orderTime(time),
      serverName: one(in: 4) ? pick(["r1", "r2"]) : nil)
    return OrderFact(
      .reaction,
      "reaction \(reaction.emoji) of \(reaction.member) to \(id) in \(room) at \(time)"
        + "\(isRemoved ? " removed" : "") as \(reaction.serverName?.string ?? "-")"
    ) { writer, _ in
      try writer.receive(reaction, isRemoved: isRemoved, to: id, in: room)
    }
  }

  mutating func field(_ kind: OrderKind, of owner: FieldOwner) -> OrderFact {
    let time = one(in: 3) ? nil : orderTime(time())
    let value: [UInt8]? =
      one(in: 4) ? nil : Array(repeating: pick([1, 2]), count: one(in: 4) ? 300 : 1)
    let field =
      one(in: 4)
      ? OwnField.kind(one(in: 3) ? nil : pick(["k", "l"]), at: time)
      : OwnField(pick(["f", "g"]), value, at: time)
    return OrderFact(
      kind,
      "field \(field.name) of \(owner): \(field.byteCount) × \(field.value?.first ?? 0)"
        + " at \(time.brief)"
    ) { writer, _ in
      try writer.receive([field], of: owner)
    }
  }
}
