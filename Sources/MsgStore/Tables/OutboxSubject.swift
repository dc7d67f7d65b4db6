/// The subject of an outbox entry.
///
/// It holds only data that is stored nowhere else. The rest is read when the entry is handed out.
///
/// See docs/message-format.md, O-3.
package enum OutboxSubject: Equatable, FieldRecord {
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
  /// The client's own field of a message, or its kind, which has no name; the time is provisional.
  case setMessageField(MessageID, at: Int64, name: [UInt8])
  case setConversationField(at: Int64, name: [UInt8])
  case setMemberField(UInt32, at: Int64, name: [UInt8])

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
    case .setMessageField: self = .setMessageField("", at: 0, name: [])
    case .setConversationField: self = .setConversationField(at: 0, name: [])
    case .setMemberField: self = .setMemberField(0, at: 0, name: [])
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
    case .setMessageField: .setMessageField
    case .setConversationField: .setConversationField
    case .setMemberField: .setMemberField
    }
  }

  /// The message that the entry is about, by the name it was written under.
  package var message: MessageID? {
    switch self {
    case .send(let id), .edit(let id, _), .retract(let id), .react(let id, _, _),
      .upload(let id, _), .setMessageField(let id, _, _):
      id
    case .receipt, .createConversation, .deleteConversation, .leaveConversation, .changeMembers,
      .setTitle, .setAvatar, .client, .setConversationField, .setMemberField:
      nil
    }
  }

  /// The name under which the index of messages has the entry.
  ///
  /// That of its message; an empty one for the fields of a conversation; and for those of a member
  /// the member's number, in digits.
  ///
  /// The entries of members are in conversation 0, which has no messages.
  package var indexName: MessageID? {
    switch self {
    case .setConversationField: ""
    case .setMemberField(let member, _, _): MessageID("\(member)")
    default: message
    }
  }

  /// Returns true if both entries tell the same field, given that both are of one owner.
  func isSameField(as other: OutboxSubject) -> Bool {
    switch (self, other) {
    case (.setMessageField(_, _, let name), .setMessageField(_, _, let otherName)),
      (.setConversationField(_, let name), .setConversationField(_, let otherName)),
      (.setMemberField(_, _, let name), .setMemberField(_, _, let otherName)):
      name == otherName
    default: false
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
    case .setMessageField(_, let time, let name): .setMessageField(id, at: time, name: name)
    case .receipt, .createConversation, .deleteConversation, .leaveConversation, .changeMembers,
      .setTitle, .setAvatar, .client, .setConversationField, .setMemberField:
      self
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
    case .setMessageField(let id, var time, var name):
      visitField(&fields, &time, &name)
      self = .setMessageField(id, at: time, name: name)
    case .setConversationField(var time, var name):
      visitField(&fields, &time, &name)
      self = .setConversationField(at: time, name: name)
    case .setMemberField(var member, var time, var name):
      fields.varint(&member, "number of the member")
      visitField(&fields, &time, &name)
      self = .setMemberField(member, at: time, name: name)
    case .send, .retract, .receipt, .createConversation, .deleteConversation, .leaveConversation,
      .setTitle, .setAvatar:
      break
    }
  }

  private func visitField(
    _ fields: inout (some FieldVisitor & ~Copyable), _ time: inout Int64, _ name: inout [UInt8]
  ) {
    var text = String(decoding: name, as: UTF8.self)
    fields.fixed(&time, "time of the value")
    fields.bytes(
      &text, .rest, in: 0...OwnField.maximumNameByteCount, "name of the field, empty: the kind")
    name = Array(text.utf8)
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
