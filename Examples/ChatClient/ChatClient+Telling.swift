import MsgStore

/// From the outbox to the server.
///
/// The outbox says what to tell and when; this only says it, and tells the outbox how that went. Each
/// step may be the last one of the process: the work is in the outbox until `complete` is on the disk.
extension ChatClient {
  /// Tells the server all that is due, one after the other.
  ///
  /// Some clients have several tasks that do this at once: the leases keep them apart, and the order
  /// within each conversation stays.
  ///
  /// - Returns: false when the server could not be reached. What else is due would fail as well, and
  ///   each failure makes an entry wait longer.
  func tellAll() async throws -> Bool {
    while let item = try await next() {
      let answer: Answer
      do throws(LinkError) {
        answer = try await tell(item)
      } catch {
        try await store.write { chat in
          _ = try chat.outbox.fail(item, because: SendFailure(FailureKind(error)))
        }
        return false
      }
      try await settle(item, answer)
    }
    return true
  }

  /// Takes out what is due first.
  ///
  /// That it was handed out is on the disk when this returns: nothing leaves the device that a power
  /// cut could take back.
  private func next() async throws -> OutboxItem? {
    let owner = owner
    return try await store.write { chat in try chat.outbox.next(for: owner) }
  }

  /// Tells the server one thing.
  private func tell(_ item: OutboxItem) async throws(LinkError) -> Answer {
    if case .upload(let state) = item.task { return try await upload(state, for: item) }
    if case .client(Self.profileWork, let payload) = item.task {
      return try await transport.ask(profileRequest(payload, token: "\(item.token)"))
    }
    guard let call = call(for: item) else {
      return .refused(.invalid, "this client does not know such work")
    }
    return try await transport.ask(Request(from: member, token: "\(item.token)", call))
  }

  /// What to ask the server for; nil for what this client never enters.
  private func call(for item: OutboxItem) -> Call? {
    guard let room = item.conversation else { return nil }
    switch item.task {
    case .send(let message): return .send(WireMessage(message))
    case .edit(let id, let text, let mentions, _):
      return .edit(id, in: room, text: text, mentions: mentions)
    case .retract(let id): return .retract(id, in: room)
    case .react(let emoji, let id, let isRemoved):
      return .react(emoji, to: id, in: room, isRemoved: isRemoved)
    case .receipt(let receipt): return .receipt(WireReceipt(receipt))
    case .createConversation(let conversation):
      return .createRoom(WireRoom(conversation, madeBy: member))
    case .deleteConversation: return .deleteRoom(room)
    case .leaveConversation: return .changeRoom(room, .members(added: [], removed: [member]))
    case .changeMembers(let added, let removed):
      return .changeRoom(room, .members(added: added, removed: removed))
    case .setTitle(let title): return .changeRoom(room, .title(title))
    case .setAvatar(let avatar): return .changeRoom(room, .avatar(avatar))
    case .upload, .client, .setOwnField: return nil
    }
  }

  /// Takes the server's answer in, and the entry out: one commit, so that neither is there alone.
  private func settle(_ item: OutboxItem, _ answer: Answer) async throws {
    try await store.write { chat in
      if case .refused(let refusal, let text) = answer {
        return try Self.giveUp(item, because: SendFailure(FailureKind(refusal), text: text), chat)
      }
      var serverTime: Timestamp?
      switch (item.task, answer) {
      case (.send(let message), .placed(let time, let sequence)):
        try chat.acknowledge(
          message.id, in: message.conversation, serverTimestamp: Timestamp(microseconds: time),
          sequence: sequence)
      case (.createConversation(let conversation), .room(let name)):
        // From now on both names lead to it. If it was there already, as when the other side has begun
        // it at the same time, the two become one.
        try chat.renameConversation(conversation.id, to: name)
      case (.upload(let state), .uploaded(let url)):
        var attachment = state.attachment
        attachment.remoteURL = url
        try chat.receive(attachment, of: state.message, in: state.conversation)
      case (_, .done(let time)): serverTime = Timestamp(microseconds: time)
      default: break
      }
      // Of an edit the time counts by which the others order it, not that of this device's clock.
      try chat.outbox.complete(item, serverTime: serverTime)
    }
  }

  /// What becomes of something that the server refuses.
  ///
  /// A message stays with its failure, for the user to retry or to remove. What was shown before the
  /// server knew of it, and is not to be, is undone.
  private static func giveUp(
    _ item: OutboxItem, because failure: SendFailure, _ chat: borrowing StoreWriter
  ) throws {
    try chat.outbox.fail(item, because: failure)
    switch item.task {
    case .edit, .retract, .react: try chat.outbox.remove(item.id, because: failure)
    default: break
    }
  }
}
