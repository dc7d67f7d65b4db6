import MsgStore

/// A comparison of the old file with the new store, message by message in the order of the threads.
///
/// It reads the old file a second time and shares no state with the move. `msgdump check`, or
/// `check()` of MsgStoreTools, proves the new store in itself; this proves that it says the same.
struct Comparison {
  private let old: OldDatabase
  private let store: MessageStore
  private let member: MemberID
  private let now: Timestamp

  private var differences: [String] = []
  private var refusedCount = 0
  private var movedCount = 0
  private var reactionCount = 0
  private var attachmentCount = 0

  /// The most differences that are named.
  private static let maximumNamedCount = 20

  init(of old: OldDatabase, with store: MessageStore, for member: MemberID, now: Timestamp) {
    self.old = old
    self.store = store
    self.member = member
    self.now = now
  }

  /// Returns the first differences, also from the counts of the move; none if both sides are equal.
  consuming func differences(from report: MoveReport) throws -> [String] {
    var next = Int64.min
    while let conversation = try old.conversation(from: next) {
      // Each conversation is one snapshot.
      try store.read { chat in try compare(conversation, chat) }
      guard conversation.row < .max else { break }
      next = conversation.row + 1
    }
    compare("messages moved", movedCount, report.movedCount)
    compare("messages refused", refusedCount, report.refusedCount)
    compare("reactions", reactionCount, report.reactionCount)
    compare("attachments", attachmentCount, report.attachmentCount)
    return differences
  }

  private mutating func compare(
    _ conversation: OldConversation, _ chat: borrowing StoreSnapshot
  ) throws {
    let id = conversation.id
    let readTime = conversation.readTime(of: member)
    var thread = MessageWalk(of: id)
    var next = try thread.next(in: chat)
    var unreadCount = 0
    try old.forEachMessage(of: conversation.row) { row in
      guard let message = try? row.message(in: id, now: now) else { return refusedCount += 1 }
      if row.state != .sent {
        let found = try chat.message(message.id, in: message.conversation)
        guard let found, found.serverTimestamp == nil else { return refusedCount += 1 }
        expect(found, isCopyOf: message)
      } else if let found = next, found.id == message.id {
        expect(found, isCopyOf: message)
        if row.time > readTime, message.sender != member { unreadCount += 1 }
        next = try thread.next(in: chat)
      } else {
        // The second row of an id, or one that the store has refused: the counts tell.
        refusedCount += 1
      }
    }
    if let next { note("message \(next.id): not in the old file at this place") }
    guard let id else { return }
    compare("unread in \(id)", try chat.conversation(id)?.unreadCount ?? -1, unreadCount)
  }

  private mutating func expect(_ found: Message, isCopyOf message: Message) {
    movedCount += 1
    reactionCount += found.reactionCounts.reduce(0) { $0 + $1.count }
    attachmentCount += found.attachments.count
    if found.sender != message.sender { note("message \(found.id): another sender") }
    if found.serverTimestamp != message.serverTimestamp {
      note("message \(found.id): another time")
    }
    if found.replyTo != message.replyTo { note("message \(found.id): another reply") }
    // `==` takes different bytes for equal if they are the same characters.
    if !found.text.utf8.elementsEqual(message.text.utf8) {
      note("message \(found.id): another text")
    }
  }

  private mutating func compare(_ what: String, _ found: Int, _ expected: Int) {
    if found != expected { note("\(what): \(found), not \(expected)") }
  }

  private mutating func note(_ difference: String) {
    if differences.count < Self.maximumNamedCount { differences.append(difference) }
  }
}

/// A walk along the messages of a thread that the server has, oldest first.
private struct MessageWalk {
  private let conversation: ConversationID?
  private var slice: MessageSlice?
  private var index = 0

  init(of conversation: ConversationID?) { self.conversation = conversation }

  mutating func next(in chat: borrowing StoreSnapshot) throws -> Message? {
    guard let conversation else { return nil }
    if slice == nil {
      slice = try chat.thread(conversation).at(Timestamp(microseconds: .min), count: 1000)
    } else if let slice, index == slice.count, let position = slice.newer.next {
      self.slice = try chat.thread(conversation).after(position, count: 1000)
      index = 0
    }
    guard let slice, index < slice.count else { return nil }
    defer { index += 1 }
    // Pending messages are the last ones.
    return slice[index].serverTimestamp == nil ? nil : slice[index]
  }
}
