import PageFile

/// A version of a message's text other than the current one.
public struct MessageVersion: Sendable, Hashable {
  /// The text.
  public let text: String
  /// The time at which it was written as an edit; nil for the original.
  public let time: Timestamp?
  /// The server's own id of the edit; nil if it has told none.
  public let serverName: MessageID?

  /// Creates a version, for previews and tests of views.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - time: The time at which it was written as an edit; nil for the original.
  ///   - serverName: The server's own id of the edit; nil if it has none.
  public init(text: String, time: Timestamp?, serverName: MessageID? = nil) {
    self.text = text
    self.time = time
    self.serverName = serverName
  }

  /// Compares all fields; texts are equal if their bytes are.
  public static func == (a: Self, b: Self) -> Bool {
    a.time == b.time && a.serverName == b.serverName && a.text.hasSameBytes(as: b.text)
  }
}
