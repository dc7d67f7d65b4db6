public import PageFile

/// The messages and conversations of a chat client, in one file with its log beside it.
///
/// There is one way to read and one way to write, each with a closure. A reader sees one snapshot
/// and never waits; writers take turns. The store needs no maintenance. It may be used from any
/// thread. It ends with `close()` or when its last reference is released: the files are then free
/// at once. If background work is running, its current step is finished first.
public final class MessageStore: Sendable {
  package let core: StoreCore

  /// The member whose unread messages are counted, if known.
  package var localMember: MemberID? { core.localMember }

  /// Opens a store, or creates it.
  ///
  /// Opening reads a few pages, whatever the size of the store. Unless the store was closed
  /// cleanly, it also reads the log.
  ///
  /// - Parameters:
  ///   - path: The data file. The log lies beside it.
  ///   - options: The options of the store.
  /// - Throws: `storage`, with `busy` inside if another owner has the store open, with
  ///   `keyMissing`, `invalidKey`, `wrongKey`, or `notEncrypted` for a key that does not fit the
  ///   store, and with `rolledBack` if it ends before the mark;
  ///   `opening(.notAMessageStore)`; `opening(.schemaTooNew)`; `opening(.schemaTooOld)`;
  ///   `opening(.localMemberDiffers)`; `input(.identifier)` for the local member. Nothing has been
  ///   changed then.
  public init(path: String, options: StoreOptions = .init()) throws(StoreError) {
    try options.localMember?.validate()
    let database = try storage { () throws(PageFileError) in
      try Database(path: path, options: options.database)
    }
    core = try StoreCore(database, path: path, options)
  }

  /// Creates an empty store in memory, for previews and tests of an app.
  ///
  /// It behaves like one on disk, except that its content is gone with the object: nothing is
  /// written anywhere, and `close` loses all of it. Each call creates another store. It takes some
  /// 900 KB, and as much memory for its content as it would take on disk.
  ///
  /// - Parameter options: The options of the store.
  /// - Throws: `input(.identifier)` for the local member.
  public static func inMemory(
    options: StoreOptions = .init()
  ) throws(StoreError) -> MessageStore {
    try MessageStore(in: MemoryDirectory(), name: "store", options: options)
  }

  /// Opens a store in a directory of any kind, for tests and tools.
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

  /// Reads one snapshot of the store.
  ///
  /// Never waits; beginning costs well under a microsecond.
  ///
  /// If the snapshot grows too old to be kept, the closure runs again on a new one, at most three
  /// times. The closure may call `write`, `close` and `suspend`: none of them waits for it, but
  /// later reads in it may be refused.
  ///
  /// - Throws: The closure's error, unchanged; `storage`.
  public func read<R>(_ body: (borrowing StoreSnapshot) throws -> R) throws -> R {
    try core.read(body)
  }

  /// Writes to the store: the closure's changes become one commit, or none if it throws.
  ///
  /// Writers take turns: those at `full`, `send` and `writeWithoutWaiting` go before waiting ones
  /// at `relaxed`; within each kind, the order is that of the calls. A write without changes
  /// commits nothing; at `full` it still returns only once everything it saw is durable.
  ///
  /// - Parameters:
  ///   - level: `full` returns once the commit is on the disk. `relaxed` returns once it survives a
  ///     kill of the process, for data that can be fetched again.
  ///   - body: The changes to make. It may read the store, which it sees as it was before. Calls
  ///     that would wait for this write throw `insideTransaction` in it: another write, `send`,
  ///     `writeWithoutWaiting`, `checkpoint`, `compact`, `changeKey`, `close`, `suspend`,
  ///     `resume`, and `reportProgress` if it stores something.
  /// - Throws: The closure's error, unchanged; `storage`.
  @discardableResult
  public func write<R>(
    _ level: SyncLevel, _ body: (borrowing StoreWriter) throws -> R
  ) throws -> R {
    try core.write(level, body)
  }

