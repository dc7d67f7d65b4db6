import MsgStore

/// Something in a store that is not as it must be.
public struct Finding: Sendable, Hashable, CustomStringConvertible {
  /// A sentence that says what and where.
  public let description: String

  init(_ description: String) { self.description = description }
}
