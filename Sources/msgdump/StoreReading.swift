import MsgStore
import MsgStoreTools
import PageFile

extension MessageStore {
  /// Reads one moment of the store, once, and tells an expired one in the words of the tool.
  func readOnce(_ body: (borrowing StoreSnapshot) throws -> Void) throws {
    do {
      try readOneMoment(body)
    } catch StoreError.storage(.snapshotExpired) {
      throw ToolError.ownerTooQuick
    }
  }
}

extension StoreSnapshot {
  /// Calls `body` for one conversation, or for all of them.
  func forEachConversation(
    named name: String?, _ body: (Conversation) throws -> Void
  ) throws {
    guard let name else { return try forEachConversation(body) }
    guard let conversation = try conversation(ConversationID(name)) else {
      throw ToolError.failure("there is no conversation \"\(name)\"")
    }
    try body(conversation)
  }
}

extension MessageThread {
  /// The number of messages read at once.
  private static let batchCount = 500

  /// Calls `body` for every message from the oldest to the newest, and `gap` for each gap between
  /// them.
  func forEachMessage(
    _ body: (Message) throws -> Void, gap: (ClosedRange<Int64>) throws -> Void = { _ in }
  ) throws {
    var slice = try at(Timestamp(microseconds: .min), count: Self.batchCount)
    while true {
      for message in slice { try body(message) }
      guard let position = slice.newer.next else { return }
      if case .gap(let missing, _) = slice.newer { try gap(missing) }
      slice = try after(position, count: Self.batchCount)
    }
  }

  /// Calls `body` for every message from the newest to the oldest, until it returns false.
  func forEachMessageBackwards(_ body: (Message) throws -> Bool) throws {
    var slice = try tail(Self.batchCount)
    while true {
      for message in slice.reversed() {
        guard try body(message) else { return }
      }
      guard let position = slice.older.next else { return }
      slice = try before(position, count: Self.batchCount)
    }
  }
}
