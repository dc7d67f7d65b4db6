/// What somebody has begun to write in a conversation.
public struct Draft: Sendable, Hashable {
  /// Its text, up to 1 MiB, kept byte for byte.
  public let text: String
  /// The message that it is to answer.
  public let replyTo: MessageID?
  /// When it was written.
  public let time: Timestamp

  /// A draft.
  public init(text: String, replyTo: MessageID? = nil, time: Timestamp) {
    self.text = text
    self.replyTo = replyTo
    self.time = time
  }
}
