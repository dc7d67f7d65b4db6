import MsgStore
import PageFile
import Synchronization

/// A clock that tests move by hand.
final class TestClock: Sendable {
  private let microseconds: Mutex<Int64>

  init(_ microseconds: Int64 = 1_000_000) { self.microseconds = Mutex(microseconds) }

  var now: Timestamp { Timestamp(microseconds: microseconds.withLock { $0 }) }
  func set(_ time: Int64) { microseconds.withLock { $0 = time } }
}

func memoryStore(
  clock: TestClock, in directory: MemoryDirectory = MemoryDirectory(),
  localMember: MemberID? = "me"
) throws -> MessageStore {
  try MessageStore(
    in: directory, name: "store",
    options: StoreOptions(localMember: localMember, clock: { clock.now }).makingConversations)
}

func chatMessage(
  _ id: MessageID, in conversation: ConversationID, at time: Int64?, from sender: MemberID = "ann",
  text: String = "hello"
) -> Message {
  Message(
    id: id, in: conversation, from: sender, text: text,
    serverTimestamp: time.map { Timestamp(microseconds: $0) })
}

extension MessageStore {
  /// One transaction's result and whether it has committed anything.
  func commits(_ body: (borrowing StoreWriter) throws -> Void) throws -> Bool {
    let before = statistics.lastCommit
    try write { try body($0) }
    return statistics.lastCommit != before
  }
}

extension ReceivedConversation {
  /// A version of which `tell` tells something.
  init(_ id: ConversationID, at: Timestamp, _ tell: (inout ReceivedConversation) -> Void) {
    self.init(id, at: at)
    tell(&self)
  }
}

extension StoreSnapshot {
  /// Who took part in a conversation and does not any more.
  func formerMembers(of id: ConversationID) throws -> [MemberID] {
    try participations(in: id).filter { !$0.isActive }.map(\.member)
  }
}

extension StoreWriter {
  /// Who took part in a conversation and does not any more.
  func formerMembers(of id: ConversationID) throws -> [MemberID] {
    try participations(in: id).filter { !$0.isActive }.map(\.member)
  }
}
