import PageFile

/// Writes that return once they are visible and become durable a moment later.
extension MessageStore {
  /// Stores a message written by the local member and enters it into the outbox, in one commit.
  ///
  /// The call returns within microseconds, once the message is visible; `waitUntilDurable()` of
  /// the result waits until it is on the disk. The sync begins within a millisecond or two, or at
  /// once if someone waits for it. The outbox hands nothing out before that. Like
  /// `writeWithoutWaiting(_:)`, the call goes before writes at `relaxed`.
  ///
  /// - Parameter message: The message; see `StoreWriter.send(_:)`, also for the errors.
  public func send(_ message: Message) throws(StoreError) -> PendingCommit<Message> {
    do {
      return try writeWithoutWaiting { writer in try writer.send(message) }
    } catch let error as StoreError {
      throw error
    } catch {
      preconditionFailure("closure: threw an error other than StoreError")
    }
  }

  /// Writes to the store, and returns once the change is visible and survives a kill of the
  /// process.
  ///
  /// The sync that protects the change from a power cut begins within a millisecond or two, or at
  /// once if someone waits for it; one sync covers everything written by then. The write goes
  /// before waiting writes at `relaxed`, and waits for the write under way.
  ///
  /// - Throws: The closure's error, unchanged; `storage`, with `insideTransaction` inside if it is
  ///   called in the closure of a write.
  public func writeWithoutWaiting<R: Sendable>(
    _ body: (borrowing StoreWriter) throws -> R
  ) throws -> PendingCommit<R> {
    try core.writeWithoutWaiting(body)
  }
}

extension StoreCore {
  func writeWithoutWaiting<R: Sendable>(
    _ body: (borrowing StoreWriter) throws -> R
  ) throws -> PendingCommit<R> {
    let (value, sync, isOwed) = try commit(.relaxed, .urgent, leavesSync: true, body)
    let durability = begin(sync)
    if isOwed { try durability.waitBlocking() }
    return PendingCommit(value: value, durability: durability)
  }

  /// Writes as `writeWithoutWaiting(_:)` does, on the thread for that.
  func writeWithoutWaiting<R: Sendable>(
    _ body: @escaping @Sendable (borrowing StoreWriter) throws -> R
  ) async throws -> PendingCommit<R> {
    let (value, durability, isOwed) = try await sender.run { [self] in
      let (value, sync, isOwed) = try commit(.relaxed, .urgent, leavesSync: true, body)
      return (value, begin(sync), isOwed)
    }
    if isOwed { try await durability.wait() }
    return PendingCommit(value: value, durability: durability)
  }

  /// Writes on the thread for a level, and waits for the sync without holding that thread.
  ///
  /// So the next write begins meanwhile, and one sync covers all that are made before it begins.
  func writeAndAwaitSync<R: Sendable>(
    _ level: SyncLevel, _ body: @escaping @Sendable (borrowing StoreWriter) throws -> R
  ) async throws -> R {
    let (thread, urgency) =
      level == .relaxed ? (writer, WriteUrgency.patient) : (urgentWriter, .urgent)
    let (value, durability) = try await thread.run { [self] in
      let (value, sync, isOwed) = try commit(level, urgency, leavesSync: true, body)
      return (value, isOwed ? begin(sync) : nil)
    }
    try await durability?.wait()
    return value
  }

  /// Has the sync of a commit made by the thread for that, within a millisecond or two.
  private func begin(_ sync: PendingSync?) -> Durability {
    let durability = Durability(syncer) { () throws(StoreError) in
      try storage { () throws(PageFileError) in
        if let sync { try sync.log.waitUntilDurable(sync.lsn) }
      }
    }
    if !syncer.enqueue({ durability.settle() }) { durability.settle() }
    return durability
  }
}

/// The result of a write that is visible already, and a way to wait until it is durable.
public struct PendingCommit<Value: Sendable>: Sendable {
  /// The value returned by the closure of the write.
  public let value: Value
  let durability: Durability

  /// Suspends until the commit is on the disk and so survives a power cut.
  ///
  /// Waiting is optional; the sync happens anyway.
  ///
  /// - Throws: `storage`, with `commitUnknown` inside if the sync failed, also that of a suspension
  ///   or a closing meanwhile. A power cut may then undo the commit.
  public func waitUntilDurable() async throws { try await durability.wait() }

  /// Blocks the caller's thread until the commit is on the disk.
  ///
  /// - Throws: As the asynchronous form does.
  @available(*, noasync, message: "use the form with await")
  public func waitUntilDurable() throws(StoreError) { try durability.waitBlocking() }
}

/// The sync of a commit, left to the caller.
struct PendingSync: Sendable {
  let log: CommitLog
  let lsn: LSN
}

/// The durability of one commit, and the callers that wait for it.
final class Durability: Sendable {
  private struct State {
    var isBegun = false
    var result: Result<Void, StoreError>?
    var waiters: [CheckedContinuation<Void, any Error>] = []
  }

  private let state = Locked(State())
  private let syncer: Worker
  private let sync: @Sendable () throws(StoreError) -> Void

  /// Creates the state of a commit that is not yet known to be durable.
  ///
  /// - Parameters:
  ///   - syncer: The thread that calls `settle` sooner or later.
  ///   - sync: Returns once the commit is on the disk.
  init(_ syncer: Worker, _ sync: @escaping @Sendable () throws(StoreError) -> Void) {
    self.syncer = syncer
    self.sync = sync
  }

  /// Waits for the sync and resumes all waiters; returns at once if another thread is doing so.
  func settle() {
    let isFirst = state.withLock { state in
      defer { state.isBegun = true }
      return !state.isBegun
    }
    guard isFirst else { return }
    let result: Result<Void, StoreError>
    do throws(StoreError) {
      try sync()
      result = .success(())
    } catch {
      result = .failure(error)
    }
    let waiters = state.withLock { state in
      state.result = result
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume(with: result.mapError { $0 as any Error }) }
  }

  /// Suspends until the outcome of the sync is known.
  func wait() async throws {
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      let known = state.withLock { state in
        if state.result == nil { state.waiters.append(continuation) }
        return state.result
      }
      if let known {
        continuation.resume(with: known.mapError { $0 as any Error })
      } else {
        syncer.hurry()
      }
    }
  }

  /// Performs the sync, or joins the one under way.
  func waitBlocking() throws(StoreError) {
    settle()
    if let known = state.withLock({ $0.result }) { return try known.get() }
    try sync()
  }
}
