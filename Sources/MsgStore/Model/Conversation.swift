/// A conversation as a list of conversations shows it: who, what it is called, what came last.
public struct Conversation: Sendable, Hashable {
  /// The most participants that one in a list has.
  public static let listedParticipantCountMax = ConversationDetails.firstParticipantCountMax

  /// Its name.
  public let id: ConversationID
  /// Names that lead to it as well: it had them before.
  public let otherIDs: [ConversationID]
  /// What kind it is.
  public let kind: ConversationKind
  /// Who takes part, in the order in which they came.
  ///
  /// Empty for one that is known from its messages only. In a list only the first 32, so that a
  /// conversation of thousands costs no more than one of two.
  public let participants: [MemberID]
  /// How many take part.
  public let participantCount: Int
  /// Who took part and left.
  ///
  /// Empty in a list.
  public let formerParticipants: [MemberID]
  /// Whether the local member takes part, as far as is known.
  ///
  /// One that they have left stays, and can be read.
  public let isMember: Bool
  /// What it is called.
  public let title: String?
  /// The reference of its picture.
  public let avatar: String?
  /// Who made it.
  public let createdBy: MemberID?
  /// When it was made, where that is known.
  public let createdAt: Timestamp?
  /// Whether it stays on top of the list.
  public let isPinned: Bool
  /// Whether what it has unread is counted apart.
  public let isMuted: Bool
  /// Whether it is in the list of archived ones instead of the other.
  public let isArchived: Bool
  /// Whether something has been begun in it, see `draft(of:)`.
  public let hasDraft: Bool
  /// Messages up to this time were deleted with it, and do not come back.
  public let deletedUpTo: Timestamp?
  /// The newest server time of its acknowledged or local time of its pending messages, whichever is
  /// later; nil without messages.
  public let lastActivity: Timestamp?
  /// How many messages the local member has not read.
  ///
  /// 0 in a store without a local member.
  public let unreadCount: Int
  /// How many of them name the local member.
  public let unreadMentionCount: Int
  /// How many messages it has.
  public let messageCount: Int
  /// The last message in the thread's order; nil without messages.
  public let preview: Preview?
  /// Its place in the list of conversations.
  public let position: ConversationPosition
  /// Whether it was deleted and nothing newer has come: then only tools get to see it.
  package let isDeleted: Bool
}

/// The last message of a conversation, cut for a list.
public struct Preview: Sendable, Hashable {
  /// The message's name.
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
