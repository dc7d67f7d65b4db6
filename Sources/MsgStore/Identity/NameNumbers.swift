/// The numbers of names that the writer met lately, so that most messages are stored without
/// looking up their conversation and sender.
///
/// It is a part of `WriterMemory`, and dropped with it: what a number was given to in a transaction
/// that was rolled back is not true.
struct NameNumbers {
  private static let countMax = 65_536

  private(set) var conversations: [ConversationID: UInt32] = [:]
  private var members: [MemberID: UInt32] = [:]
  private var recentMembers = RecentNames<UInt32>()

  mutating func insert(_ id: ConversationID, _ number: UInt32) {
    if conversations.count >= Self.countMax { conversations.removeAll() }
    conversations[id] = number
  }

  /// The number of a member.
  subscript(id: MemberID) -> UInt32? {
    mutating get {
      if let number = recentMembers[id.string] { return number }
      guard let number = members[id] else { return nil }
      recentMembers.insert(number, id.string)
      return number
    }
  }

  mutating func insert(_ id: MemberID, _ number: UInt32) {
    if members.count >= Self.countMax { members.removeAll() }
    members[id] = number
    recentMembers.insert(number, id.string)
  }
}