  /// Writes to the store at `full`: returns once the commit is on the disk.
  ///
  /// See `write(_:_:)`.
  ///
  /// - Throws: The closure's error, unchanged; `storage`.
  @discardableResult
  public func write<R>(_ body: (borrowing StoreWriter) throws -> R) throws -> R {
    try core.write(.full, body)
  }

  /// Moves the contents of the log to the data file now.
  ///
  /// The store also does this by itself.
  ///
  /// - Throws: `storage`, with `insideTransaction` inside if it is called in the closure of a
  ///   write.
  public func checkpoint() throws(StoreError) { try core.checkpoint() }

  /// Closes the store: waits for background work, and leaves a clean file.
  ///
  /// All later calls throw `closed`.
  ///
  /// - Throws: `storage`. The store is closed all the same, and loops over it end, except after
  ///   `insideTransaction`, which is thrown in the closure of a write, in that of an asynchronous
  ///   read, because closing would wait for its thread, and in the closure that gives the key to
  ///   `resume`.
  public func close() throws(StoreError) { try core.close() }

  /// Releases the files while the system may stop the process or another one is to own the store.
  ///
  /// The other process may be an app extension. When this returns, no write and no sync is under
  /// way, none can begin, and the lock is released: an app calls it when it goes to the background.
  /// All calls throw `suspended` until `resume`. Suspending waits for the reads and writes under
  /// way.
  ///
  /// - Parameter checkpoints: True to leave a clean file, which costs a checkpoint but makes the
  ///   next opening quick. With false, one sync makes all commits durable.
  /// - Throws: `storage`. The store is suspended all the same, and acknowledged commits are safe.
  ///   After `diskFull` and `deviceLocked` nothing is lost; with `ioError`, `commitUnknown`, or
  ///   `poisoned` inside, commits at `relaxed` may be. With `insideTransaction` inside, in the
  ///   closure of a write that it would wait for, the store is not suspended; so in the closure
  ///   that gives the key to `resume`.
  public func suspend(checkpoints: Bool = true) throws(StoreError) {
    try core.suspend(checkpoints: checkpoints)
  }

  /// Reopens the files after `suspend`, or after a failed write or sync that left the store
  /// `poisoned`.
  ///
  /// Changes that another process stored meanwhile become visible. Does nothing to a store that is
  /// open and sound.
  ///
  /// - Throws: `storage`, with the errors of opening inside, and `mainFileMissing` or
  ///   `fileReplaced` if the store is gone. The store stays suspended then, and the call may be
  ///   repeated. With `insideTransaction` inside, in the closure of a write, and in the one that
  ///   gives the key to an earlier call.
  public func resume() throws(StoreError) { try core.resume() }

  /// The last commit that is known to be on the disk, for an app that wants to notice an older copy
  /// of its store; see `StoreOptions.mark`.
  ///
  /// It grows with each write at `full`, each checkpoint, and each clean close. Store it after such
  /// a step, never before. A mark that is some commits behind is safe: it only lets an opening
  /// accept that many more old states. It tells the age of a state and not its branch: two copies
  /// of a store that were written to separately can have the same mark.
  public var mark: LSN { core.database.mark }

  /// Changes the app's key of an encrypted store.
  ///
  /// Durable on return: from then on the new key opens the store, and the former one does not.
  /// Costs about as much as `checkpoint`, whatever the size of the store; readers and writers
  /// continue meanwhile. Keep both keys until the call returns. After a crash, and after an error,
  /// at least one of them opens the store; call this again then.
  ///
  /// It locks out nobody who has the former key and a copy of the files from its time. Only a new
  /// store has a new data key: `backUp(to:)` makes one.
  ///
  /// - Parameter new: The source of the new key, which `resume` and copies use from then on.
  /// - Throws: `storage`, with `notEncrypted` inside for a store without encryption, `keyMissing`
  ///   and `invalidKey` for either key, `readOnly`, `insideTransaction` in the closure of a write.
  public func changeKey(to new: Encryption) throws(StoreError) {
    try storage { () throws(PageFileError) in try core.database.changeKey(to: new) }
  }

  /// The counters since the store was opened.
  public var statistics: StoreStatistics { StoreStatistics(core.database.statistics) }
}
