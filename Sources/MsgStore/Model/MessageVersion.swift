import PageFile

/// An earlier or other version of a message's text.
public struct MessageVersion: Sendable, Hashable {
  /// The text.
  public let text: String
  /// When it was written as an edit; nil of the original.
  public let time: Timestamp?

  /// Equality of both; texts are equal when their bytes are.
  public static func == (a: Self, b: Self) -> Bool {
    a.time == b.time && a.text.hasSameBytes(as: b.text)
  }
}
