/// An engine that finds the messages that answer one.
protocol ReplyEngine: Engine {
  /// Prepares the store for `replies`, if necessary.
  ///
  /// Not timed.
  func keepReplies() throws
  /// Reads the newest messages that answer a message.
  func replies(to key: MessageKey, count: Int) throws -> Reading
}
