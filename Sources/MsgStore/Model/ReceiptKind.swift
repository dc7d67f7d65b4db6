/// What a receipt says that a member has done with a message.
public enum ReceiptKind: UInt8, Sendable, Hashable, CaseIterable {
  /// One of the member's devices has it.
  case delivered = 1
  /// The member has read it.
  ///
  /// Whoever has read a message has it, too.
  case read = 2
}
