import MsgStore
package import MsgStoreTools

/// A fictional chat for demonstrations: always the same, and with everything that a message store
/// has to keep apart and in order.
///
/// The short conversations are written by hand; the long one is assembled from phrases.
package struct SampleChat {
  /// The owner of the chat.
  private static let localMember: MemberID = "ann"

  private let longThreadMessageCount: Int

  package init(longThreadMessageCount: Int) {
    self.longThreadMessageCount = longThreadMessageCount
  }

  package func forEachRecord<Failure: Error>(_ body: (JSONRecord) throws(Failure) -> Void)
    throws(Failure)
  {
    try body(.store(JSONStore(localMember: Self.localMember)))
    for script in SampleScripts.conversations {
      try forEachRecord(of: script, body)
    }
    try SampleThread(messageCount: longThreadMessageCount).forEachRecord(body)
    let waiting = SampleScripts.conversations.first { $0.lines.contains(where: \.isPending) }
    for entry in waiting.map({ SampleOutbox.entries(for: messages(of: $0)) }) ?? [] {
      try body(.outbox(entry))
    }
  }

  private func forEachRecord<Failure: Error>(
    of script: SampleScript, _ body: (JSONRecord) throws(Failure) -> Void
  ) throws(Failure) {
    let conversation = ConversationID(script.id)
    var made = ExportedConversation(
      sample: conversation, participants: script.participants, title: script.title,
      since: script.begin)
    made.set(script.marks, at: Timestamp(microseconds: script.begin + 60_000_000))
    try body(.conversation(made))
    if let text = script.draft {
      var draft = ExportedDraft()
      draft.conversation = conversation
      draft.text = text
      draft.time = Timestamp(microseconds: script.begin + 600_000_000)
      try body(.draft(draft))
    }
    let messages = messages(of: script)
    let acknowledged = messages.filter { $0.serverTimestamp != nil }
    // A member without a connection has not sent their receipts.
    let isTold = acknowledged.count == messages.count
    let read = acknowledged.dropLast(script.unreadCount).last
    try body(.receipt(JSONReceipt(conversation, upTo: read, isTold: isTold)))
    for message in messages { try message.forEachRecord(body) }
  }

  private func messages(of script: SampleScript) -> [ExportedMessage] {
    var time = script.begin
    return script.lines.enumerated().map { index, line in
      time += line.pause
      let timestamp = Timestamp(microseconds: time)
      var message = ExportedMessage(
        Message(
          id: messageID(index, of: script), in: ConversationID(script.id),
          from: MemberID(line.sender), text: line.text,
          localTime: line.sender == "ann" ? timestamp : nil,
          serverTimestamp: line.isPending ? nil : timestamp,
          sequence: line.isPending ? nil : Int64(index + 1),
          status: line.status, replyTo: line.replyTo.map { messageID($0, of: script) }))
      line.more(&message)
      return message
    }
  }

  private func messageID(_ index: Int, of script: SampleScript) -> MessageID {
    MessageID("\(script.id)-\(index + 1)")
  }
}

extension ExportedConversation {
  /// Creates a conversation that began at a time, in microseconds since 1970.
  init(sample id: ConversationID, participants: [String], title: String?, since: Int64) {
    self.init()
    self.id = id
    kind = participants.count == 2 ? .direct : .group
    let time = Timestamp(microseconds: since)
    createdAt = time
    self.title = title
    titleAt = title == nil ? nil : time
    // Successive times keep the members in the given order.
    members = participants.enumerated().map { index, name in
      var member = ExportedMember()
      member.member = MemberID(name)
      member.time = Timestamp(microseconds: since + Int64(index))
      return member
    }
  }
}

extension ExportedConversation {
  fileprivate mutating func set(_ marks: SampleScript.Marks, at time: Timestamp) {
    switch marks {
    case .none: break
    case .pinned: (isPinned, pinnedAt) = (true, time)
    case .muted: (isMuted, mutedAt) = (true, time)
    case .archived: (isArchived, archivedAt) = (true, time)
    }
  }
}

/// A conversation written by hand.
struct SampleScript {
  /// The local member's mark on the conversation.
  enum Marks {
    case none
    case pinned
    case muted
    case archived
  }

  let id: String
  let participants: [String]
  var title: String?
  /// Microseconds since 1970.
  let begin: Int64
  /// The number of unread messages at the end.
  ///
  /// All messages before them are read.
  var unreadCount = 0
  /// The draft of the local member.
  var draft: String?
  var marks = Marks.none
  let lines: [SampleLine]
}

/// One message of a script.
struct SampleLine {
  let sender: String
  let text: String
  /// Microseconds since the message before.
  var pause: Int64 = 47_318_000
  var status: MessageStatus?
  /// The index of the message that it answers.
  var replyTo: Int?

  /// Adds properties that few messages have.
  var more: @Sendable (inout ExportedMessage) -> Void

  /// True if the server has not seen the message.
  var isPending: Bool { status == .held }

  init(
    _ sender: String, _ text: String, pause: Int64 = 47_318_000, status: MessageStatus? = nil,
    replyTo: Int? = nil, more: @escaping @Sendable (inout ExportedMessage) -> Void = { _ in }
  ) {
    self.sender = sender
    self.text = text
    self.pause = pause
    self.status = status
    self.replyTo = replyTo
    self.more = more
  }
}
