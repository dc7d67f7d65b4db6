import PageFile

/// Reading and writing from asynchronous code.
///
/// Everything below may block: on the disk, on the writer before. So it runs on threads of the
/// store's own, one for writing and up to four for reading, and Swift's threads only wait as tasks
/// do. A task that is cancelled meanwhile gets its answer all the same.
extension MessageStore {
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
  /// Writes begin in the order in which they were asked for. See `write(_:_:)`.
  ///
  /// - Throws: What the closure throws, unchanged; `storage`.
  @discardableResult
  public func write<R: Sendable>(
    _ level: SyncLevel, _ body: @escaping @Sendable (borrowing StoreWriter) throws -> R
  ) async throws -> R {
    try await core.writer.run { [core] in try core.write(level, body) }
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
}
