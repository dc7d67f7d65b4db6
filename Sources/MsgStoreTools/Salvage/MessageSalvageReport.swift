package import MsgStore
package import PageFile

/// What a salvage has made of a damaged store's messages.
package struct MessageSalvageReport: Sendable {
  package var messageCount = 0
  package var conversationCount = 0
  /// Messages in pages that were replaced since, which somebody has deleted or moved.
  package var deletedCount = 0
  /// Messages that are lost, of which facts are saved; these wait for them.
  package var waitingCount = 0
  /// Entries of the outbox that are saved, and held.
  package var entryCount = 0
  /// Those that are lost, as far as is known.
  package var lostEntryCount = 0
  /// What was put in the place of something that is lost, a sentence each.
  package var repairs: [String] = []
  /// Conversations of which fewer messages are saved than they say they had.
  package var shortfalls: [Shortfall] = []
  /// Messages that are saved without facts that they say they have.
  package private(set) var incompleteMessages: [Incomplete] = []
  package private(set) var incompleteMessageCount = 0
  private var lost = LostRecords()

  package struct Shortfall: Sendable {
    package var conversation: ConversationID
    package var savedCount: Int
    package var statedCount: Int
  }

  package struct Incomplete: Sendable {
    package var conversation: ConversationID
    package var message: MessageID
    /// What is lost of it.
    package var kinds: [FactKind]
  }

  package struct LostRecord: Sendable {
    package var tree: Int
    package var key: [UInt8]
    package var page: PageNumber
    package var reason: String
  }

  /// Records in pages that were read, which could not be.
  package var lostRecords: [LostRecord] { lost.records }
  package var lostRecordCount: Int { lost.count }

  mutating func add(_ records: LostRecords) { lost.add(records) }

  mutating func add(_ incomplete: Incomplete) {
    incompleteMessageCount += 1
    if incompleteMessages.count < LostRecords.countMax { incompleteMessages.append(incomplete) }
  }

  /// Whether nothing is known to be missing.
  package var isWhole: Bool {
    repairs.isEmpty && shortfalls.isEmpty && lostRecordCount == 0 && waitingCount == 0
      && incompleteMessageCount == 0 && lostEntryCount == 0
  }
}

/// Records that could not be read: how many, and the first of them.
struct LostRecords {
  private(set) var records: [MessageSalvageReport.LostRecord] = []
  private(set) var count = 0

  static let countMax = 1000

  /// Adds the record that a cursor stands at.
  mutating func add(_ cursor: SalvageCursor, _ tree: TreeNumber, _ reason: String) {
    count += 1
    guard records.count < Self.countMax else { return }
    records.append(
      .init(tree: tree.rawValue, key: cursor.key.array(), page: cursor.page, reason: reason))
  }

  mutating func add(_ others: LostRecords) {
    count += others.count
    records += others.records.prefix(Self.countMax - records.count)
  }
}
