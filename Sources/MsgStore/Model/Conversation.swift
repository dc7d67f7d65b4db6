/// A conversation as shown in a list of conversations: its attributes, counters, and last message.
public struct Conversation: Sendable, Hashable, Identifiable {
  /// The most members in `participants`, except in a task of the outbox.
  public static let maximumListedParticipantCount = 32

  /// The most participants whose profiles come with a conversation.
  public static let maximumProfiledParticipantCount = 8

  private let content: Content

  @inline(never)
  init(_ fields: Fields) { content = Content(fields) }

  /// Creates a conversation, for previews and tests of views; those of a store come from reading.
  ///
  /// - Parameters:
  ///   - id: The identifier.
  ///   - kind: The kind of conversation.
  ///   - participants: All participants.
  ///   - title: The title.
  ///   - avatar: The reference of the picture.
  ///   - preview: The last message.
  ///   - lastActivity: The time of the last message.
  ///   - messageCount: The number of messages.
  ///   - unreadCount: The number of unread messages.
  ///   - unreadMentionCount: The number of unread messages that mention the local member.
  ///   - isMember: True if the local member takes part.
  ///   - isPinned: True if it stays at the top of the list.
  ///   - isMuted: True if its unread messages are counted separately.
  ///   - mutedUntil: The time until which it is muted; nil if that has no end.
  ///   - isArchived: True if it is in the list of archived conversations.
  ///   - hasDraft: True if it has a draft.
  ///   - isMarkedUnread: True if the local member has marked it as unread.
  ///   - updatedAt: The newest time of its title, picture, and marks.
  ///   - profiles: The profiles that `profile(of:)` returns.
  public init(
    id: ConversationID, kind: ConversationKind = .group, participants: [MemberID] = [],
    title: String? = nil, avatar: String? = nil, preview: ConversationPreview? = nil,
    lastActivity: Timestamp? = nil, messageCount: Int = 0, unreadCount: Int = 0,
    unreadMentionCount: Int = 0, isMember: Bool = true, isPinned: Bool = false,
    isMuted: Bool = false, mutedUntil: Timestamp? = nil, isArchived: Bool = false,
    hasDraft: Bool = false, isMarkedUnread: Bool = false, updatedAt: Timestamp? = nil,
    profiles: [MemberProfile] = []
  ) {
    let place = ListPlace(
      section: isArchived ? .archived : isPinned ? .pinned : .normal,
      time: lastActivity?.microseconds ?? 0)
    self.init(
      Fields(
        id: id, otherIDs: [], kind: kind,
        participants: Array(participants.prefix(Self.maximumListedParticipantCount)),
        participantCount: participants.count, isMember: isMember, title: title, avatar: avatar,
        createdBy: nil, createdAt: nil, isPinned: isPinned, isMuted: isMuted,
        mutedUntil: isMuted ? mutedUntil : nil, isArchived: isArchived,
        isMarkedUnread: isMarkedUnread, hasDraft: hasDraft,
        updatedAt: updatedAt, deletedUpTo: nil, lastActivity: lastActivity,
        unreadCount: unreadCount, unreadMentionCount: unreadMentionCount,
        messageCount: messageCount, preview: preview, profiles: profiles,
        position: ConversationPosition(place: place, number: 0), isDeleted: false))
  }

