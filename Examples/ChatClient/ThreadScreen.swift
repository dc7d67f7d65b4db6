public import MsgStore

/// A thread as a screen shows it: lines that follow the store.
public actor ThreadScreen {
  private let store: MessageStore
  private let thread: LiveThread
  private let show: @Sendable ([String]) -> Void
  private var rows: [(sender: MemberID, text: String)] = []
  private var names: [MemberID: String] = [:]

  init(
    _ store: MessageStore, _ thread: LiveThread, show: @escaping @Sendable ([String]) -> Void
  ) {
    (self.store, self.thread, self.show) = (store, thread, show)
  }

  /// Each message with the name of its sender, oldest first.
  public var lines: [String] { rows.map { "\(names[$0.sender] ?? "\($0.sender)"): \($0.text)" } }

  /// Follows the thread and the names until the task is cancelled or the store is closed.
  public func follow() async throws {
    async let names: Void = followNames()
    try await followMessages()
    try await names
  }

  /// Of each new value, only the rows that differ are made.
  private func followMessages() async throws {
    for try await value in thread {
      value.differences.apply(to: &rows) { index in
        let message = value.slice[index]
        return (message.sender, Self.text(of: message))
      }
      show(lines)
    }
  }

  /// A new name changes all lines of its member.
  ///
  /// These are all the names there are. A client that knows thousands of people reads
  /// `profiles(of: value.slice.lazy.map(\.sender))` with each slice instead.
  private func followNames() async throws {
    for try await profiles in store.live(.profiles, { chat in try chat.profiles() }) {
      names.removeAll()
      for profile in profiles { names[profile.id] = profile.name }
      show(lines)
    }
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
    ThreadScreen(store, store.thread(room).live(newest: count), show: show)
  }

  /// The lines of a screen as one read gives them: messages and names of one moment.
  public func lines(in room: ConversationID, newest count: Int) throws -> [String] {
    try store.read { chat in
      let slice = try chat.thread(room).tail(count)
      let people = try chat.profiles(of: slice.lazy.map(\.sender))
      return slice.map {
        "\(people[$0.sender]?.name ?? "\($0.sender)"): \(ThreadScreen.text(of: $0))"
      }
    }
  }
}
