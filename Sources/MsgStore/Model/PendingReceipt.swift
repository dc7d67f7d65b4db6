/// What has to go to the server of the local member's receipts in one conversation.
///
/// It is sent, and given to `confirm(_:)` when the server has it. Until then it is handed out again,
/// also after a crash.
public struct PendingReceipt: Sendable, Hashable {
  /// How the server wants to be told.
  public enum Form: Sendable, Hashable {
    /// A mark up to the newest message, and beside it the names of those that it does not cover.
    case mark
    /// The names of all messages, a number of them at a time: 1 to 500.
    case ids(countMax: Int = 500)
  }

  /// The conversation.
  public let conversation: ConversationID
  /// What the local member has done.
  public let kind: ReceiptKind
  /// Where the range begins: it does not take in this position, up to which the server was told
  /// before; nil stands for the beginning of the thread.
  public let after: Position?
  /// Where the range ends, which takes this position in; nil when there is no range.
  public let upTo: Position?
  /// Messages to be told by the names that the server has for them, at most 500, none of them the
  /// local member's own.
  ///
  /// As a mark, those that the range does not cover. As names, all; there may be none where the
  /// range has lost its messages meanwhile: then there is nothing to send, but to confirm.
  public let ids: [MessageID]
  /// Whether the range is told as a mark.
  let isMark: Bool

  /// The message that the range goes up to: what a server wants to be told as a mark.
  ///
  /// It may have been deleted here since.
  public var upToID: MessageID? { upTo?.id }

  static let idCountMax = 500
}
