import MsgStore
import Testing
import crash_writer

/// What a store must hold after so many steps of the crash test's writer.
struct CrashModel: Equatable {
  /// A room as its thread shows it.
  struct Room: Equatable {
    var acknowledged: [Entry] = []
    var pending: [Entry] = []
    var unreadCount = 0

    var entries: [Entry] { acknowledged + pending }
  }

  struct Entry: Equatable {
    let id: MessageID
    let text: String
    var status = MessageStatus.sent
    var serverTimestamp: Timestamp?
    var sequence: Int64?
  }

  private(set) var stepCount = 0
  private(set) var rooms: [ConversationID: Room] = [:]

  /// Takes the steps up to a number.
  mutating func advance(to number: Int) {
    while stepCount < number {
      stepCount += 1
      apply(CrashStep(stepCount))
    }
  }

  private mutating func apply(_ step: CrashStep) {
    switch step {
    case .insert(let message):
      rooms[message.conversation, default: Room()].acknowledged.append(Entry(message))
      rooms[message.conversation, default: Room()].unreadCount += 1
    case .write(let message):
      rooms[message.conversation, default: Room()].pending.append(Entry(message))
    case .acknowledge(let id, let conversation, let time, let sequence):
      var room = rooms[conversation, default: Room()]
      guard let index = room.pending.firstIndex(where: { $0.id == id }) else { return }
      var entry = room.pending.remove(at: index)
      entry.status = .sent
      entry.serverTimestamp = time
      entry.sequence = sequence
      room.acknowledged.append(entry)
      rooms[conversation] = room
    case .markRead(let conversation): rooms[conversation]?.unreadCount = 0
    }
  }

  /// What the store has that the model has not, or the other way round, in words; nil when there is
  /// no difference.
  func difference(from store: MessageStore) throws -> String? {
    try store.read { snapshot in
      let position = try snapshot.syncPosition(for: CrashStep.syncKey)
      if position != (stepCount == 0 ? nil : Array("\(stepCount)".utf8)) {
        return "the sync position \(position ?? []) is not that of step \(stepCount)"
      }
      for id in CrashStep.rooms {
        let room = rooms[id]
        let conversation = try snapshot.conversation(id)
        let entries = try snapshot.thread(id).allMessages().map(Entry.init)
        let expected = room?.entries ?? []
        if entries != expected {
          let index = zip(entries, expected).prefix { $0 == $1 }.count
          return "\(id) has \(entries.count) messages where \(expected.count) belong, "
            + "and differs from message \(index) on"
        }
        if conversation?.messageCount ?? 0 != expected.count {
          return "\(id) says \(conversation?.messageCount ?? 0) messages"
        }
        if conversation?.unreadCount ?? 0 != room?.unreadCount ?? 0 {
          return "\(id) says \(conversation?.unreadCount ?? 0) unread messages where "
            + "\(room?.unreadCount ?? 0) are"
        }
      }
      return nil
    }
  }
}

extension CrashModel.Entry {
  init(_ message: Message) {
    id = message.id
    text = message.text
    status = message.status
    serverTimestamp = message.serverTimestamp
    sequence = message.sequence
  }
}

extension MessageThread {
  /// Every message, oldest first.
  func allMessages() throws -> [Message] {
    var messages: [Message] = []
    var slice = try at(Timestamp(microseconds: .min), count: 1000)
    while true {
      messages += slice
      guard let position = slice.newer.next else { return messages }
      slice = try after(position, count: 1000)
      guard let next = slice.newer.next, next <= position else { continue }
      Issue.record("the slice after \(position) ends at \(next)")
      return messages + slice
    }
  }
}
