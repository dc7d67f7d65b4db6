package import PageFile

/// What a salvage has made of a damaged store's messages.
package struct MessageSalvageReport: Sendable {
  package var messageCount = 0
  package var conversationCount = 0
  /// Messages in pages that were replaced since, which somebody has deleted or moved.
  package var deletedCount = 0
  /// What was put in the place of something that is lost, a sentence each.
  package var repairs: [String] = []
  /// Conversations of which fewer messages are saved than they say they had.
  package var shortfalls: [Shortfall] = []
  /// Records in pages that were read, which could not be.
  package private(set) var lostRecords: [LostRecord] = []
  package private(set) var lostRecordCount = 0

  package struct Shortfall: Sendable {
    package var conversation: ConversationID
    package var savedCount: Int
    package var statedCount: Int
  }

  package struct LostRecord: Sendable {
    package var tree: Int
    package var key: [UInt8]
    package var page: PageNumber
    package var reason: String
  }

  private static let lostRecordCountMax = 1000

  mutating func add(_ record: LostRecord) {
    lostRecordCount += 1
    if lostRecords.count < Self.lostRecordCountMax { lostRecords.append(record) }
  }

  /// Whether nothing is known to be missing.
  package var isWhole: Bool { repairs.isEmpty && shortfalls.isEmpty && lostRecordCount == 0 }
}