  /// The identifier.
  public var id: ConversationID { content.fields.id }
  /// Former ids, which still lead to this conversation.
  public var otherIDs: [ConversationID] { content.fields.otherIDs }
  /// The kind of conversation.
  public var kind: ConversationKind { content.fields.kind }
  /// The first 32 participants, in the order in which they joined.
  ///
  /// Empty if the conversation is known from its messages only. The limit keeps a conversation of
  /// thousands as cheap as one of two; `StoreReading.participations(in:)` lists all members,
  /// including those who left. Only a task of the outbox (`OutboxTask.createConversation`) lists
  /// all participants here, because the server needs them.
  public var participants: [MemberID] { content.fields.participants }
  /// The number of participants.
  public var participantCount: Int { content.fields.participantCount }
  /// True if the local member takes part, as far as is known.
  ///
  /// A conversation that the local member has left remains and can be read.
  public var isMember: Bool { content.fields.isMember }
  /// The title.
  public var title: String? { content.fields.title }
  /// The reference of the picture.
  public var avatar: String? { content.fields.avatar }
  /// The member who created the conversation.
  public var createdBy: MemberID? { content.fields.createdBy }
  /// The time of creation; nil if unknown.
  public var createdAt: Timestamp? { content.fields.createdAt }
  /// True if the conversation stays at the top of the list.
  public var isPinned: Bool { content.fields.isPinned }
  /// True if its unread messages are counted separately.
  ///
  /// A mute with an end counts until then, by the clock at the moment of the snapshot. The totals
  /// of unread messages follow as they do for expired messages; see ``mutedUntil``.
  public var isMuted: Bool { content.fields.isMuted }
  /// The end of the mute; nil for a mute without an end, and while the conversation is not muted.
  public var mutedUntil: Timestamp? { content.fields.mutedUntil }
  /// True if it is in the list of archived conversations instead of the main list.
  public var isArchived: Bool { content.fields.isArchived }
  /// True if the local member has marked it as unread, whatever its counters say.
  public var isMarkedUnread: Bool { content.fields.isMarkedUnread }
  /// The newest time at which the title, the picture, or one of the marks pinned, muted, archived,
  /// and unread changed, or else that of the creation; nil if none is known.
  ///
  /// The time of a change made here is provisional until the server's becomes known. Messages and
  /// members do not count; see `lastActivity`.
  public var updatedAt: Timestamp? { content.fields.updatedAt }
  /// True if it has a draft; see `draft(of:)`.
  public var hasDraft: Bool { content.fields.hasDraft }
  /// The time up to which messages were deleted with the conversation; these do not come back.
  public var deletedUpTo: Timestamp? { content.fields.deletedUpTo }
  /// The later of the newest server time of acknowledged messages and the newest local time of
  /// pending messages; nil without messages.
  public var lastActivity: Timestamp? { content.fields.lastActivity }
  /// The number of messages that the local member has not read.
  ///
  /// 0 in a store without a local member. Like `unreadMentionCount` and `messageCount` it counts an
  /// expired message until the next step of work: for at most a second while the store is open for
  /// writing, and for as long as it is open for reading only.
  public var unreadCount: Int { content.fields.unreadCount }
  /// The number of unread messages that mention the local member.
  public var unreadMentionCount: Int { content.fields.unreadMentionCount }
  /// The number of messages; of an expired one as `unreadCount` says.
  public var messageCount: Int { content.fields.messageCount }
  /// The last message in thread order; nil without messages.
  public var preview: ConversationPreview? { content.fields.preview }
  /// Returns the name and the picture of a member, as of the snapshot that the conversation was
  /// read from.
  ///
  /// Comes with the conversation for the author of the last message and, where the conversation has
  /// no title, for the first 8 participants, from whose names a title can be made. Nil for all
  /// others, and if the store has no profile of the member. Costs a walk along these profiles.
  public func profile(of id: MemberID) -> MemberProfile? {
    content.fields.profiles.first { $0.id == id }
  }
  /// The members whose profiles come with the conversation, as far as there are any.
  var profiledMembers: [MemberID] {
    Self.profiledMembers(title: title, participants, sender: preview?.sender)
  }

  /// Returns the members whose profiles come with a conversation of these fields.
  static func profiledMembers(
    title: String?, _ participants: [MemberID], sender: MemberID?
  ) -> [MemberID] {
    let named = title == nil ? participants.prefix(maximumProfiledParticipantCount) : []
    guard let sender, !named.contains(sender) else { return Array(named) }
    return named + [sender]
  }

  /// The position in the list of conversations.
  public var position: ConversationPosition { content.fields.position }
  /// True if the conversation was deleted and nothing newer has arrived.
  ///
  /// Only tools see such conversations.
  package var isDeleted: Bool { content.fields.isDeleted }

  /// Compares all fields.
  public static func == (a: Conversation, b: Conversation) -> Bool {
    a.content === b.content || a.content.fields == b.content.fields
  }

  /// Hashes all fields.
  public func hash(into hasher: inout Hasher) { content.fields.hash(into: &hasher) }

  /// All fields in one object, so that copying a list costs one reference count per conversation.
  private final class Content: Sendable {
    let fields: Fields
    init(_ fields: Fields) { self.fields = fields }
  }

  /// The fields of a conversation, named as its properties.
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
    let mutedUntil: Timestamp?
    let isArchived: Bool
    let isMarkedUnread: Bool
    let hasDraft: Bool
    let updatedAt: Timestamp?
    let deletedUpTo: Timestamp?
    let lastActivity: Timestamp?
    let unreadCount: Int
    let unreadMentionCount: Int
    let messageCount: Int
    let preview: ConversationPreview?
    let profiles: [MemberProfile]
    let position: ConversationPosition
    let isDeleted: Bool
  }
}

