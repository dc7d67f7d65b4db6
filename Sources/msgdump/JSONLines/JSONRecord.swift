package import MsgStore

/// What one line of an export says.
///
/// See docs/message-format.md, J-1 … J-8.
///
///     {"kind":"store","local_member":"ann"}
///     {"kind":"conversation","id":"club","participants":["ann","bob"],"title":"Book club"}
///     {"kind":"receipt","conversation":"club","up_to":"m-17"}
///     {"conversation":"club","id":"m-18","sender":"bob","text":"…","timestamp_ms":1704067200000.5}
///
///  1. The store's line, where there is one, is the first.
///  2. A conversation's line stands before its receipt and its messages. A conversation without one
///     is made by its first message.
///  3. A receipt says that the local member has read up to a message; every message of its
///     conversation that follows behind that one, and is not the local member's own, is unread.
///     Without a receipt all are read.
///  4. The messages of a conversation stand in its order, which is also the order of those that
///     have no server time.
package enum JSONRecord: Sendable, Hashable {
  case store(localMember: MemberID)
  case conversation(ConversationID, participants: [MemberID], title: String?)
  /// Without a message nothing has been read.
  case receipt(ConversationID, upTo: MessageID?)
  case message(Message)

  /// The names of the kinds.
  enum Kind: String, CaseIterable {
    case store
    case conversation
    case receipt
    case message

    /// What a line of the kind may hold, besides its kind.
    var fields: JSONFieldSet {
      switch self {
      case .store: [.localMember]
      case .conversation: [.id, .participants, .title]
      case .receipt: [.conversation, .upTo]
      case .message:
        [
          .conversation, .id, .sender, .text, .timestamp, .sequence, .localTime, .status, .replyTo,
        ]
      }
    }

    /// What a line of the kind has to hold.
    var requiredFields: JSONFieldSet {
      switch self {
      case .store: [.localMember]
      case .conversation: [.id]
      case .receipt: [.conversation, .upTo]
      case .message: [.conversation, .id, .sender, .text, .timestamp]
      }
    }
  }
}

extension MessageStatus {
  /// The name of the status in JSON and in tables.
  var name: String {
    switch self {
    case .pending: "pending"
    case .failed: "failed"
    case .sent: "sent"
    case .delivered: "delivered"
    case .read: "read"
    case .held: "held"
    case .sending: "sending"
    case .retrying: "retrying"
    }
  }

  init?(name: String) {
    guard let status = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = status
  }
}
