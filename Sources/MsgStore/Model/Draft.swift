/// An unfinished message in a conversation.
public struct Draft: Sendable, Hashable {
  /// The text, up to 1 MiB, kept byte for byte.
  public let text: String
  /// The message being answered.
  public let replyTo: MessageID?
  /// The time at which the draft was written.
  public let time: Timestamp

  /// Creates a draft.
  public init(text: String, replyTo: MessageID? = nil, time: Timestamp) {
    self.text = text
    self.replyTo = replyTo
    self.time = time
  }
}
