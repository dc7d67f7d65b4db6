/// A member's receipt, received from the server or from another device through it.
public struct ReceivedReceipt: Sendable, Equatable {
  /// The messages that a receipt covers.
  public enum Extent: Sendable, Equatable {
    /// All messages up to this one, wherever it is placed; it need not have arrived yet.
    case upTo(MessageID)
    /// All messages up to the position of an acknowledged message.
    case upToPosition(MessagePosition)
    /// All messages whose sequence is at most this one, for servers that say no id.
    ///
    /// No message needs to have this sequence, and those up to it may come later. It counts as a
    /// mark up to the place of the last of them in the thread, so it covers messages without a
    /// sequence as far as they lie before that place. Of each member and kind the eight greatest
    /// sequences are kept. Receiving one costs a walk along the messages with greater sequences.
    case upToSequence(Int64)
    /// These messages alone; they need not have arrived yet.
    case messages([MessageID])
  }

  /// The conversation; it need not have arrived yet.
  public var conversation: ConversationID
  /// The member who sent the receipt; may be the local member.
  public var member: MemberID
  /// The kind of receipt.
  public var kind: ReceiptKind
  /// The messages covered.
  public var extent: Extent
  /// The time of the receipt; nil if unknown.
  public var time: Timestamp?

  /// Creates a receipt.
  ///
  /// - Parameters:
  ///   - conversation: The conversation; it need not have arrived yet.
  ///   - member: The member who sent the receipt; may be the local member.
  ///   - kind: The kind of receipt.
  ///   - extent: The messages covered.
  ///   - time: The time of the receipt; nil if unknown.
  public init(
    in conversation: ConversationID, of member: MemberID, _ kind: ReceiptKind, _ extent: Extent,
    time: Timestamp? = nil
  ) {
    self.conversation = conversation
    self.member = member
    self.kind = kind
    self.extent = extent
    self.time = time
  }

  func validate() throws(StoreError) {
    try conversation.validate()
    try member.validate()
    try time?.validate()
    switch extent {
    case .upTo(let id): try id.validate()
    case .messages(let ids): for id in ids { try id.validate() }
    case .upToPosition, .upToSequence: break
    }
  }
}
