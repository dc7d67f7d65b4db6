/// What the server, or another device through it, tells of a member's reading or receiving.
public struct ReceivedReceipt: Sendable, Hashable {
  /// Which messages a receipt is about.
  public enum Extent: Sendable, Hashable {
    /// Everything up to this message, wherever it will lie; it need not be here yet.
    case upTo(MessageID)
    /// Everything up to the position of an acknowledged message.
    case upToPosition(Position)
    /// These messages alone; they need not be here yet.
    case messages([MessageID])
  }

  /// The conversation; it need not be here yet.
  public var conversation: ConversationID
  /// Whose receipt it is, the local member's included.
  public var member: MemberID
  /// What the member has done.
  public var kind: ReceiptKind
  /// Which messages it is about.
  public var extent: Extent
  /// When that was; nil where nobody says.
  public var time: Timestamp?

  /// A receipt.
  ///
  /// - Parameters:
  ///   - conversation: The conversation; it need not be here yet.
  ///   - member: Whose receipt it is, the local member's included.
  ///   - kind: What the member has done.
  ///   - extent: Which messages it is about.
  ///   - time: When that was; nil where nobody says.
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
    switch extent {
    case .upTo(let id): try id.validate()
    case .messages(let ids): for id in ids { try id.validate() }
    case .upToPosition: break
    }
  }
}
