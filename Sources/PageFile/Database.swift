/// A transactional file of ordered maps from bytes to bytes.
///
/// One process owns a database and writes, one transaction after the other; any number of readers see
/// one moment each and wait for nobody. May be used from any thread.
public final class Database: Sendable {
  let engine: Engine

  /// Opens the data file at a path with the two WAL files beside it, or creates it.
  ///
  /// Opening reads two sectors of the data file and what the log holds since the last checkpoint.
  /// After a clean close nothing is written until the first commit.
  /// - Throws: `busy` when somebody else owns the file; `notADatabase`, `unsupportedFormat`,
  ///   `corruptMeta`, `corruptWAL`, `walMismatch`, `mainFileMissing` for files that cannot be believed
  ///   (nothing is changed then); `readOnly` when the file may not be written; `limitExceeded` for a
  ///   page size that is none; `ioError`.
  public convenience init(
    path: String, options: DatabaseOptions = DatabaseOptions()
  ) throws(PageFileError) {
    let (directory, name) = PosixDirectory.split(path)
    try self.init(in: PosixDirectory(path: directory), name: name, options: options)
  }

  /// Opens a database in any kind of directory.
  package init(
    in directory: any StorageDirectory, name: String, options: DatabaseOptions = DatabaseOptions()
  ) throws(PageFileError) {
    engine = try Engine.open(directory, name, options)
  }

  deinit {
    try? engine.close(waits: false)
  }

  /// Begins to read the last commit.
  /// - Throws: `closed`. For a read-only database also what opening throws, because it looks for
  ///   newer commits first.
  public func beginRead() throws(PageFileError) -> ReadTransaction {
    ReadTransaction(engine: engine, snapshot: try engine.snapshotToRead())
  }

  /// Begins to write, after every writer that began before has ended, and after a checkpoint that
  /// has to make room.
  /// - Throws: `readOnly`, `closed`, `poisoned`; the error of the last checkpoint if there is no room
  ///   because it failed.
  public func beginWrite() throws(PageFileError) -> WriteTransaction {
    WriteTransaction(engine: engine, source: try engine.beginWrite())
  }

  /// Moves everything committed into the data file and gives back what the WAL files have grown by.
  ///
  /// Readers and writers go on meanwhile. Everything committed before is durable afterwards. -
  /// Throws: What writing and syncing throw; nothing is lost then, and a later call tries again.
  public func checkpoint() throws(PageFileError) { try engine.checkpoint(shrink: true) }

  /// Checkpoints, marks the file as cleanly closed, and lets go of it.
  ///
  /// Waits for an open write transaction to end, so it must not be called by whoever holds one;
  /// read transactions still open get `snapshotExpired`. Calling it again does nothing.
  public func close() throws(PageFileError) { try engine.close() }

  /// Does the background work that waits, where no thread does it.
  package func runBackgroundWork() { engine.worker.runQueued() }

  /// Figures about the open database.
  public var statistics: Statistics { engine.statistics }
}

/// Figures about an open database.
public struct Statistics: Sendable, Hashable {
  /// The last commit.
  public var lastLSN: LSN
  /// The last commit that is known to be on the disk.
  public var durableLSN: LSN
  /// Bytes written to the WAL files since opening, padding included.
  public var walByteCount: UInt64
  /// Checkpoints finished since opening.
  public var checkpointCount: Int
  /// Pages held in the cache.
  public var cachedPageCount: Int
  /// Pages that are committed and not yet in the data file.
  public var loggedPageCount: Int
  /// Snapshots that are alive, the current one included.
  public var snapshotCount: Int
}
