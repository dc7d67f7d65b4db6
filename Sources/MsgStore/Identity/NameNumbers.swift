/// The numbers of names that the writer met lately, so that most messages are stored without
/// looking up their conversation and sender.
///
/// It passes from one write transaction to the next when it commits and is dropped when it does not:
/// what a number was given to in a transaction that was rolled back is not true.
struct NameNumbers: Sendable {
  private static let countMax = 65_536

  private(set) var conversations: [ConversationID: UInt32] = [:]
  private(set) var members: [MemberID: UInt32] = [:]

  mutating func insert(_ id: ConversationID, _ number: UInt32) {
    if conversations.count >= Self.countMax { conversations.removeAll() }
    conversations[id] = number
  }

  mutating func insert(_ id: MemberID, _ number: UInt32) {
    if members.count >= Self.countMax { members.removeAll() }
    members[id] = number
  }
}
