public import MsgStore

/// A thread as a screen shows it: lines that follow the store.
public actor ThreadScreen {
  private let thread: LiveThread
  private let show: @Sendable ([String]) -> Void
  /// Each message with the name of its sender, oldest first.
  public private(set) var lines: [String] = []

  init(_ thread: LiveThread, show: @escaping @Sendable ([String]) -> Void) {
    (self.thread, self.show) = (thread, show)
  }

  /// Follows the thread and the names in it until the task is cancelled or the store is closed.
  ///
  /// Of each new value, only the lines that differ are made. A new name changes all lines of its
  /// member.
  public func follow() async throws {
    for try await value in thread {
      value.differences.apply(to: &lines) { Self.line(of: value.slice[$0]) }
      show(lines)
    }
  }

  static func line(of message: Message) -> String {
    "\(message.senderProfile?.name ?? "\(message.sender)"): \(text(of: message))"
  }

  static func text(of message: Message) -> String {
    if message.isRetracted { return "(taken back)" }
    let parts =
      [message.text] + message.attachments.map { "[\($0.fileName ?? "\($0.kind)")]" }
      + message.reactionCounts.map { "\($0.emoji)" } + (message.isEdited ? ["(edited)"] : [])
    return parts.filter { !$0.isEmpty }.joined(separator: " ")
  }
}

extension ChatClient {
  /// The newest messages of a conversation, to be shown as they change.
  ///
  /// - Parameters:
  ///   - room: The conversation; it need not be there yet.
  ///   - count: The number of messages, 1 or more.
  ///   - show: Given all lines, each time that one of them has changed.
  public func screen(
    of room: ConversationID, newest count: Int,
    show: @escaping @Sendable ([String]) -> Void = { _ in }
  ) -> ThreadScreen {
    ThreadScreen(store.thread(room).live(newest: count), show: show)
  }

  /// The lines of a screen as one read gives them: messages and names of one moment.
  public func lines(in room: ConversationID, newest count: Int) throws -> [String] {
    try store.read { chat in
      try chat.thread(room).tail(count).map { ThreadScreen.line(of: $0) }
    }
  }
}
