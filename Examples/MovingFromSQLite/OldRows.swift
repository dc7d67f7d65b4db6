import MsgStore

/// A row of `conversation`, with its participants and read marks.
struct OldConversation: Sendable {
  /// A member who has read up to a time.
  struct Mark: Sendable {
    let member: MemberID
    let time: Int64
  }

  let row: Int64
  let name: OldText
  let isGroup: Bool
  let title: OldText
  let isMuted: Bool
  let draft: OldText
  /// The time of the last change of the row.
  let changedAt: Int64
  var participants: [MemberID] = []
  var marks: [Mark] = []

  /// The id in the new store, or nil if the old name cannot be one.
  var id: ConversationID? {
    guard let name = name.string, (1...255).contains(name.utf8.count) else { return nil }
    return ConversationID(name)
  }

  /// The time up to which a member has read.
  func readTime(of member: MemberID) -> Int64 {
    marks.first { $0.member == member }?.time ?? .min
  }
}

/// A row of `message`, with its reactions and attachments.
struct OldMessage: Sendable {
  /// The column `state`.
  enum State: Int64, Sendable {
    case sent = 0
    case unsent = 1
    /// Not sent, and the user has to decide.
    case failed = 2
  }

  let row: Int64
  let id: OldText
  let sender: OldText
  let text: OldText
  /// Milliseconds since 1970.
  let time: Int64
  let state: State
  let replyTo: OldText
  var reactions: [OldReaction] = []
  var attachments: [OldAttachment] = []
}

/// A row of `reaction`.
struct OldReaction: Sendable {
  let row: Int64
  let member: OldText
  let emoji: OldText
  let time: Int64?
}

/// A row of `attachment`.
struct OldAttachment: Sendable {
  let row: Int64
  let id: OldText
  let type: OldText
  let url: OldText
  let path: OldText
  let byteCount: Int64?
}

/// A stretch of one conversation: a part of a batch.
struct OldPart: Sendable {
  let conversation: OldConversation
  /// True if no batch has had messages of this conversation.
  let isBeginning: Bool
  let messages: [OldMessage]
  /// The place in the old file after this part.
  let place: MovePlace
}

/// A row that belongs to no conversation, or has no time.
struct UnplacedRow: Sendable {
  let row: Int64
  let id: OldText
  let hasTime: Bool
}
