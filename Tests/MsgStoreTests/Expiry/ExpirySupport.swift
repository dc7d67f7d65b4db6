import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// A store whose clock is moved by hand, and whose steps are made where a test says so.
func expiringStore(
  _ clock: TestClock, in directory: MemoryDirectory = MemoryDirectory(), packs: Bool = true,
  _ change: (inout StoreOptions) -> Void = { _ in }
) throws -> MessageStore {
  var options = StoreOptions(localMember: "me", clock: { clock.now }).makingConversations
  options.worksInBackground = false
  options.packs = packs
  options.packing = PackingSizes(looseCount: 2, maximumSegmentByteCount: 300)
  change(&options)
  return try MessageStore(in: directory, name: "store", options: options)
}

/// A message that expires.
func expiring(
  _ id: MessageID, at time: Int64?, _ sequence: Int64? = nil, from sender: MemberID = "you",
  until end: Int64?, text: String = "hello"
) -> Message {
  var message = message(id, at: time, sequence, from: sender, text: text)
  message.expiresAt = end.map { Timestamp(microseconds: $0) }
  return message
}

extension MessageStore {
  /// The ids of the room's messages, read both ways and one by one.
  func shownIDs(in conversation: ConversationID = "room") throws -> [String] {
    try read { chat throws in
      let thread = try chat.thread(conversation)
      let slice = try thread.tail(20_000)
      #expect(try thread.after(.start, count: 20_000) == slice)
      for message in slice { #expect(try chat.message(message.id, in: conversation) == message) }
      return slice.map(\.id.string)
    }
  }

  /// True if the server's copy of a deleted message is refused, as that of a tombstone is.
  func refuses(_ message: Message) throws -> Bool {
    try write { try $0.insert(message) } == .deleted
  }
}
