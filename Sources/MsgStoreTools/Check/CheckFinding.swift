import MsgStore

/// A fault found in the contents of a store.
public struct CheckFinding: Sendable, Hashable, CustomStringConvertible {
  /// A sentence that names the faulty item and the fault.
  public let description: String

  init(_ description: String) { self.description = description }
}
