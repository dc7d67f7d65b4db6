import PageFile

/// A version of a message's text other than the current one.
public struct MessageVersion: Sendable, Hashable {
  /// The text.
  public let text: String
  /// The time at which it was written as an edit; nil for the original.
  public let time: Timestamp?

  /// Creates a version, for previews and tests of views.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - time: The time at which it was written as an edit; nil for the original.
  public init(text: String, time: Timestamp?) {
    self.text = text
    self.time = time
  }

  /// Compares both fields; texts are equal if their bytes are.
  public static func == (a: Self, b: Self) -> Bool {
    a.time == b.time && a.text.hasSameBytes(as: b.text)
  }
}
