/// The numbers of names that the writer met lately, so that most messages are stored without
/// looking up their conversation and sender.
///
/// It is a part of `WriterMemory` and is dropped with it, since a number assigned in a transaction
/// that was rolled back is invalid. Conversations and members each get half of the space; a kind
/// that exceeds its half is forgotten as a whole.
package struct NameNumbers {
  package private(set) var conversations: [ConversationID: UInt32] = [:]
  private var members: [MemberID: UInt32] = [:]
  private var recentMembers = RecentNames<UInt32>()
  /// The approximate memory use of each of the two dictionaries, in bytes.
  private var conversationByteCount = 0
  private var memberByteCount = 0
  private let maximumByteCount: Int

  /// The size of a dictionary entry, in bytes, for a dictionary that is half full.
  private static let entryByteCount = 56

  package init(maximumByteCount: Int) { self.maximumByteCount = maximumByteCount }

  /// The approximate memory use, in bytes.
  package var byteCount: Int { conversationByteCount + memberByteCount }

  private static func byteCount(of name: String) -> Int {
    entryByteCount + MemoryShares.heapByteCount(of: name)
  }

  package mutating func insert(_ id: ConversationID, _ number: UInt32) {
    let byteCount = Self.byteCount(of: id.string)
    if conversationByteCount + byteCount > maximumByteCount / 2 {
      conversations = [:]
      conversationByteCount = 0
    }
    if conversations.updateValue(number, forKey: id) == nil { conversationByteCount += byteCount }
  }

  mutating func remove(_ id: ConversationID) { conversations[id] = nil }

  /// The number of a member.
  package subscript(id: MemberID) -> UInt32? {
    mutating get {
      if let number = recentMembers[id.string] { return number }
      guard let number = members[id] else { return nil }
      recentMembers.insert(number, id.string)
      return number
    }
  }

  package mutating func insert(_ id: MemberID, _ number: UInt32) {
    let byteCount = Self.byteCount(of: id.string)
    if memberByteCount + byteCount > maximumByteCount / 2 {
      members = [:]
      memberByteCount = 0
    }
    if members.updateValue(number, forKey: id) == nil { memberByteCount += byteCount }
    recentMembers.insert(number, id.string)
  }
}
