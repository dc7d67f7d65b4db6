import MsgStore
import PageFile
import Testing

/// A message that answers another.
func reply(
  _ id: MessageID, to answered: MessageID, at time: Int64?, _ sequence: Int64? = nil,
  in conversation: ConversationID = "room", from sender: MemberID = "you", local: Int64? = nil
) -> Message {
  Message(
    id: id, in: conversation, from: sender, text: "re \(id)",
    localTime: local.map(Timestamp.init(microseconds:)),
    serverTimestamp: time.map(Timestamp.init(microseconds:)), sequence: sequence,
    replyTo: answered)
}

extension StoreReading where Self: ~Copyable {
  /// The names of all replies to a message, oldest first.
  func replyNames(
    to id: MessageID, in conversation: ConversationID = "room"
  ) throws -> [String] {
    let replies = try replies(to: id, in: conversation)
    let slice = try replies.oldest(10_000)
    #expect(try replies.count() == slice.count)
    #expect(slice.older == .end && slice.newer == .end)
    return slice.ids
  }
}

extension MessageStore {
  func replyNames(
    to id: MessageID, in conversation: ConversationID = "room"
  ) throws -> [String] {
    try read { try $0.replyNames(to: id, in: conversation) }
  }
}
