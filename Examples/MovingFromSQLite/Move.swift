import Dispatch
public import MsgStore
import Synchronization

/// A move of all messages from an old SQLite file to a new store.
///
/// It may be killed at any time and called again: each batch is one commit, which also has the place
/// reached. Until the last commit says that the move is complete (`isMoved`), the app has to keep to
/// the old file. The old file is only read.
public struct Move: Sendable {
  /// The number of messages that are in the new store, or were refused, of all in the old file.
  public struct Progress: Sendable {
    /// The number of messages that are done.
    public let doneCount: Int
    /// The number of messages in the old file.
    public let totalCount: Int
  }

  private let path: String
  private let store: MessageStore
  private let member: MemberID
  private let batchCount: Int
  private let now: Timestamp

  /// Prepares a move; nothing is read yet.
  ///
  /// - Parameters:
  ///   - path: The old file.
  ///   - store: The new store, which is empty or has a part of this move.
  ///   - member: The local member of both.
  ///   - batchCount: The number of messages in a commit.
  ///   - now: The present time; messages from the future are refused.
  public init(
    from path: String, to store: MessageStore, of member: MemberID, batchCount: Int = 1000,
    now: Timestamp = StoreOptions.systemClock()
  ) {
    self.path = path
    self.store = store
    self.member = member
    self.batchCount = max(1, batchCount)
    self.now = now
  }

  /// Moves everything that is not moved yet, and compares both sides.
  ///
  /// Blocks its thread. Does nothing if the move is complete.
  ///
  /// - Parameter progress: Called after each batch; throwing ends the move until it is called again.
  /// - Returns: The counts, and the rows that were not moved.
  /// - Throws: The error of `progress`, `MoveError`, `StoreError`.
  @discardableResult
  public func run(progress: (Progress) throws -> Void = { _ in }) throws -> MoveReport {
    let (stored, isComplete, isEmpty) = try store.read { chat in
      (
        try chat.moveRecord(), try chat.isMoved,
        try chat.conversations(count: 1).isEmpty && chat.archivedConversations(count: 1).isEmpty
      )
    }
    if let stored, isComplete { return stored.report }
    // Never mix a store in use with an old file.
    guard stored != nil || isEmpty else { throw MoveError.storeInUse }

    let old = try OldDatabase(path: path)
    let moved = try moveBatches(of: old, from: stored ?? MoveRecord(), progress)
    let places = try Comparison(of: old, with: store, for: member, now: now)
      .differences(from: moved.report)
    guard places.isEmpty else { throw MoveError.different(places) }
    return try complete(moved, old)
  }

  private func moveBatches(
    of old: OldDatabase, from stored: MoveRecord, _ progress: (Progress) throws -> Void
  ) throws -> MoveRecord {
    let writer = BatchWriter(member: member, now: now)
    let totalCount = try old.messageCount()
    var record = stored
    while true {
      let parts = try old.batch(after: record.place, count: batchCount)
      let ended = try old.endedConversations(after: record.lastMarked, before: record.place)
      if parts.isEmpty, ended.isEmpty { break }
      try store.write(.relaxed) { chat in
        // A copy: if the commit fails, the record is still that of the one before.
        var next = record
        try writer.take(parts, marksOf: ended, into: chat, &next.report)
        next.place = parts.last?.place ?? next.place
        next.lastMarked = ended.last?.row ?? next.lastMarked
        try chat.setMoveRecord(next)
        record = next
      }
      let report = record.report
      try progress(
        Progress(doneCount: report.movedCount + report.refusedCount, totalCount: totalCount))
    }
    return record
  }

  /// Says that the move is complete, in a commit that makes all others durable.
  private func complete(_ moved: MoveRecord, _ old: OldDatabase) throws -> MoveReport {
    var record = moved
    try old.forEachUnplaced { row in
      record.report.refuse("message", row.row, row.hasTime ? .noConversation : .noTime)
    }
    try store.write { chat in
      try chat.setMoveRecord(record)
      try chat.setSyncPosition(Array("complete".utf8), for: MoveRecord.completeKey)
    }
    try store.checkpoint()
    return record.report
  }
}

extension Move {
  /// Moves everything that is not moved yet, on a thread of its own.
  ///
  /// If the task is cancelled, the move ends after the current batch and continues when it is
  /// called again. See `run(progress:)`.
  ///
  /// - Throws: Also `CancellationError`.
  @discardableResult
  public func run(
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) async throws -> MoveReport {
    let isCancelled = Atomic(false)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global(qos: .utility).async {
          continuation.resume(
            with: Result {
              try run { state in
                progress(state)
                if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
              }
            })
        }
      }
    } onCancel: {
      isCancelled.store(true, ordering: .relaxed)
    }
  }
}
