/// A conversation as a list of conversations shows it: who, what it is called, what came last.
public struct Conversation: Sendable, Hashable {
  /// The most names that `participants` has, but in a task of the outbox.
  public static let listedParticipantCountMax = 32

  private let content: Content

  init(_ fields: Fields) { content = Content(fields) }

  /// Its name.
  public var id: ConversationID { content.fields.id }
  /// Names that lead to it as well: it had them before.
  public var otherIDs: [ConversationID] { content.fields.otherIDs }
  /// What kind it is.
  public var kind: ConversationKind { content.fields.kind }
  /// The first 32 who take part, in the order in which they came.
  ///
  /// Empty for one that is known from its messages only. A conversation of thousands costs no more
  /// than one of two: `StoreSnapshot.participations(in:)` names everybody, also those who left. Only in
  /// a task of the outbox (`OutboxTask.createConversation`) it has all, as the server has to be told.
  public var participants: [MemberID] { content.fields.participants }
  /// How many take part.
  public var participantCount: Int { content.fields.participantCount }
  /// Whether the local member takes part, as far as is known.
  ///
  /// One that they have left stays, and can be read.
  public var isMember: Bool { content.fields.isMember }
  /// What it is called.
  public var title: String? { content.fields.title }
  /// The reference of its picture.
  public var avatar: String? { content.fields.avatar }
  /// Who made it.
  public var createdBy: MemberID? { content.fields.createdBy }
  /// When it was made, where that is known.
  public var createdAt: Timestamp? { content.fields.createdAt }
  /// Whether it stays on top of the list.
  public var isPinned: Bool { content.fields.isPinned }
  /// Whether what it has unread is counted apart.
  public var isMuted: Bool { content.fields.isMuted }
  /// Whether it is in the list of archived ones instead of the other.
  public var isArchived: Bool { content.fields.isArchived }
  /// Whether something has been begun in it, see `draft(of:)`.
  public var hasDraft: Bool { content.fields.hasDraft }
  /// Messages up to this time were deleted with it, and do not come back.
  public var deletedUpTo: Timestamp? { content.fields.deletedUpTo }
  /// The newest server time of its acknowledged or local time of its pending messages, whichever is
  /// later; nil without messages.
  public var lastActivity: Timestamp? { content.fields.lastActivity }
  /// How many messages the local member has not read.
  ///
  /// 0 in a store without a local member.
  public var unreadCount: Int { content.fields.unreadCount }
  /// How many of them name the local member.
  public var unreadMentionCount: Int { content.fields.unreadMentionCount }
  /// How many messages it has.
  public var messageCount: Int { content.fields.messageCount }
  /// The last message in the thread's order; nil without messages.
  public var preview: Preview? { content.fields.preview }
  /// Its place in the list of conversations.
  public var position: ConversationPosition { content.fields.position }
  /// Whether it was deleted and nothing newer has come: then only tools get to see it.
  package var isDeleted: Bool { content.fields.isDeleted }

  /// Whether all of both is the same.
  public static func == (a: Conversation, b: Conversation) -> Bool {
    a.content === b.content || a.content.fields == b.content.fields
  }

  /// Hashes all of it.
  public func hash(into hasher: inout Hasher) { content.fields.hash(into: &hasher) }

  /// All of it in one object, so that a list that is handed on counts one reference for each.
  private final class Content: Sendable {
    let fields: Fields
    init(_ fields: Fields) { self.fields = fields }
  }

  /// What a conversation says, under the names that it says it by.
  struct Fields: Sendable, Hashable {
    let id: ConversationID
    let otherIDs: [ConversationID]
    let kind: ConversationKind
    let participants: [MemberID]
    let participantCount: Int
    let isMember: Bool
    let title: String?
    let avatar: String?
    let createdBy: MemberID?
    let createdAt: Timestamp?
    let isPinned: Bool
    let isMuted: Bool
    let isArchived: Bool
    let hasDraft: Bool
    let deletedUpTo: Timestamp?
    let lastActivity: Timestamp?
    let unreadCount: Int
    let unreadMentionCount: Int
    let messageCount: Int
    let preview: Preview?
    let position: ConversationPosition
    let isDeleted: Bool
  }
}

/// The last message of a conversation, cut for a list.
public struct Preview: Sendable, Hashable {
  /// A name that leads to the message: its id, but for somebody else's message that came under two names,
  /// of which this is the one that the server's order has.
  public let messageID: MessageID
  /// Who wrote it.
  public let sender: MemberID
  /// The beginning of its text: at most 160 bytes of UTF-8, cut at the border of a character.
  ///
  /// Empty where it is deleted, or is nothing but an attachment.
  public let text: String
  /// Whether its sender has taken it back.
  public let isDeleted: Bool
  /// The first of what is attached to it.
  public let attachment: PreviewAttachment?
  /// When the server took it; nil while it is pending.
  public let serverTimestamp: Timestamp?
  /// How far it has come.
  public let status: MessageStatus

  static let byteCountMax = 160

  /// As much of a text as a preview keeps.
  ///
  /// See docs/message-format.md, A-3.
  package static func cut(_ text: String) -> String {
    guard text.utf8.count > byteCountMax else { return text }
    let limit = text.utf8.index(text.startIndex, offsetBy: byteCountMax)
    var end = text.utf8.index(text.startIndex, offsetBy: sureBorder(text.utf8Span.span))
    while end < limit {
      let next = text.index(after: end)
      guard next <= limit else { break }
      end = next
    }
    return String(text[..<end])
  }

  /// The last offset up to the limit that is sure to be the border of a character.
  ///
  /// That is between any two bytes of ASCII but those that end a line together. Going from character
  /// to character from the beginning took 20 times as long.
  private static func sureBorder(_ bytes: Span<UInt8>) -> Int {
    var offset = byteCountMax
    while offset > 0 {
      let (before, behind) = (bytes[offset - 1], bytes[offset])
      if before < 0x80, behind < 0x80, before != 0x0D || behind != 0x0A { return offset }
      offset -= 1
    }
    return 0
  }
}

/// A place in the list of conversations, for reading on from it.
public struct ConversationPosition: Sendable, Hashable {
  /// Where the list has the conversation.
  let place: ListPlace
  let number: UInt32
}

/// An attachment as a list of conversations shows it.
public struct PreviewAttachment: Hashable, Sendable {
  /// What it is.
  public package(set) var kind: AttachmentKind
  /// The name of its file: at most 160 bytes of UTF-8, cut at the border of a character.
  public package(set) var fileName: String
  /// The reference of its thumbnail; empty where there is none, or one of more than 1,024 bytes.
  public package(set) var thumbnail: String

  /// The most bytes of a file's name; a longer one is cut.
  static let fileNameByteCountMax = 160
  /// The most bytes of a thumbnail's reference; a longer one is left out, as half of it is none.
  static let thumbnailByteCountMax = 1024

  package init(kind: AttachmentKind, fileName: String, thumbnail: String) {
    self.kind = kind
    self.fileName = Preview.cut(fileName)
    self.thumbnail = thumbnail.utf8.count > Self.thumbnailByteCountMax ? "" : thumbnail
  }
}
