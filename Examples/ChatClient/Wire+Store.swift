import MsgStore

/// The shapes of the wire, from those of the store and to them.
extension WireMessage {
  init(_ message: Message) {
    id = message.id
    room = message.conversation
    sender = message.sender
    text = message.text
    localTime = message.localTime?.microseconds
    replyTo = message.replyTo
    mentions = message.mentions
    files = message.attachments.map(WireFile.init)
  }

  var message: Message {
    Message(
      id: id, in: room, from: sender, text: text,
      localTime: localTime.map(Timestamp.init(microseconds:)),
      serverTimestamp: time.map(Timestamp.init(microseconds:)), sequence: sequence,
      replyTo: replyTo,
      mentions: mentions, attachments: files.map(\.attachment))
  }
}

extension WireFile {
  init(_ attachment: MessageAttachment) {
    id = attachment.id
    kind = attachment.kind.rawValue
    name = attachment.fileName
    mimeType = attachment.mimeType
    byteCount = attachment.byteCount
    url = attachment.remoteURL
  }

  var attachment: MessageAttachment {
    var attachment = MessageAttachment(id: id, kind: AttachmentKind(rawValue: kind) ?? .other)
    attachment.fileName = name
    attachment.mimeType = mimeType
    attachment.byteCount = byteCount
    attachment.remoteURL = url
    return attachment
  }
}

extension WireRoom {
  init(_ conversation: Conversation, madeBy member: MemberID) {
    id = conversation.id
    isDirect = conversation.kind == .direct
    members = conversation.participants
    title = conversation.title
    avatar = conversation.avatar
    createdBy = conversation.createdBy ?? member
    createdAt = conversation.createdAt?.microseconds ?? 0
    // The server says when this version came to be.
    changedAt = createdAt
  }

  /// The whole version: what it does not name is not there.
  var received: ReceivedConversation {
    var received = ReceivedConversation(id, at: Timestamp(microseconds: changedAt))
    received.kind = isDirect ? .direct : .group
    received.members = members.map { ReceivedConversation.Member($0) }
    received.hasAllMembers = true
    received.title = ReceivedConversation.Text(title)
    received.avatar = ReceivedConversation.Text(avatar)
    received.createdBy = createdBy
    received.createdAt = Timestamp(microseconds: createdAt)
    return received
  }
}

extension WireProfile {
  var profile: MemberProfile {
    MemberProfile(of: member, name: name, picture: picture, version: version)
  }
}

extension WireReceipt {
  init(_ pending: PendingReceipt) {
    room = pending.conversation
    isRead = pending.kind == .read
    upTo = pending.upToID
    ids = pending.ids
  }

  /// A mark and names are two receipts for the store.
  func received(of member: MemberID, at time: Microseconds) -> [ReceivedReceipt] {
    var extents: [ReceivedReceipt.Extent] = []
    if let upTo { extents.append(.upTo(upTo)) }
    if !ids.isEmpty { extents.append(.messages(ids)) }
    return extents.map {
      ReceivedReceipt(
        in: room, of: member, isRead ? .read : .delivered, $0,
        time: Timestamp(microseconds: time))
    }
  }
}

extension FailureKind {
  init(_ error: LinkError) {
    self = error == .timeOut ? .timeOut : .noConnection
  }

  init(_ refusal: Refusal) {
    switch refusal {
    case .permission: self = .permission
    case .notFound: self = .notFound
    case .invalid: self = .invalid
    }
  }
}
