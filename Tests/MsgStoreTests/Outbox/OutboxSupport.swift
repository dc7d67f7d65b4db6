import MsgStore
import PageFile
import Testing

extension TestClock {
  /// Moves on.
  func advance(_ seconds: Double) { set(now.microseconds + Int64(seconds * 1_000_000)) }

  /// A store whose waits are as long as they can be.
  func outboxStore(
    _ directory: MemoryDirectory = MemoryDirectory(),
    _ change: (inout OutboxOptions) -> Void = { _ in }
  ) throws -> MessageStore {
    try store(directory) { options in
      options.outbox.chance = { 1 }
      options.attachmentLimits = .tight
      change(&options.outbox)
    }
  }
}

extension MessageStore {
  func next(_ owner: String = "worker", lease: Duration = .seconds(60)) throws -> OutboxItem? {
    try write { try $0.outbox.next(for: owner, lease: lease) }
  }

  /// What is handed out next, which must be there.
  func take(
    _ owner: String = "worker", lease: Duration = .seconds(60),
    _ location: SourceLocation = #_sourceLocation
  ) throws -> OutboxItem {
    try #require(try next(owner, lease: lease), sourceLocation: location)
  }

  @discardableResult
  func done(_ item: OutboxItem, serverTime: Timestamp? = nil) throws -> Bool {
    try write { try $0.outbox.complete(item, serverTime: serverTime) }
  }

  @discardableResult
  func fail(
    _ item: OutboxItem, _ kind: FailureKind = .noConnection, retryAt: Timestamp? = nil
  ) throws -> Bool {
    try write {
      try $0.outbox.fail(item, because: SendFailure(kind, text: "\(kind)"), retryAt: retryAt)
    }
  }

  /// Takes out all that is due, and says of each that it is done.
  func drain() throws -> [String] {
    var names: [String] = []
    while let item = try next() {
      names.append(item.name)
      try done(item)
    }
    return names
  }

  func entries(in conversation: ConversationID? = nil) throws -> [OutboxEntry] {
    try read { try $0.outbox.entries(in: conversation, count: 10_000).entries }
  }

  /// What waits, a line each.
  var waiting: [String] { get throws { try entries().map(\.line) } }

  func counts(_ conversation: ConversationID? = nil) throws -> OutboxCounts {
    try read { try $0.outbox.counts(in: conversation) }
  }

  func entryID(_ kind: OutboxKind, _ message: MessageID? = nil) throws -> OutboxEntry.ID {
    let entry = try entries().first {
      $0.kind == kind && (message == nil || $0.message == message)
    }
    return try #require(entry).id
  }

  func nextTime() throws -> Timestamp? { try read { try $0.outbox.nextTime } }
}

extension OutboxCounts {
  init(queued: Int = 0, held: Int = 0, running: Int = 0, waiting: Int = 0, failed: Int = 0) {
    self.init()
    (self.queued, self.held, self.running, self.waiting) = (queued, held, running, waiting)
    self.failed = failed
  }

  init(_ entries: [OutboxEntry]) {
    self.init()
    for entry in entries {
      switch entry.state {
      case .queued: queued += 1
      case .held, .scheduled: held += 1
      case .running: running += 1
      case .waiting: waiting += 1
      case .failed: failed += 1
      }
    }
  }
}

extension OutboxEntry {
  /// `send m queued`, `edit m failed`, `edit m queued, blocked`.
  var line: String {
    let state =
      switch state {
      case .queued: "queued"
      case .held: "held"
      case .running: "running"
      case .waiting: "waiting"
      case .failed: "failed"
      case .scheduled(let time): "at \(time.microseconds)"
      }
    let name = message?.string ?? text ?? ""
    return "\(kind)\(name.isEmpty ? "" : " \(name)") \(state)\(isBlocked ? ", blocked" : "")"
  }
}

extension OutboxItem {
  /// `send m`, `edit m: text`.
  var name: String {
    switch task {
    case .send(let message): "send \(message.id)"
    case .edit(let id, let text, _, _): "edit \(id): \(text)"
    case .retract(let id): "retract \(id)"
    case .react(let emoji, let id, let isRemoved): "\(isRemoved ? "-" : "+")\(emoji) \(id)"
    case .receipt(let receipt): "\(receipt.kind) \(receipt.upToID?.string ?? "-")"
    case .createConversation(let conversation): "create \(conversation.id)"
    case .deleteConversation: "delete"
    case .leaveConversation: "leave"
    case .changeMembers(let added, let removed):
      "members"
        + (added.map { " +\($0)" } + removed.map { " -\($0)" }).joined()
    case .setTitle(let title): "title \(title ?? "-")"
    case .setAvatar(let avatar): "avatar \(avatar ?? "-")"
    case .upload(let state): "upload \(state.attachment.id)"
    case .client(let name, _): "client \(name)"
    case .setOwnField(let field, _): "field \(field.name): \(field.text ?? "-")"
    }
  }
}

/// A message of the local member's in a conversation.
func own(_ id: MessageID, in conversation: ConversationID, _ text: String = "mine") -> Message {
  Message(id: id, in: conversation, from: "me", text: text)
}

func ownWithFiles(_ id: MessageID, _ files: [String]) -> Message {
  var message = own(id)
  message.attachments = files.map { MessageAttachment(id: $0, kind: .image, byteCount: 100) }
  return message
}
