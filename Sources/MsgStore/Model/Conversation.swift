/// A conversation as a list of conversations shows it: who, what it is called, what came last.
public struct Conversation: Sendable, Hashable {
  /// Its name.
  public let id: ConversationID
  /// Who takes part, in the order given.
  ///
  /// Empty for one that is known from its messages only.
  public let participants: [MemberID]
  /// What it is called.
  public let title: String?
  /// The newest server time of its acknowledged or local time of its pending messages, whichever is
  /// later; nil without messages.
  public let lastActivity: Timestamp?
  /// How many messages the local member has not read.
  ///
  /// 0 in a store without a local member.
  public let unreadCount: Int
  /// How many messages it has.
  public let messageCount: Int
  /// The last message in the thread's order; nil without messages.
  public let preview: Preview?
  /// Its place in the list of conversations.
  public let position: ConversationPosition
}

/// The last message of a conversation, cut for a list.
public struct Preview: Sendable, Hashable {
  /// The message's name.
  public let messageID: MessageID
  /// Who wrote it.
  public let sender: MemberID
  /// The beginning of its text: at most 160 bytes of UTF-8, cut at the border of a character.
  public let text: String
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
    var end = text.startIndex
    while true {
      let next = text.index(after: end)
      guard next <= limit else { return String(text[..<end]) }
      end = next
    }
  }
}

/// A place in the list of conversations, for reading on from it.
public struct ConversationPosition: Sendable, Hashable {
  /// Where the list has the conversation.
  let place: ListPlace
  let number: UInt32
}
