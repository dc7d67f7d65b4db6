/// How far a message has come.
///
/// A higher one replaces a lower one when two copies are merged.
public enum MessageStatus: UInt8, Sendable, Hashable, Comparable, CaseIterable {
  /// Waits to be sent.
  case pending = 0
  /// Could not be sent.
  case failed
  /// The server has it.
  case sent
  /// A receiver's device has it.
  case delivered
  /// A receiver has read it.
  case read

  /// What has come less far comes first.
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