/// The last message of a conversation, shortened for a list.
public struct ConversationPreview: Sendable, Hashable {
  /// A name of the message, usually its id.
  ///
  /// If another member's message arrived under two names, this is the one that the server's order
  /// uses.
  public let messageID: MessageID
  /// The author.
  public let sender: MemberID
  /// The beginning of the text: at most 160 bytes of UTF-8, cut at a character boundary.
  ///
  /// Empty if the message was retracted or consists of attachments only.
  public let text: String
  /// True if the author retracted the message.
  public let isRetracted: Bool
  /// The first attachment.
  public let attachment: PreviewAttachment?
  /// The time at which the server accepted the message; nil while it is pending.
  public let serverTimestamp: Timestamp?
  /// The delivery status.
  public let status: MessageStatus

  static let maximumByteCount = 160

  /// Creates a preview, for previews and tests of views.
  ///
  /// - Parameters:
  ///   - messageID: The id of the message.
  ///   - sender: The author.
  ///   - text: The text; more than 160 bytes are cut.
  ///   - isRetracted: True if the author retracted the message.
  ///   - attachment: The first attachment.
  ///   - serverTimestamp: The time at which the server accepted the message; nil while it is
  ///     pending.
  ///   - status: The delivery status.
  public init(
    messageID: MessageID, sender: MemberID, text: String, isRetracted: Bool = false,
    attachment: PreviewAttachment? = nil, serverTimestamp: Timestamp? = nil,
    status: MessageStatus = .sent
  ) {
    self.messageID = messageID
    self.sender = sender
    self.text = Self.cut(text)
    self.isRetracted = isRetracted
    self.attachment = attachment
    self.serverTimestamp = serverTimestamp
    self.status = status
  }

  /// Returns the part of a text that a preview keeps.
  ///
  /// See docs/message-format.md, A-3.
  package static func cut(_ text: String) -> String {
    guard text.utf8.count > maximumByteCount else { return text }
    let limit = text.utf8.index(text.startIndex, offsetBy: maximumByteCount)
    var end = sureBorder(text.utf8, notBehind: limit)
    while end < limit {
      let next = text.index(after: end)
      guard next <= limit else { break }
      end = next
    }
    return String(text[..<end])
  }

  /// Returns the last index up to `limit` that is certainly a character boundary.
  ///
  /// Any two ASCII bytes have a boundary between them, except CR and LF. Walking the characters
  /// from the beginning took 20 times as long. A byte follows the limit.
  private static func sureBorder(
    _ bytes: String.UTF8View, notBehind limit: String.Index
  ) -> String.Index {
    var index = limit
    var behind = bytes[limit]
    while index > bytes.startIndex {
      let previous = bytes.index(before: index)
      let before = bytes[previous]
      if before < 0x80, behind < 0x80, before != 0x0D || behind != 0x0A { return index }
      index = previous
      behind = before
    }
    return index
  }
}

/// A position in the list of conversations from which to continue reading.
public struct ConversationPosition: Sendable, Hashable {
  /// The place of the conversation in the list.
  let place: ListPlace
  let number: UInt32
}

/// An attachment as shown in a list of conversations.
public struct PreviewAttachment: Hashable, Sendable {
  /// The kind of file.
  public package(set) var kind: AttachmentKind
  /// The file name: at most 160 bytes of UTF-8, cut at a character boundary.
  public package(set) var fileName: String
  /// The reference of the thumbnail; empty if it has none or if it exceeds 1,024 bytes.
  public package(set) var thumbnail: String

  /// The most bytes in a file name; a longer one is cut.
  static let maximumFileNameByteCount = 160
  /// The most bytes in a thumbnail's reference.
  ///
  /// A longer one is dropped, since part of it is useless.
  static let maximumThumbnailByteCount = 1024

  /// Creates an attachment as a list shows it; a longer file name is cut, and a longer reference of
  /// a thumbnail is dropped.
  ///
  /// - Parameters:
  ///   - kind: The kind of file.
  ///   - fileName: The file name.
  ///   - thumbnail: The reference of the thumbnail; empty for none.
  public init(kind: AttachmentKind, fileName: String, thumbnail: String = "") {
    self.kind = kind
    self.fileName = ConversationPreview.cut(fileName)
    self.thumbnail = thumbnail.utf8.count > Self.maximumThumbnailByteCount ? "" : thumbnail
  }
}
