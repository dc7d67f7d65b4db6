public import PageFile

/// The files of a store as a whole.
extension MessageStore {
  /// Makes a copy of the store as of one moment, while it is in use.
  ///
  /// The copy is one file without a log, and opens like any other store, with everything that waits
  /// in the outbox: an app that restores it sends that again. Copying the files with the system's
  /// means may mix two moments. Readers and writers continue meanwhile; each page is read once.
  ///
  /// - Parameters:
  ///   - path: The path of the copy; no file may exist there. Until it is complete, the copy has a
  ///     name that ends with `.partial`.
  ///   - progress: Called after every 4 MiB with the number of bytes copied; throwing ends the
  ///     copy.
  /// - Throws: The error of `progress`; `storage`, with `snapshotExpired` inside if so much was
  ///   written meanwhile that the moment could not be kept. Nothing is left at the path then.
  public func backUp(
    to path: String, progress: (_ byteCount: Int) throws -> Void = { _ in }
  ) throws {
    try core.backUp(to: path, progress: progress)
  }

  /// Makes a copy of the store as of one moment that is encrypted under a key of the app, or not
  /// encrypted; see `backUp(to:progress:)`.
  ///
  /// So an app moves its store to encryption once, and gives an encrypted one another data key. The
  /// store itself stays as it is: remove it when the copy has taken its place. Removing is not
  /// erasing: on flash storage the texts of a store that was not encrypted may stay for long.
  ///
  /// - Parameters:
  ///   - path: The path of the copy; no file may exist there.
  ///   - encryption: The source of the key of the copy; nil for a copy without encryption.
  ///   - progress: Called after every 4 MiB with the number of bytes copied; throwing ends the
  ///     copy.
  /// - Throws: As the other form does; `storage`, with `keyMissing` or `invalidKey` inside for the
  ///   key of the copy.
  public func backUp(
    to path: String, encryption: Encryption?, progress: (_ byteCount: Int) throws -> Void = { _ in }
  ) throws {
    try core.backUp(to: path, encryption: encryption, progress: progress)
  }

  /// Makes a copy under another key, or without encryption, in a directory of any kind.
  package func backUp(
    to directory: any StorageDirectory, name: String, encryption: Encryption?
  ) throws {
    try core.backUp(to: directory, name: name, encryption: encryption) { _ in }
  }

  /// Makes a copy of the store without blocking the caller's thread; see `backUp(to:progress:)`.
  ///
  /// - Parameters:
  ///   - path: The path of the copy; no file may exist there.
  ///   - progress: Called after every 4 MiB with the number of bytes copied.
  /// - Throws: As the other form does; `CancellationError` if the task was cancelled.
  public func backUp(
    to path: String, progress: @escaping @Sendable (_ byteCount: Int) throws -> Void = { _ in }
  ) async throws {
    try await core.runUntilCancelled(progress) { core, progress in
      try core.backUp(to: path, progress: progress)
    }
  }

  /// Makes a copy under a key of the app, or without encryption, without blocking the caller's
  /// thread; see `backUp(to:encryption:progress:)`.
  ///
  /// - Parameters:
  ///   - path: The path of the copy; no file may exist there.
  ///   - encryption: The source of the key of the copy; nil for a copy without encryption.
  ///   - progress: Called after every 4 MiB with the number of bytes copied.
  /// - Throws: As the other form does; `CancellationError` if the task was cancelled.
  public func backUp(
    to path: String, encryption: Encryption?,
    progress: @escaping @Sendable (_ byteCount: Int) throws -> Void = { _ in }
  ) async throws {
    try await core.runUntilCancelled(progress) { core, progress in
      try core.backUp(to: path, encryption: encryption, progress: progress)
    }
  }

  /// Removes a store with all its files, as when its user logs out.
  ///
  /// - Parameter path: The data file. The store must be closed, here and in other processes.
  /// - Returns: False if there was no store.
  /// - Throws: `storage`, with `alreadyOpen` or `busy` inside if the store is in use, and
  ///   `notADatabase` for a file of another kind, which stays.
  @discardableResult
  public static func remove(path: String) throws(StoreError) -> Bool {
    try storage { () throws(PageFileError) in try Database.remove(path: path) }
  }
}

extension StoreCore {
  fileprivate func backUp(to path: String, progress: (_ byteCount: Int) throws -> Void) throws {
    do {
      try database.backUp(to: path, progress: progress)
    } catch let error as PageFileError {
      throw StoreError.storage(error)
    }
  }

  fileprivate func backUp(
    to path: String, encryption: Encryption?, progress: (_ byteCount: Int) throws -> Void
  ) throws {
    let (folder, name) = PosixDirectory.resolve(path)
    try backUp(
      to: PosixDirectory(path: folder), name: name, encryption: encryption, progress: progress)
  }

  fileprivate func backUp(
    to directory: any StorageDirectory, name: String, encryption: Encryption?,
    progress: (_ byteCount: Int) throws -> Void
  ) throws {
    do {
      try database.backUp(
        to: directory, name: name, encryption: encryption, progress: progress
      ) { moment, copy in
        try SegmentFitting.run(moment, in: copy, path: directory.path(of: name))
      }
    } catch let error as PageFileError {
      throw StoreError.storage(error)
    }
  }

  /// Runs a copy on a thread of the readers; its progress ends it when the task is cancelled.
  ///
  /// The store itself may go meanwhile: only its core is held.
  fileprivate func runUntilCancelled(
    _ progress: @escaping @Sendable (_ byteCount: Int) throws -> Void,
    _ copy: @escaping @Sendable (StoreCore, (_ byteCount: Int) throws -> Void) throws -> Void
  ) async throws {
    let isCancelled = Locked(false)
    try await withTaskCancellationHandler {
      try await readers.run { [self] in
        try copy(self) { byteCount in
          if isCancelled.withLock({ $0 }) { throw CancellationError() }
          try progress(byteCount)
        }
      }
    } onCancel: {
      isCancelled.withLock { $0 = true }
    }
  }
}
