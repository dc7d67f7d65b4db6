/// Sentences for logs. They have ids, times, counts, and states, and neither texts nor titles: a
/// log is read by others than those who may read a conversation.

extension Message: CustomStringConvertible {
  /// The ids, the status, the time, and the number of bytes of the text.
  public var description: String {
    let time = (serverTimestamp ?? localTime).map { ", \($0)" } ?? ""
    let text = isRetracted ? "retracted" : "\(text.utf8.count) bytes"
    return "message \"\(id)\" in \"\(conversation)\" from \"\(sender)\" "
      + "(\(status)\(time), \(text))"
  }
}

extension MessagePosition: CustomStringConvertible {
  /// The time and the id of the message at the position, or the end of the thread.
  public var description: String {
    if self == .start { return "start" }
    if self == .end { return "end" }
    let time = Timestamp(microseconds: place.time)
    return "\(place.isPending ? "pending, " : "")\(time), \"\(id)\""
  }
}

extension Conversation: CustomStringConvertible {
  /// The id, the kind, and the counters.
  public var description: String {
    "conversation \"\(id)\" (\(kind), \(participantCount) participants, "
      + "\(messageCount) messages, \(unreadCount) unread)"
  }
}

extension ConversationSlice: CustomStringConvertible {
  /// The number of conversations and the ids of the first and the last.
  public var description: String {
    guard let first, let last else { return "no conversations" }
    return count == 1
      ? "1 conversation (\"\(first.id)\")"
      : "\(count) conversations (\"\(first.id)\" to \"\(last.id)\")"
  }
}

extension ConversationPreview: CustomStringConvertible {
  /// The id and the sender of the message, its status, and the number of bytes of the text.
  public var description: String {
    "message \"\(messageID)\" from \"\(sender)\" (\(status), \(text.utf8.count) bytes)"
  }
}

extension ConversationPosition: CustomStringConvertible {
  /// The section of the list and the time under which the conversation stands in it.
  public var description: String {
    "\(place.section), \(Timestamp(microseconds: place.time))"
  }
}

extension Delivery: CustomStringConvertible {
  /// The status and the counts.
  public var description: String {
    "\(status) (\(deliveredCount) delivered, \(readCount) read, of \(recipientCount))"
  }
}

extension MemberReceipt: CustomStringConvertible {
  /// The member, the kind, and its time.
  public var description: String {
    let time = (isRead ? readAt : deliveredAt).map { " \($0)" } ?? ""
    return "\(isRead ? "read" : "delivered") by \"\(member)\"\(time)"
  }
}

extension Draft: CustomStringConvertible {
  /// The number of bytes of the text, the message answered, and the time.
  public var description: String {
    let original = replyTo.map { ", reply to \"\($0)\"" } ?? ""
    return "draft (\(text.utf8.count) bytes\(original), \(time))"
  }
}

extension SendFailure: CustomStringConvertible {
  /// The kind, the number, and the text of the failure.
  public var description: String {
    let code = code.map { " \($0)" } ?? ""
    return text.isEmpty ? "\(kind)\(code)" : "\(kind)\(code): \(text)"
  }
}

extension Reaction: CustomStringConvertible {
  /// The emoji, the member, and the time.
  public var description: String { "\(emoji) from \"\(member)\" (\(time))" }
}

extension PendingReceipt: CustomStringConvertible {
  /// The kind, the conversation, the last message of the range, and the number of ids.
  public var description: String {
    let end = upToID.map { " up to \"\($0)\"" } ?? ""
    return "\(kind) in \"\(conversation)\"\(end) (\(ids.count) ids)"
  }
}

extension SyncPosition: CustomStringConvertible {
  /// The key and the number of bytes.
  public var description: String { "sync position \"\(key)\" (\(bytes.count) bytes)" }
}

extension OutboxItem: CustomStringConvertible {
  /// The entry, its conversation, its task, and the attempt.
  public var description: String {
    let place = conversation.map { " in \"\($0)\"" } ?? ""
    return "outbox entry \(id)\(place) (\(task), attempt \(attempt))"
  }
}

extension OutboxEntry: CustomStringConvertible {
  /// The entry, its conversation, its kind, and its state.
  public var description: String {
    let place = conversation.map { " in \"\($0)\"" } ?? ""
    return "outbox entry \(id)\(place) (\(kind), \(state))"
  }
}

extension OutboxTask: CustomStringConvertible {
  /// The kind of task with the ids concerned.
  public var description: String {
    switch self {
    case .send(let message): "send \(message)"
    case .edit(let id, let text, _, let time):
      "edit message \"\(id)\" (\(text.utf8.count) bytes, \(time))"
    case .retract(let id): "retract message \"\(id)\""
    case .react(_, let id, let isRemoved):
      "\(isRemoved ? "remove reaction from" : "react to") message \"\(id)\""
    case .receipt(let receipt): "tell receipt (\(receipt.kind))"
    case .createConversation(let conversation): "create \(conversation)"
    case .deleteConversation: "delete conversation"
    case .leaveConversation: "leave conversation"
    case .changeMembers(let added, let removed):
      "change members (\(added.count) added, \(removed.count) removed)"
    case .setTitle(let title): "\(title == nil ? "remove" : "set") title"
    case .setAvatar(let avatar): "\(avatar == nil ? "remove" : "set") picture"
    case .upload(let state):
      "upload attachment \"\(state.attachment.id)\" of message \"\(state.message)\""
    case .client(let name, let payload): "client work \"\(name)\" (\(payload.count) bytes)"
    case .setOwnField(let field, let owner):
      "\(field.isRemoved ? "remove" : "set") own field \"\(field.name)\" of \(owner)"
    }
  }
}

extension FieldOwner: CustomStringConvertible {
  /// The owner and its ids.
  public var description: String {
    switch self {
    case .message(let id, let conversation): "message \"\(id)\" in \"\(conversation)\""
    case .conversation(let id): "conversation \"\(id)\""
    case .member(let id): "member \"\(id)\""
    }
  }
}

extension MemberProfile: CustomStringConvertible {
  /// The member, the version, and the sizes of name and picture.
  public var description: String {
    let parts = [
      name.map { "name of \($0.utf8.count) bytes" },
      picture.map { "picture reference of \($0.utf8.count) bytes" },
    ]
    let texts = parts.compactMap { $0.map { ", \($0)" } }.joined()
    return "profile of \"\(id)\" (version \(version)\(texts))"
  }
}
