import PageFile

/// The subject of an outbox entry.
///
/// It holds only data that is stored nowhere else. The rest is read when the entry is handed out.
///
///     send, unsend     1+n  byte count of the message's id, id
///     edit             1+n  the id; 8: time of the edit
///     react            1+n  the id; 1: 1 if it is removed, else 0; emoji up to the end
///     upload           1+n  the id; id of the attachment up to the end
///     change members        count of those added, varint; their numbers, varints;
///                           then those removed, likewise
///     client           1+n  byte count of the name, name; payload up to the end
///     others                nothing
package enum OutboxSubject: Hashable {
  case send(MessageID)
  case edit(MessageID, at: Int64)
  case unsend(MessageID)
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

  package var kind: OutboxKind {
    switch self {
    case .send: .send
    case .edit: .edit
    case .unsend: .unsend
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
    case .send(let id), .edit(let id, _), .unsend(let id), .react(let id, _, _), .upload(let id, _):
      id
    default: nil
    }
  }

  /// Returns the same subject about a message of another name.
  func renamed(_ id: MessageID) -> OutboxSubject {
    switch self {
    case .send: .send(id)
    case .edit(_, let time): .edit(id, at: time)
    case .unsend: .unsend(id)
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
    case .edit, .unsend, .react: true
    default: false
    }
  }

  init?(_ kind: OutboxKind, _ bytes: Bytes) {
    var reader = ByteReader(bytes)
    switch kind {
    case .send:
      guard let id = Self.id(&reader) else { return nil }
      self = .send(id)
    case .edit:
      guard let id = Self.id(&reader), let time = reader.uint64() else { return nil }
      self = .edit(id, at: Int64(bitPattern: time))
    case .unsend:
      guard let id = Self.id(&reader) else { return nil }
      self = .unsend(id)
    case .react:
      guard let id = Self.id(&reader), let isRemoved = reader.byte(), isRemoved <= 1,
        case let emoji = reader.rest(), emoji.isText
      else { return nil }
      self = .react(id, emoji: emoji.repairedText(), isRemoved: isRemoved == 1)
    case .readReceipt: self = .receipt(.read)
    case .deliveredReceipt: self = .receipt(.delivered)
    case .createConversation: self = .createConversation
    case .deleteConversation: self = .deleteConversation
    case .leaveConversation: self = .leaveConversation
    case .changeMembers:
      guard let added = Self.numbers(&reader), let removed = Self.numbers(&reader) else {
        return nil
      }
      self = .changeMembers(added: added, removed: removed)
    case .setTitle: self = .setTitle
    case .setAvatar: self = .setAvatar
    case .upload:
      guard let id = Self.id(&reader), case let attachment = reader.rest(), attachment.isText,
        (1...MessageAttachment.maximumIDByteCount).contains(attachment.count)
      else { return nil }
      self = .upload(id, attachment: attachment.repairedText())
    case .client:
      guard let byteCount = reader.byte(), let name = reader.take(Int(byteCount)), name.isText
      else { return nil }
      self = .client(name: name.repairedText(), payload: reader.rest().array())
    }
    guard reader.isAtEnd else { return nil }
  }

  private static func id(_ reader: inout ByteReader) -> MessageID? {
    guard let byteCount = reader.byte(), byteCount > 0, let id = reader.take(Int(byteCount)),
      id.isText
    else { return nil }
    return MessageID(id)
  }

  private static func numbers(_ reader: inout ByteReader) -> [UInt32]? {
    guard let count = reader.varint(), count <= ConversationDetails.maximumParticipantCount else {
      return nil
    }
    var numbers: [UInt32] = []
    for _ in 0..<count {
      guard let value = reader.varint(), let number = UInt32(exactly: value) else { return nil }
      numbers.append(number)
    }
    return numbers
  }

  func append(to buffer: inout ByteBuffer) {
    if let message {
      buffer.append(UInt8(message.byteCount))
      buffer.append(message)
    }
    switch self {
    case .edit(_, let time): buffer.append(time: time)
    case .react(_, let emoji, let isRemoved):
      buffer.append(isRemoved ? 1 : 0)
      buffer.append(emoji)
    case .changeMembers(let added, let removed):
      for numbers in [added, removed] {
        buffer.append(varint: UInt64(numbers.count))
        for number in numbers { buffer.append(varint: UInt64(number)) }
      }
    case .upload(_, let attachment): buffer.append(attachment)
    case .client(let name, let payload):
      buffer.append(UInt8(name.utf8.count))
      buffer.append(name)
      buffer.append(payload)
    default: break
    }
  }
}
