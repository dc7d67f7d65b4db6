import PageFile

/// A version of a message's text other than the current one.
public struct MessageVersion: Sendable, Hashable {
  /// The text.
  public let text: String
  /// The time at which it was written as an edit; nil for the original.
  public let time: Timestamp?

  /// Compares both fields; texts are equal if their bytes are.
  public static func == (a: Self, b: Self) -> Bool {
    a.time == b.time && a.text.hasSameBytes(as: b.text)
  }
}
