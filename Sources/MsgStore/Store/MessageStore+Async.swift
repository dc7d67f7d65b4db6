import PageFile

/// The asynchronous interface of the store.
///
/// The calls below may block on the disk or on an earlier writer. They therefore run on the store's
/// own threads while the calling task is suspended: four threads for reads, and more, up to 64,
/// while these are busy with long ones; one each for writes at `relaxed`, for writes at `full`, and
/// for writes that return once visible; and one for each call of the others. A write at `full` does
/// not keep its thread while it waits for the disk, so writes made at once share a sync. Searches
/// within reads take turns, two at a time. A task that is cancelled meanwhile still gets its
/// result. These functions cannot be called in a closure of the store, because none of its closures
/// is asynchronous.
extension MessageStore {
  /// Opens a store, or creates it, without blocking the caller's thread; see `init(path:options:)`.
  ///
  /// - Parameters:
  ///   - path: The data file. The log lies beside it.
  ///   - options: The options of the store.
  /// - Throws: The same errors as `init(path:options:)`.
  public static func open(
    path: String, options: StoreOptions = .init()
  ) async throws(StoreError) -> MessageStore {
    try await onThreadOfItsOwn { () throws(StoreError) in
      try MessageStore(path: path, options: options)
    }
  }

  /// Reads one snapshot of the store without blocking the caller's thread.
  ///
  /// See `read(_:)`.
  ///
  /// - Throws: The closure's error, unchanged; `storage`.
  public func read<R: Sendable>(
    _ body: @escaping @Sendable (borrowing StoreSnapshot) throws -> R
  ) async throws -> R {
    try await core.readers.run { [core] in
      try core.read(searchesInTurns: true, body)
    }
  }

  /// Writes to the store without blocking the caller's thread.
  ///
  /// Writes at one level begin in the order of the calls. Writes at `full` go before writes at
  /// `relaxed`. See `write(_:_:)`.
  ///
  /// - Throws: The closure's error, unchanged; `storage`.
  @discardableResult
  public func write<R: Sendable>(
    _ level: SyncLevel, _ body: @escaping @Sendable (borrowing StoreWriter) throws -> R
  ) async throws -> R {
    try await core.writeAndAwaitSync(level, body)
  }

  /// Writes to the store at `full` without blocking the caller's thread; see `write(_:_:)`.
  ///
  /// - Throws: The closure's error, unchanged; `storage`.
  @discardableResult
  public func write<R: Sendable>(
    _ body: @escaping @Sendable (borrowing StoreWriter) throws -> R
  ) async throws -> R {
    try await write(.full, body)
  }

  /// Writes to the store without blocking the caller's thread, and returns once the change is
  /// visible.
  ///
  /// These writes begin in the order of the calls. See `writeWithoutWaiting(_:)`.
  ///
  /// - Throws: The closure's error, unchanged; `storage`.
  public func writeWithoutWaiting<R: Sendable>(
    _ body: @escaping @Sendable (borrowing StoreWriter) throws -> R
  ) async throws -> PendingCommit<R> {
    try await core.writeWithoutWaiting(body)
  }

  /// Stores a message and enters it into the outbox without blocking the caller's thread; see
  /// `send(_:)`.
  ///
  /// - Throws: The same errors as `StoreWriter.send(_:)`.
  public func send(_ message: Message) async throws(StoreError) -> PendingCommit<Message> {
    do {
      return try await writeWithoutWaiting { writer in try writer.send(message) }
    } catch let error as StoreError {
      throw error
    } catch {
      preconditionFailure("closure: threw an error other than StoreError")
    }
  }

  /// Moves the contents of the log to the data file without blocking the caller's thread.
  ///
  /// See `checkpoint()`.
  public func checkpoint() async throws(StoreError) {
    try await onThreadOfItsOwn { [core] () throws(StoreError) in try core.checkpoint() }
  }

  /// Closes the store without blocking the caller's thread; see `close()`.
  ///
  /// Calls made earlier are completed first.
  public func close() async throws(StoreError) {
    try await onThreadOfItsOwn { [core] () throws(StoreError) in try core.close() }
  }

  /// Releases the files without blocking the caller's thread; see `suspend(checkpoints:)`.
  ///
  /// - Parameter checkpoints: True to leave a clean file.
  /// - Throws: The same errors as `suspend(checkpoints:)`. The store is suspended all the same.
  public func suspend(checkpoints: Bool = true) async throws(StoreError) {
    try await onThreadOfItsOwn { [core] () throws(StoreError) in
      try core.suspend(checkpoints: checkpoints)
    }
  }

  /// Reopens the files without blocking the caller's thread; see `resume()`.
  ///
  /// - Throws: The same errors as `resume()`.
  public func resume() async throws(StoreError) {
    try await onThreadOfItsOwn { [core] () throws(StoreError) in try core.resume() }
  }
}

/// Runs a rare and possibly long operation on a thread made for it.
package func onThreadOfItsOwn<R: Sendable, E: Error>(
  _ body: @escaping @Sendable () throws(E) -> R
) async throws(E) -> R {
  let thread = Worker()
  let result: Result<R, E> = await withCheckedContinuation { continuation in
    thread.enqueue {
      thread.stop()
      do throws(E) {
        continuation.resume(returning: .success(try body()))
      } catch {
        continuation.resume(returning: .failure(error))
      }
    }
  }
  return try result.get()
}
