import MsgStore

/// The parts that few messages have, between the benchmark's form and ours.
extension Message {
  mutating func take(_ extras: MessageExtras) {
    mentions = extras.mentions.map { MemberID($0) }
    reactions = extras.reactions.map {
      Reaction($0.emoji, from: MemberID($0.member), at: Timestamp(microseconds: $0.time))
    }
    attachments = extras.attachments.map {
      MessageAttachment(
        id: $0.id, kind: AttachmentKind(rawValue: $0.kind) ?? .other, remoteURL: $0.url,
        fileName: $0.fileName, mimeType: $0.mimeType, preview: $0.preview,
        byteCount: $0.byteCount, width: $0.width, height: $0.height)
    }
  }

  /// The status as it was stored.
  ///
  /// Ours shows an own message as delivered or read once the receipts of the others say so; the
  /// peers store the receipts and leave that to the application.
  @inline(__always)
  var storedStatus: UInt8 {
    switch status {
    case .delivered, .read: MessageStatus.sent.rawValue
    default: status.rawValue
    }
  }

  var extras: MessageExtras? {
    let (mentions, reactions, attachments) = (mentions, reactions, attachments)
    if mentions.isEmpty, reactions.isEmpty, attachments.isEmpty { return nil }
    return MessageExtras(
      mentions: mentions.map(\.string),
      reactions: reactions.map {
        ChatReaction(member: $0.member.string, emoji: $0.emoji, time: $0.time.microseconds)
      },
      attachments: attachments.map {
        ChatAttachment(
          id: $0.id, kind: $0.kind.rawValue, url: $0.remoteURL ?? "", fileName: $0.fileName,
          mimeType: $0.mimeType ?? "", byteCount: $0.byteCount ?? 0, width: $0.width,
          height: $0.height, preview: $0.preview ?? [])
      })
  }

  /// `ExtrasFields.mixed` of these parts; 0 for a message without any.
  @inline(__always)
  var mixedExtras: UInt64 {
    var fields = ExtrasFields()
    for mention in mentions { fields.add(mention: mention.string) }
    for reaction in reactions {
      fields.add(
        reactionOf: reaction.member.string, emoji: reaction.emoji,
        time: reaction.time.microseconds)
    }
    for file in attachments {
      fields.add(
        attachment: file.id, kind: file.kind.rawValue, url: file.remoteURL ?? "",
        fileName: file.fileName, mimeType: file.mimeType ?? "")
      fields.add(
        byteCount: file.byteCount ?? 0, width: file.width, height: file.height,
        preview: file.preview ?? [])
    }
    return fields.mixed
  }
}
