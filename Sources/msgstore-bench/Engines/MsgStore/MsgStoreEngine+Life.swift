import MsgStore
import Synchronization

/// Operations on existing messages: reading, editing and counting.
extension MsgStoreEngine {
  func markRead(
    _ messages: [ChatMessage], at time: Int64, as form: ReceiptForm
  ) throws -> UInt64 {
    guard let last = messages.last else { return 0 }
    let store = try current
    let level = level
    let conversation = ids[last.conversation]
    let id = MessageID(last.id)
    clock.now = Timestamp(microseconds: time)
    var isMarked = false
    let elapsed = try timed {
      isMarked = try store.write(level) { chat in try chat.markRead(conversation, upTo: id) }
    }
    guard isMarked else { throw BenchError("msgstore: marked nothing") }
    return elapsed
  }

  func edit(_ message: ChatMessage, at time: Int64) throws -> UInt64 {
    let store = try current
    let level = level
    let id = MessageID(message.id)
    let conversation = ids[message.conversation]
    let text = message.text
    let mentions = message.extras?.mentions.map { MemberID($0) } ?? []
    let time = Timestamp(microseconds: time)
    var isEdited = false
    let elapsed = try timed {
      isEdited = try store.write(level) { chat in
        try chat.receiveEdit(of: id, in: conversation, text: text, mentions: mentions, at: time)
      }
    }
    guard isEdited else { throw BenchError("msgstore: edited nothing") }
    return elapsed
  }

  func react(_ reaction: ChatReaction, to message: ChatMessage) throws -> UInt64 {
    let store = try current
    let level = level
    let id = MessageID(message.id)
    let conversation = ids[message.conversation]
    let reaction = Reaction(
      reaction.emoji, from: MemberID(reaction.member),
      at: Timestamp(microseconds: reaction.time))
    var isNew = false
    let elapsed = try timed {
      isNew = try store.write(level) { chat in
        try chat.receive(reaction, to: id, in: conversation)
      }
    }
    guard isNew else { throw BenchError("msgstore: took no reaction") }
    return elapsed
  }

  func receiveMark(
    of member: String, upTo message: ChatMessage, at time: Int64
  ) throws -> UInt64 {
    let store = try current
    let level = level
    let receipt = ReceivedReceipt(
      in: ids[message.conversation], of: MemberID(member), .read, .upTo(MessageID(message.id)),
      time: Timestamp(microseconds: time))
    return try timed {
      try store.write(level) { chat in _ = try chat.receive(receipt) }
    }
  }

  func mute(_ conversations: [Int]) throws {
    try current.write(.relaxed) { chat in
      for conversation in conversations { _ = try chat.setMuted(true, of: ids[conversation]) }
    }
  }

  /// Nothing to do: the store always keeps them.
  func keepUnreadTotals() {}

  func unreadTotals(times: Int) throws -> Reading {
    let store = try current
    var reading = makeReading()
    reading.nanoseconds = try timed {
      for _ in 0..<times {
        let totals = try store.read { try $0.unreadTotals }
        reading.digest.fold(UInt64(totals.messages))
        reading.digest.fold(UInt64(totals.mutedMessages))
      }
    }
    return reading
  }

  func readers(of key: MessageKey, as form: ReceiptForm) throws -> [Reader] {
    try current.read { try $0.readers(of: MessageID(key.id), in: ids[key.conversation]) }
      .filter(\.isRead)
      .map { Reader(member: $0.member.string, time: $0.readAt?.microseconds) }
  }

  func earlierTexts(of key: MessageKey) throws -> [String] {
    try current.read { try $0.history(of: MessageID(key.id), in: ids[key.conversation]) }
      .map(\.text)
  }
}

/// A clock that is set by the benchmark, so that the times of all engines agree.
final class BenchClock: Sendable {
  private let microseconds = Atomic<Int64>(0)

  var now: Timestamp {
    get { Timestamp(microseconds: microseconds.load(ordering: .relaxed)) }
    set { microseconds.store(newValue.microseconds, ordering: .relaxed) }
  }
}
