package import MsgStore
package import PageFile
import PageFileSalvage

/// The result of salvaging a damaged store's messages.
package struct MessageSalvageReport: Sendable {
  package var messageCount = 0
  package var conversationCount = 0
  /// The number of messages in replaced pages that have since been deleted or moved.
  package var deletedCount = 0
  /// The number of lost messages whose facts are saved and wait for them.
  package var waitingCount = 0
  /// The number of outbox entries saved; they are held.
  package var entryCount = 0
  /// The number of lost outbox entries, as far as is known.
  package var lostEntryCount = 0
  /// The substitutes for lost data, a sentence each.
  package var repairs: [String] = []
  /// Conversations with fewer saved messages than their summaries state.
  package var shortfalls: [Shortfall] = []
  /// Messages saved without facts that their records announce.
  package private(set) var incompleteMessages: [Incomplete] = []
  package private(set) var incompleteMessageCount = 0
  private var lost = LostRecords()

  /// A conversation with lost messages, and the counts.
  package struct Shortfall: Sendable {
    package var conversation: ConversationID
    package var savedCount: Int
    package var statedCount: Int
  }

  /// A message that was saved without some of its facts.
  package struct Incomplete: Sendable {
    package var conversation: ConversationID
    package var message: MessageID
    /// The kinds of facts that are lost.
    package var kinds: [FactKind]
  }

  /// A record that could not be read, and the reason.
  package struct LostRecord: Sendable {
    package var tree: Int
    package var key: [UInt8]
    package var page: PageNumber
    package var reason: String
  }

  /// Unreadable records in readable pages.
  package var lostRecords: [LostRecord] { lost.records }
  package var lostRecordCount: Int { lost.count }

  mutating func add(_ records: LostRecords) { lost.add(records) }

  mutating func add(_ incomplete: Incomplete) {
    incompleteMessageCount += 1
    if incompleteMessages.count < LostRecords.maximumCount { incompleteMessages.append(incomplete) }
  }

  /// The number of messages that conversations state and that were not saved.
  package var lostMessageCount: Int {
    // A damaged count may have any value.
    shortfalls.reduce(0) { min($0 + $1.statedCount - $1.savedCount, 1 << 60) }
  }

  /// True if nothing is known to be missing.
  package var isWhole: Bool {
    repairs.isEmpty && shortfalls.isEmpty && lostRecordCount == 0 && waitingCount == 0
      && incompleteMessageCount == 0 && lostEntryCount == 0
  }
}

/// The unreadable records: their count, and the first of them.
struct LostRecords {
  private(set) var records: [MessageSalvageReport.LostRecord] = []
  private(set) var count = 0

  static let maximumCount = 1000

  /// Adds the record at a cursor.
  mutating func add(_ cursor: SalvageCursor, _ tree: TreeNumber, _ reason: String) {
    count += 1
    guard records.count < Self.maximumCount else { return }
    records.append(
      .init(tree: tree.rawValue, key: cursor.key.array(), page: cursor.page, reason: reason))
  }

  mutating func add(_ others: LostRecords) {
    count += others.count
    records += others.records.prefix(Self.maximumCount - records.count)
  }
}
