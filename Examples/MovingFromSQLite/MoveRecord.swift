import Foundation
public import MsgStore

/// A place in the old file: the last row that the new store has.
///
/// It names rows and does not count them, so that it means the same when the old file has changed.
struct MovePlace: Codable, Sendable, Equatable {
  var conversation: Int64
  var time: Int64
  var message: Int64
  var isConversationDone: Bool
}

/// The rows that were moved, and those that were not.
public struct MoveReport: Codable, Sendable, Equatable {
  /// A row that was not moved.
  public struct Refusal: Codable, Sendable, Equatable {
    /// The table of the row.
    public let table: String
    /// The number of the row.
    public let row: Int64
    /// The reason.
    public let reason: RefusalReason
    /// The store's words, if the store refused the row.
    public let detail: String?
  }

  /// The number of messages that were moved, those to be sent among them.
  public internal(set) var movedCount = 0
  /// The number of messages that wait in the new outbox.
  public internal(set) var unsentCount = 0
  /// The number of reactions that were moved.
  public internal(set) var reactionCount = 0
  /// The number of attachments that were moved.
  public internal(set) var attachmentCount = 0
  /// The number of messages that were not moved.
  public internal(set) var refusedCount = 0
  /// The number of rows that were not moved, of any table, by reason.
  public internal(set) var refusedByReason: [String: Int] = [:]
  /// The first rows that were not moved, at most `maximumListedCount`.
  public internal(set) var refusals: [Refusal] = []

  /// The most rows that are listed one by one; a sync position has at most 64 KiB.
  public static let maximumListedCount = 100

  mutating func refuse(
    _ table: String, _ row: Int64, _ reason: RefusalReason, _ detail: String? = nil
  ) {
    if table == "message" { refusedCount += 1 }
    refusedByReason[reason.rawValue, default: 0] += 1
    guard refusals.count < Self.maximumListedCount else { return }
    refusals.append(
      Refusal(
        table: table, row: row, reason: reason, detail: detail.map { String($0.prefix(120)) }))
  }
}

/// The reason why a row cannot be moved.
public enum RefusalReason: String, Codable, Error, Sendable {
  /// No conversation has this number, or its name is missing or too long.
  case noConversation
  /// The id of the message is missing.
  case noID
  /// Another row has the id, or the same reaction.
  case duplicateID
  /// The sender, or the member, is missing.
  case noMember
  /// The text, or the emoji, is missing.
  case noText
  /// A text is not UTF-8.
  case notUTF8
  /// The time is missing, or not after 1970.
  case noTime
  /// The time is more than a day ahead.
  case timeInFuture
  /// The store does not take the row.
  case refusedByStore
}

/// The state of a move, which is stored in the new store with every batch.
struct MoveRecord: Codable, Sendable {
  var place: MovePlace?
  /// The last conversation whose read marks are in the new store.
  var lastMarked: Int64?
  var report = MoveReport()

  /// The sync position that has the record.
  static let key = "move"
  /// The sync position that is there once the move is complete.
  static let completeKey = "moved"
}

extension StoreReading where Self: ~Copyable {
  /// True if a move has brought everything; an app uses the store only then.
  public var isMoved: Bool {
    get throws { try syncPosition(for: MoveRecord.completeKey) != nil }
  }

  /// Returns the state of the move, or nil before the first batch.
  func moveRecord() throws -> MoveRecord? {
    try syncPosition(for: MoveRecord.key).map {
      try JSONDecoder().decode(MoveRecord.self, from: Data($0))
    }
  }
}

extension StoreWriter {
  /// Stores the state of the move in this commit.
  func setMoveRecord(_ record: MoveRecord) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    try setSyncPosition(Array(try encoder.encode(record)), for: MoveRecord.key)
  }
}
