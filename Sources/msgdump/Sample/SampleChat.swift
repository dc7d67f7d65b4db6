import MsgStore

/// A chat of people who do not exist, for demonstrations: always the same, and with everything in it
/// that a message store has to keep apart and in order.
///
/// The short conversations are written by hand, the long one is put together from phrases.
package struct SampleChat {
  /// Whose chat it is.
  private static let localMember: MemberID = "ann"

  private let longThreadMessageCount: Int

  package init(longThreadMessageCount: Int) {
    self.longThreadMessageCount = longThreadMessageCount
  }

  package func forEachRecord<Failure: Error>(_ body: (JSONRecord) throws(Failure) -> Void)
    throws(Failure)
  {
    try body(.store(localMember: Self.localMember))
    for script in SampleScripts.conversations {
      try forEachRecord(of: script, body)
    }
    try SampleThread(messageCount: longThreadMessageCount).forEachRecord(body)
  }

  private func forEachRecord<Failure: Error>(
    of script: SampleScript, _ body: (JSONRecord) throws(Failure) -> Void
  ) throws(Failure) {
    let conversation = ConversationID(script.id)
    try body(
      .conversation(
        conversation, participants: script.participants.map { MemberID($0) }, title: script.title))
    let acknowledgedCount = script.lines.count { !$0.isPending }
    if script.unreadCount > 0 {
      try body(
        .receipt(
          conversation, upTo: messageID(acknowledgedCount - script.unreadCount - 1, of: script)))
    }
    var time = script.begin
    for (index, line) in script.lines.enumerated() {
      time += line.pause
      let timestamp = Timestamp(microseconds: time)
      try body(
        .message(
          Message(
            id: messageID(index, of: script), in: conversation, from: MemberID(line.sender),
            text: line.text, localTime: line.sender == "ann" ? timestamp : nil,
            serverTimestamp: line.isPending ? nil : timestamp,
            sequence: line.isPending ? nil : Int64(index + 1),
            status: line.status, replyTo: line.replyTo.map { messageID($0, of: script) })))
    }
  }

  private func messageID(_ index: Int, of script: SampleScript) -> MessageID {
    MessageID("\(script.id)-\(index + 1)")
  }
}

/// A conversation that was written by hand.
struct SampleScript {
  let id: String
  let participants: [String]
  var title: String?
  /// Microseconds since 1970.
  let begin: Int64
  /// How many messages at the end the local member has not read.
  ///
  /// All before them are.
  var unreadCount = 0
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

  /// Whether the server has not seen it.
  var isPending: Bool { status == .pending || status == .failed }

  init(
    _ sender: String, _ text: String, pause: Int64 = 47_318_000, status: MessageStatus? = nil,
    replyTo: Int? = nil
  ) {
    self.sender = sender
    self.text = text
    self.pause = pause
    self.status = status
    self.replyTo = replyTo
  }
}
