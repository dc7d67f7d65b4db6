/// Receipts of the local member in one conversation that the server has not confirmed.
///
/// It comes with an entry of the outbox, and is confirmed by completing that. Until then it comes
/// again, also after a crash.
public struct PendingReceipt: Sendable, Hashable {
  /// The form in which the server expects receipts.
  public enum Form: Sendable, Hashable {
    /// A mark up to the newest message, plus the ids of messages that the mark does not cover.
    case mark
    /// The ids of all messages, in batches of at most `maximumCount`: 1 to 500.
    case ids(maximumCount: Int = 500)
  }

  /// The conversation.
  public let conversation: ConversationID
  /// The kind of receipt.
  public let kind: ReceiptKind
  /// The exclusive start of the range: the position up to which the server was told before.
  ///
  /// nil means the beginning of the thread.
  public let after: MessagePosition?
  /// The inclusive end of the range; nil if there is no range.
  public let upTo: MessagePosition?
  /// The messages to report by the server's ids, at most 500, none of them sent by the local
  /// member.
  ///
  /// In the mark form, the messages that the range does not cover. In the ids form, all messages.
  /// The list may be empty if the range has lost its messages since; then there is nothing to send,
  /// but the receipt must still be confirmed.
  public let ids: [MessageID]
  /// True if the range is reported as a mark.
  let isMark: Bool

  /// The last message of the range, as a server expects it in a mark.
  ///
  /// It may have been deleted here since.
  public var upToID: MessageID? { upTo?.id }

  /// The sequence of the last message of the range, for servers that expect no id; nil if that
  /// message has none.
  public var upToSequence: Int64? { upTo?.place.sequence }

  static let maximumIDCount = 500

  init(
    conversation: ConversationID, kind: ReceiptKind, after: MessagePosition?,
    upTo: MessagePosition?, ids: [MessageID], isMark: Bool
  ) {
    self.conversation = conversation
    self.kind = kind
    self.after = after
    self.upTo = upTo
    self.ids = ids
    self.isMark = isMark
  }

  /// Creates receipts that no store has handed out, for tests of a worker.
  ///
  /// - Parameters:
  ///   - conversation: The conversation.
  ///   - kind: The kind of receipt.
  ///   - after: The exclusive start of the range; nil means the beginning of the thread.
  ///   - upTo: The inclusive end of the range; nil if there is no range.
  ///   - ids: The messages to report by the server's ids.
  public init(
    conversation: ConversationID, kind: ReceiptKind, after: MessagePosition? = nil,
    upTo: MessagePosition? = nil, ids: [MessageID] = []
  ) {
    self.init(
      conversation: conversation, kind: kind, after: after, upTo: upTo, ids: ids,
      isMark: upTo != nil)
  }
}
