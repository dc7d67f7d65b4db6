import PageFile

/// Making a store as small as it gets while it is in use.
extension MessageStore {
  /// Makes the store as small as it gets, and gives the space back to the file system.
  ///
  /// For the time when somebody has deleted much, or has asked for it: nothing else needs it. It reads
  /// everything once, so that a damaged store is left as it is; then it finishes what deletions have
  /// left to do, packs what can be packed, and moves the last pages of the data file to its free
  /// places. All of that is done in steps of one commit of about 1 MiB, or 2 MiB of moved pages with
  /// three syncs. Readers and writers go on meanwhile, and a writer waits for one step's commit at
  /// most.
  ///
  /// What is deleted at that time, or still seen by a `read` that has not ended, comes back with the
  /// next call, or with a checkpoint. Some 64 pages stay free, for the case that the device is full.
  ///
  /// It may be given up at any time, by throwing in `progress` or by the end of the process; nothing is
  /// lost, and another call goes on from what has been reached.
  ///
  /// - Parameter progress: Called after each step.
  /// - Throws: What `progress` throws; `storage`, with `diskFull` inside where there is no room for a
  ///   step, `corruptPage` or `ioError` for what cannot be read, and `insideTransaction` in the closure of
  ///   a write; `corruptRecord`. The store is as sound as it was.
  public func compact(progress: (CompactionProgress) throws -> Void = { _ in }) throws {
    var run = try CompactionRun(core.database)
    var isGoingOn = true
    while isGoingOn {
      isGoingOn = try run.step(core)
      try progress(run.progress(core.database))
    }
  }

  /// Makes the store as small as it gets without blocking the caller's thread.
  ///
  /// Each step waits for its turn among the writes that were asked for. See `compact(progress:)`.
  ///
  /// - Parameter progress: Called after each step.
  /// - Throws: What `progress` throws; `CancellationError` when the task was cancelled, after the step
  ///   that was under way; `storage`; `corruptRecord`.
  public func compact(
    progress: @escaping @Sendable (CompactionProgress) throws -> Void = { _ in }
  ) async throws {
    var run = try CompactionRun(core.database)
    var isGoingOn = true
    while isGoingOn {
      try Task.checkCancellation()
      let current = run
      (run, isGoingOn) = try await core.writer.run { [core] in
        var next = current
        let isGoingOn = try next.step(core)
        return (next, isGoingOn)
      }
      try progress(run.progress(core.database))
    }
  }

  /// Makes a new store with the content of this one, as small as it gets, with pages of the same size.
  ///
  /// Reads one moment. Until this returns what is made may be anything between nothing and the whole;
  /// so it is to be made under another name than it gets.
  ///
  /// - Parameter path: Where to make it; there must be nothing.
  package func copy(to path: String) throws {
    try storage { () throws(PageFileError) in
      let transaction = try core.database.beginRead()
      var options = DatabaseOptions()
      options.pageByteCount = core.database.pageByteCount
      let new = try Database(path: path, options: options)
      try new.fill(from: transaction)
      try new.close()
    }
    var storeOptions = StoreOptions()
    storeOptions.steps = .untimed
    let new = try MessageStore(path: path, options: storeOptions)
    try new.compact()
    try new.close()
  }
}
