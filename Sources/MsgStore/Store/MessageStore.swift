package import PageFile

/// The messages and conversations of a chat client, in one file with its log beside it.
///
/// There is one way to read and one way to write, both closures. A reader sees one moment and waits
/// for nobody; writers take turns. Nothing has to be tended. A store may be used from any thread, and
/// ends with `close()` or when the last reference to it goes: then the files are free at once, also
/// where work went on in the background, whose present step is waited for.
public final class MessageStore: Sendable {
  package let core: StoreCore

  /// The member whose unread messages are counted, where that is known.
  package var localMember: MemberID? { core.localMember }

  /// Opens a store, or creates it.
  ///
  /// Opening reads a few pages, whatever the size of the store; after anything but a clean close it
  /// also reads the log.
  ///
  /// - Parameters:
  ///   - path: The data file; the log lies beside it.
  ///   - options: How to open it.
  /// - Throws: `storage`, with `busy` inside when somebody else has it; `notAMessageStore`;
  ///   `schemaTooNew`; `schemaTooOld`; `localMemberDiffers`; `invalidIdentifier` for the local
  ///   member. Nothing was changed then.
  public init(path: String, options: StoreOptions = .init()) throws(StoreError) {
    try options.localMember?.validate()
    let database = try storage { () throws(PageFileError) in
      try Database(path: path, options: options.database)
    }
    core = try StoreCore(database, path: path, options)
  }

  /// The same in a directory of any kind, for tests and tools.
  package init(
    in directory: any StorageDirectory, name: String, options: StoreOptions = .init()
  ) throws(StoreError) {
    try options.localMember?.validate()
    let database = try storage { () throws(PageFileError) in
      try Database(in: directory, name: name, options: options.database)
    }
    core = try StoreCore(database, path: directory.path(of: name), options)
  }

  deinit { core.end() }

  /// Reads one moment of the store.
  ///
  /// Waits for nobody; beginning costs well under a microsecond.
  ///
  /// The closure runs again, at most three times, on a new moment when its own grew too old to be
  /// kept. It may write, `close` and `suspend`: what it reads afterwards may be refused, but nobody waits.
  ///
  /// - Throws: What the closure throws, unchanged; `storage`.
  public func read<R>(_ body: (borrowing StoreSnapshot) throws -> R) throws -> R {
    try core.read(body)
  }

  /// Changes the store: everything the closure does is one commit, or nothing if it throws.
  ///
  /// Writers take turns: those at `full`, and `send` and `writeVisible`, go before those at `relaxed`
  /// that wait; each kind in the order in which they came. One that changes nothing commits nothing; at
  /// `full` it still returns only when everything it saw is durable.
  ///
  /// - Parameters:
  ///   - level: `full` returns when the commit is on the disk; `relaxed` when it is safe from the
  ///     process being killed, for what can be fetched again.
  ///   - body: What to do. It may read the store, which is as it was before. What would wait for this
  ///     write throws `insideTransaction` in it: another write, `send`, `writeVisible`, `checkpoint`,
  ///     `compact`, `close`, `resume`, and `reportProgress` when it stores something; `suspend` traps.
  /// - Throws: What the closure throws, unchanged; `storage`.
  @discardableResult
  public func write<R>(
    _ level: SyncLevel, _ body: (borrowing StoreWriter) throws -> R
  ) throws -> R {
    try core.write(level, body)
  }

  /// Changes the store: everything the closure does is one commit, or nothing if it throws, and it is
  /// on the disk when this returns.
  ///
  /// See `write(_:_:)`; this is the same at `full`.
  ///
  /// - Throws: What the closure throws, unchanged; `storage`.
  @discardableResult
  public func write<R>(_ body: (borrowing StoreWriter) throws -> R) throws -> R {
    try core.write(.full, body)
  }

  /// Moves what is in the log to the data file now.
  ///
  /// It happens by itself as well.
  ///
  /// - Throws: `storage`, with `insideTransaction` inside when it is called in the closure of a write.
  public func checkpoint() throws(StoreError) { try core.checkpoint() }

  /// Ends the store: waits for what runs in the background, and leaves a clean file.
  ///
  /// Everything afterwards throws `closed`.
  ///
  /// - Throws: `storage`: the store has ended all the same, but for `insideTransaction`, which it throws
  ///   in the closure of a write, and of an asynchronous read, whose thread it would wait for.
  public func close() throws(StoreError) { try core.close() }

  /// Lets go of the files, for as long as the system may stop the process or another one, as an app
  /// extension, shall own the store.
  ///
  /// When this returns no write and no sync is under way, none can begin, and the lock is let go:
  /// an app calls it when it goes to the background. Everything throws `suspended` until `resume`.
  /// It waits for what is being read and written.
  ///
  /// - Parameter checkpoints: Whether to leave a clean file, which costs the time of a checkpoint
  ///   but makes the next opening quick. Otherwise one sync makes durable what is not.
  /// - Throws: `storage`. The store is suspended all the same, and what was acknowledged is safe.
  ///   After `diskFull` and `deviceLocked` nothing is lost; after `ioError`, `commitUnknown`, or
  ///   `poisoned` inside, commits at `relaxed` may be. With `insideTransaction` inside, in the closure
  ///   of a write, which it would wait for: then the store goes on.
  public func suspend(checkpoints: Bool = true) throws(StoreError) {
    try core.suspend(checkpoints: checkpoints)
  }

  /// Takes the files up again after `suspend`, or after a failed write or sync that has left the
  /// store `poisoned`.
  ///
  /// What another process has stored meanwhile is seen. Does nothing to a store that is in use and
  /// sound.
  ///
  /// - Throws: `storage`, with what opening throws inside, and `mainFileMissing` or `fileReplaced`
  ///   when the store is not there any more. The store stays suspended then, and this may be called
  ///   again. `insideTransaction` in the closure of a write.
  public func resume() throws(StoreError) { try core.resume() }

  /// What was counted since the store was opened.
  public var statistics: StoreStatistics { StoreStatistics(core.database.statistics) }
}
