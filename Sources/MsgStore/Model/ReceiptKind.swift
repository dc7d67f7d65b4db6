/// The kind of a receipt.
public enum ReceiptKind: UInt8, Sendable, Hashable, CaseIterable {
  /// One of the member's devices has received the message.
  case delivered = 1
  /// The member has read the message.
  ///
  /// Reading implies delivery.
  case read = 2
}
