package import MsgStore

/// What the numbered commits of the crash test do: always the same for the same number.
///
/// Whoever knows how many commits a store holds knows everything that must be in it.
package enum CrashStep {
  /// A message of somebody else.
  case insert(Message)
  /// A message of the local member that waits for the server.
  case write(Message)
  /// The server's answer to the message of an earlier step.
  case acknowledge(MessageID, in: ConversationID, Timestamp, sequence: Int64)
  /// Everything in a conversation has been read.
  case markRead(ConversationID)

  /// Whose store it is.
  package static let localMember: MemberID = "me"
  /// The rooms that messages go to.
  package static let rooms = (0..<7).map { ConversationID("room-\($0)") }
  /// A conversation whose title is the number of the last step.
  package static let progress: ConversationID = "progress"
  /// The key of a sync position that is this number, too.
  package static let syncKey = "step"

  /// The step of a number; the first is 1.
  package init(_ number: Int) {
    switch number % 10 {
    case 3: self = .write(Self.message(number, isPending: true))
    case 6:
      self = .acknowledge(
        Self.id(number - 3), in: Self.room(number - 3), Self.time(number), sequence: Int64(number))
    case 8: self = .markRead(Self.room(number))
    default: self = .insert(Self.message(number, isPending: false))
    }
  }

  /// Does the step and says so, all in one commit.
  package func run(_ number: Int, _ writer: borrowing StoreWriter) throws {
    switch self {
    case .insert(let message), .write(let message): try writer.insert(message)
    case .acknowledge(let id, let room, let time, let sequence):
      try writer.acknowledge(id, in: room, serverTimestamp: time, sequence: sequence)
    case .markRead(let room): try writer.markRead(room)
    }
    try writer.putConversation(Self.progress, participants: [], title: "\(number)")
    try writer.setSyncPosition(Array("\(number)".utf8), for: Self.syncKey)
  }

  /// The number of the last step that a store holds.
  package static func lastNumber(in store: MessageStore) throws -> Int {
    try store.read { snapshot in
      let title = try snapshot.conversation(progress)?.title
      return title.flatMap { Int($0) } ?? 0
    }
  }

  private static func room(_ number: Int) -> ConversationID { rooms[number % rooms.count] }
  private static func id(_ number: Int) -> MessageID { MessageID("m-\(number)") }
  private static func time(_ number: Int) -> Timestamp {
    Timestamp(milliseconds: 1_700_000_000_000 + Int64(number))
  }

  /// Short as a rule; now and then one that takes pages of its own.
  private static func message(_ number: Int, isPending: Bool) -> Message {
    let padding = String(repeating: "x", count: number % 97 == 0 ? 20_000 : number % 60)
    return Message(
      id: id(number), in: room(number), from: isPending ? localMember : "you",
      text: "message \(number) \(padding)", localTime: isPending ? time(number) : nil,
      serverTimestamp: isPending ? nil : time(number), sequence: isPending ? nil : Int64(number))
  }
}
