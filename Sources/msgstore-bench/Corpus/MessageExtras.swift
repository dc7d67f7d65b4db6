/// The parts that few messages have: mentions, reactions, and attachments.
///
/// A message holds them by one reference, nil in most, so that no engine's values grow by them.
final class MessageExtras: Sendable {
  let mentions: [String]
  /// Sorted by member and emoji, one for each pair.
  let reactions: [ChatReaction]
  let attachments: [ChatAttachment]

  init(
    mentions: [String] = [], reactions: [ChatReaction] = [], attachments: [ChatAttachment] = []
  ) {
    self.mentions = mentions
    self.reactions = reactions
    self.attachments = attachments
  }

  /// Returns these parts with another reaction.
  func adding(_ reaction: ChatReaction) -> MessageExtras {
    let others = reactions.filter {
      $0.member != reaction.member || $0.emoji != reaction.emoji
    }
    return MessageExtras(
      mentions: mentions, reactions: (others + [reaction]).sorted(), attachments: attachments)
  }
}

/// A member's reaction with one emoji.
struct ChatReaction: Comparable, Sendable {
  var member: String
  var emoji: String
  /// Microseconds since 1970.
  var time: Int64

  static func < (a: ChatReaction, b: ChatReaction) -> Bool {
    a.member == b.member
      ? a.emoji.utf8.lexicographicallyPrecedes(b.emoji.utf8)
      : a.member.utf8.lexicographicallyPrecedes(b.member.utf8)
  }
}

/// The metadata of a file that comes with a message.
struct ChatAttachment: Sendable {
  var id: String
  /// The raw value of `AttachmentKind`, which the peers store as well.
  var kind: UInt8
  var url: String
  var fileName: String?
  var mimeType: String
  var byteCount: Int64
  var width: Int32?
  var height: Int32?
  /// A tiny picture.
  var preview: [UInt8]
}

// MARK: - Digests

/// The parts of a message as one number: strings by their lengths, the rest by value.
struct ExtrasFields {
  private(set) var mixed: UInt64 = 0

  @inline(__always)
  mutating func add(_ number: Int64) {
    mixed = (mixed ^ UInt64(bitPattern: number)) &* 0x9E37_79B9_7F4A_7C15 &+ 1
  }

  @inline(__always)
  mutating func add(mention: String) { add(Int64(mention.utf8.count)) }

  @inline(__always)
  mutating func add(reactionOf member: String, emoji: String, time: Int64) {
    add(Int64(member.utf8.count &<< 8 &+ emoji.utf8.count))
    add(time)
  }

  @inline(__always)
  mutating func add(
    attachment id: String, kind: UInt8, url: String, fileName: String?, mimeType: String
  ) {
    add(Int64(id.utf8.count &<< 8 &+ Int(kind)))
    add(Int64(url.utf8.count))
    add(Int64(fileName?.utf8.count ?? -1))
    add(Int64(mimeType.utf8.count))
  }

  @inline(__always)
  mutating func add(byteCount: Int64, width: Int32?, height: Int32?, preview: [UInt8]) {
    add(byteCount)
    add(Int64(width ?? -1))
    add(Int64(height ?? -1))
    add(Int64(preview.count))
  }
}

extension MessageExtras {
  var mixed: UInt64 {
    var fields = ExtrasFields()
    for mention in mentions { fields.add(mention: mention) }
    for reaction in reactions {
      fields.add(reactionOf: reaction.member, emoji: reaction.emoji, time: reaction.time)
    }
    for file in attachments {
      fields.add(
        attachment: file.id, kind: file.kind, url: file.url, fileName: file.fileName,
        mimeType: file.mimeType)
      fields.add(
        byteCount: file.byteCount, width: file.width, height: file.height, preview: file.preview)
    }
    return fields.mixed
  }
}

extension Fingerprint {
  mutating func add(_ extras: MessageExtras) {
    for mention in extras.mentions { add(mention) }
    for reaction in extras.reactions {
      add(reaction.member)
      add(reaction.emoji)
      add(reaction.time)
    }
    for file in extras.attachments {
      for string in [file.id, file.url, file.fileName ?? "", file.mimeType] { add(string) }
      add(Int64(file.kind))
      add(file.byteCount)
      add(file.width.map(Int64.init))
      add(file.height.map(Int64.init))
      for byte in file.preview { add(Int64(byte)) }
    }
  }
}
