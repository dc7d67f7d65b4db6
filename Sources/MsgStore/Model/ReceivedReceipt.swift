/// A member's receipt, received from the server or from another device through it.
public struct ReceivedReceipt: Sendable, Hashable {
  /// The messages that a receipt covers.
  public enum Extent: Sendable, Hashable {
    /// All messages up to this one, wherever it is placed; it need not have arrived yet.
    case upTo(MessageID)
    /// All messages up to the position of an acknowledged message.
    case upToPosition(MessagePosition)
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
    case .upToPosition: break
    }
  }
}
