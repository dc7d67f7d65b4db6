/// The subject of an outbox entry.
///
/// It holds only data that is stored nowhere else. The rest is read when the entry is handed out.
///
/// See docs/message-format.md, O-3.
package enum OutboxSubject: Hashable, FieldRecord {
  case send(MessageID)
  case edit(MessageID, at: Int64)
  case retract(MessageID)
  case react(MessageID, emoji: String, isRemoved: Bool)
  case receipt(ReceiptKind)
  case createConversation
  case deleteConversation
  case leaveConversation
  case changeMembers(added: [UInt32], removed: [UInt32])
  case setTitle
  case setAvatar
  case upload(MessageID, attachment: String)
  case client(name: String, payload: [UInt8])

  package init() { self = .createConversation }

  /// Creates a subject of a kind, to be read into.
  ///
  /// An array of all would cost ten thousand instructions when it is first used.
  package init(_ kind: OutboxKind) {
    switch kind {
    case .send: self = .send("")
    case .edit: self = .edit("", at: 0)
    case .retract: self = .retract("")
    case .react: self = .react("", emoji: "", isRemoved: false)
    case .readReceipt: self = .receipt(.read)
    case .deliveredReceipt: self = .receipt(.delivered)
    case .createConversation: self = .createConversation
    case .deleteConversation: self = .deleteConversation
    case .leaveConversation: self = .leaveConversation
    case .changeMembers: self = .changeMembers(added: [], removed: [])
    case .setTitle: self = .setTitle
    case .setAvatar: self = .setAvatar
    case .upload: self = .upload("", attachment: "")
    case .client: self = .client(name: "", payload: [])
    }
  }

  package var kind: OutboxKind {
    switch self {
    case .send: .send
    case .edit: .edit
    case .retract: .retract
    case .react: .react
    case .receipt(.read): .readReceipt
    case .receipt(.delivered): .deliveredReceipt
    case .createConversation: .createConversation
    case .deleteConversation: .deleteConversation
    case .leaveConversation: .leaveConversation
    case .changeMembers: .changeMembers
    case .setTitle: .setTitle
    case .setAvatar: .setAvatar
    case .upload: .upload
    case .client: .client
    }
  }

  /// The message that the entry is about, by the name it was written under.
  package var message: MessageID? {
    switch self {
    case .send(let id), .edit(let id, _), .retract(let id), .react(let id, _, _),
      .upload(let id, _):
      id
    default: nil
    }
  }

  /// Returns the same subject about a message of another name.
  func renamed(_ id: MessageID) -> OutboxSubject {
    switch self {
    case .send: .send(id)
    case .edit(_, let time): .edit(id, at: time)
    case .retract: .retract(id)
    case .react(_, let emoji, let isRemoved): .react(id, emoji: emoji, isRemoved: isRemoved)
    case .upload(_, let attachment): .upload(id, attachment: attachment)
    default: self
    }
  }

  /// True if the entry goes in the order of its conversation.
  ///
  /// That is true of all but uploads of attachments, for which their message waits.
  package var isInOrder: Bool { if case .upload = self { false } else { true } }

  /// True if the message must be sent before the server can be told this about it.
  var needsMessage: Bool {
    switch self {
    case .edit, .retract, .react: true
    default: false
    }
  }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    if var id = message {
      fields.name(&id, "name of the message")
      self = renamed(id)
    }
    switch self {
    case .edit(let id, var time):
      fields.fixed(&time, "time of the edit")
      self = .edit(id, at: time)
    case .react(let id, var emoji, var isRemoved):
      isRemoved = fields.follows(isRemoved, "1 if it is removed, else 0")
      fields.bytes(&emoji, .rest, in: 1...Reaction.maximumEmojiByteCount, "emoji")
      self = .react(id, emoji: emoji, isRemoved: isRemoved)
    case .changeMembers(var added, var removed):
      visitNumbers(&fields, &added, "number of those added", "those added")
      visitNumbers(&fields, &removed, "number of those removed", "those removed")
      self = .changeMembers(added: added, removed: removed)
    case .upload(let id, var attachment):
      fields.bytes(
        &attachment, .rest, in: 1...MessageAttachment.maximumIDByteCount, "id of the attachment")
      self = .upload(id, attachment: attachment)
    case .client(var name, var payload):
      fields.bytes(&name, .byte, in: 0...255, "name")
      fields.bytes(&payload, .rest, in: 0 ... .max, "payload")
      self = .client(name: name, payload: payload)
    default: break
    }
  }

  private func visitNumbers(
    _ fields: inout (some FieldVisitor & ~Copyable), _ numbers: inout [UInt32],
    _ counted: StaticString, _ field: StaticString
  ) {
    var count = numbers.count
    fields.varint(&count, maximum: ConversationDetails.maximumParticipantCount, counted)
    fields.numbers(&numbers, count: count, field)
  }
}
