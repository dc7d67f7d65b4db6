import PageFile

/// The store for asynchronous code.
///
/// Everything below may block: on the disk, on the writer before. So it runs on threads of the
/// store's own, and Swift's threads only wait as tasks do: up to four for reading; one each for writes
/// at `relaxed`, for writes at `full`, and for those that are visible at once; and one for each call of
/// the others. A task that is cancelled meanwhile gets its answer all the same. Inside a closure of the
/// store these cannot be called, as none of its closures is asynchronous.
extension MessageStore {
  /// Opens a store, or creates it, without blocking the caller's thread; see `init(path:options:)`.
  ///
  /// - Parameters:
  ///   - path: The data file; the log lies beside it.
  ///   - options: How to open it.
  /// - Throws: As `init(path:options:)`.
  public static func open(
    path: String, options: StoreOptions = .init()
  ) async throws(StoreError) -> MessageStore {
    try await onThreadOfItsOwn { () throws(StoreError) in
      try MessageStore(path: path, options: options)
    }
  }

  /// Reads one moment of the store without blocking the caller's thread.
  ///
  /// See `read(_:)`.
  ///
  /// - Throws: What the closure throws, unchanged; `storage`.
  public func read<R: Sendable>(
    _ body: @escaping @Sendable (borrowing StoreSnapshot) throws -> R
  ) async throws -> R {
    try await core.readers.run { [core] in try core.read(body) }
  }

  /// Changes the store without blocking the caller's thread.
  ///
  /// Writes at one level begin in the order in which they were asked for; those at `full` go before
  /// those at `relaxed`. See `write(_:_:)`.
  ///
  /// - Throws: What the closure throws, unchanged; `storage`.
  @discardableResult
  public func write<R: Sendable>(
    _ level: SyncLevel, _ body: @escaping @Sendable (borrowing StoreWriter) throws -> R
  ) async throws -> R {
    let thread = level == .relaxed ? core.writer : core.urgentWriter
    return try await thread.run { [core] in try core.write(level, body) }
  }

  /// Changes the store at `full` without blocking the caller's thread; see `write(_:_:)`.
  ///
  /// - Throws: What the closure throws, unchanged; `storage`.
  @discardableResult
  public func write<R: Sendable>(
    _ body: @escaping @Sendable (borrowing StoreWriter) throws -> R
  ) async throws -> R {
    try await write(.full, body)
  }

  /// Changes the store without blocking the caller's thread, and returns when the change can be seen.
  ///
  /// These begin in the order in which they were asked for. See `writeVisible(_:)`.
  ///
  /// - Throws: What the closure throws, unchanged; `storage`.
  public func writeVisible<R: Sendable>(
    _ body: @escaping @Sendable (borrowing StoreWriter) throws -> R
  ) async throws -> Visible<R> {
    try await core.sender.run { [core] in try core.writeVisible(body) }
  }

  /// Stores a message and enters it into the outbox without blocking the caller's thread; see `send(_:)`.
  ///
  /// - Throws: As `StoreWriter.send(_:)`.
  public func send(_ message: Message) async throws(StoreError) -> Visible<Message> {
    do {
      return try await writeVisible { writer in try writer.send(message) }
    } catch let error as StoreError {
      throw error
    } catch {
      preconditionFailure("the closure throws nothing else")
    }
  }

  /// Moves what is in the log to the data file without blocking the caller's thread; see `checkpoint()`.
  public func checkpoint() async throws(StoreError) {
    try await onThreadOfItsOwn { [core] () throws(StoreError) in try core.checkpoint() }
  }

  /// Ends the store without blocking the caller's thread; see `close()`.
  ///
  /// What was asked for before is done before.
  public func close() async throws(StoreError) {
    try await onThreadOfItsOwn { [core] () throws(StoreError) in try core.close() }
  }

  /// Lets go of the files without blocking the caller's thread; see `suspend(checkpoints:)`.
  ///
  /// - Parameter checkpoints: Whether to leave a clean file.
  /// - Throws: As `suspend(checkpoints:)`; the store is suspended all the same.
  public func suspend(checkpoints: Bool = true) async throws(StoreError) {
    try await onThreadOfItsOwn { [core] () throws(StoreError) in
      try core.suspend(checkpoints: checkpoints)
    }
  }

  /// Takes the files up again without blocking the caller's thread; see `resume()`.
  ///
  /// - Throws: As `resume()`.
  public func resume() async throws(StoreError) {
    try await onThreadOfItsOwn { [core] () throws(StoreError) in try core.resume() }
  }
}

/// Runs what is seldom and may take long on a thread that ends with it.
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
