import MsgStore
import PageFile

extension TestClock {
  /// A store of the member "me" that goes by this clock.
  func store(
    _ directory: MemoryDirectory = MemoryDirectory(),
    _ change: (inout StoreOptions) -> Void = { _ in }
  ) throws -> MessageStore {
    var options = StoreOptions(localMember: "me", clock: { [self] in now }).makingConversations
    options.packing = .usual
    change(&options)
    return try MessageStore(in: directory, name: "store", options: options)
  }
}

/// A message of the local member's, to be sent.
func own(_ id: MessageID, _ text: String = "mine", at local: Int64? = nil) -> Message {
  Message(
    id: id, in: "room", from: "me", text: text,
    localTime: local.map { Timestamp(microseconds: $0) })
}

extension MessageStore {
  /// A message of the conversation "room".
  func message(_ id: MessageID) throws -> Message? {
    try read { chat in try chat.message(id, in: "room") }
  }

  func history(_ id: MessageID) throws -> [String] {
    try read { chat in try chat.history(of: id, in: "room").map(\.text) }
  }

  var preview: ConversationPreview? {
    get throws { try read { chat in try chat.conversation("room")?.preview } }
  }

  var tail: [String] { get throws { try read { chat in try chat.thread("room").tail(100).ids } } }
}
