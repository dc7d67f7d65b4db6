import PageFile

/// Writing what is shown at once, and is on the disk a moment later.
extension MessageStore {
  /// Stores a message that the local member has written, and enters it into the outbox, in one commit.
  ///
  /// It returns when the message can be seen, in microseconds; `durable` of what it returns waits until
  /// it is on the disk. Its sync begins within a millisecond or two, and at once if somebody waits. The
  /// outbox hands nothing out before that. Like `writeVisible(_:)` it goes before writes at `relaxed`.
  ///
  /// - Parameter message: See `StoreWriter.send(_:)`, also for what is thrown.
  public func send(_ message: Message) throws(StoreError) -> Visible<Message> {
    do {
      return try writeVisible { writer in try writer.send(message) }
    } catch let error as StoreError {
      throw error
    } catch {
      preconditionFailure("the closure throws nothing else")
    }
  }

  /// Changes the store as `write` does, and returns when the change can be seen and is safe from the
  /// process being killed.
  ///
  /// The sync that makes it safe from a power cut begins within a millisecond or two, one for all that
  /// was written by then, and at once if somebody waits for it. It goes before writes at `relaxed` that
  /// wait, and waits for the one that is under way.
  ///
  /// - Throws: What the closure throws, unchanged; `storage`, with `insideTransaction` inside when it is
  ///   called in the closure of a write.
  public func writeVisible<R: Sendable>(
    _ body: (borrowing StoreWriter) throws -> R
  ) throws -> Visible<R> {
    try core.writeVisible(body)
  }
}

extension StoreCore {
  func writeVisible<R: Sendable>(
    _ body: (borrowing StoreWriter) throws -> R
  ) throws -> Visible<R> {
    let (value, lsn, life) = try commit(.relaxed, .urgent, body)
    let durability = Durability(syncer) { [database] () throws(StoreError) in
      try storage { () throws(PageFileError) in try database.waitUntilDurable(lsn, of: life) }
    }
    if !syncer.enqueue({ durability.settle() }) { durability.settle() }
    return Visible(value: value, durability: durability)
  }
}

/// What a write has returned that others can see already, and a way to wait until it is on the disk.
public struct Visible<Value: Sendable>: Sendable {
  /// What the closure of the write has returned.
  public let value: Value
  let durability: Durability

  /// Returns when the commit is on the disk: it survives a power cut then.
  ///
  /// Nobody has to wait for it; the sync goes on anyway.
  ///
  /// - Throws: `storage`, with `commitUnknown` inside when the sync failed, or the store was suspended
  ///   before: then a power cut may take it back.
  public var durable: Void {
    get async throws { try await durability.wait() }
  }

  /// The same, blocking the caller's thread.
  public func waitUntilDurable() throws(StoreError) { try durability.waitBlocking() }
}

/// Whether a commit is on the disk, once that is known, and who waits for it.
final class Durability: Sendable {
  private struct State {
    var isBegun = false
    var result: Result<Void, StoreError>?
    var waiters: [CheckedContinuation<Void, any Error>] = []
  }

  private let state = Locked(State())
  private let syncer: Worker
  private let sync: @Sendable () throws(StoreError) -> Void

  /// - Parameters:
  ///   - syncer: Settles it sooner or later.
  ///   - sync: Returns when the commit is on the disk.
  init(_ syncer: Worker, _ sync: @escaping @Sendable () throws(StoreError) -> Void) {
    self.syncer = syncer
    self.sync = sync
  }

  /// Waits for the sync, and tells who waits, unless somebody does so already.
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

  /// Does the sync, or joins the one that is under way.
  func waitBlocking() throws(StoreError) {
    settle()
    if let known = state.withLock({ $0.result }) { return try known.get() }
    try sync()
  }
}
