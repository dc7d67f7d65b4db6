import PageFile

/// Compaction of a store that is in use.
extension MessageStore {
  /// Compacts the store and returns the freed space to the file system.
  ///
  /// Call it after large deletions, or when the user asks for it; the store never requires it.
  /// Compaction first reads everything once, so that a damaged store is left untouched. It then
  /// finishes the pending work of deletions and of expired messages, packs all messages that can be
  /// packed, and moves the last pages of the data file to its free slots. Each step makes one
  /// commit of about 1 MiB, or moves 2 MiB of pages with three syncs. Readers and writers continue
  /// meanwhile; a writer waits for the commit of one step at most.
  ///
  /// Space that is freed by deletions during the compaction, or is still visible to an unfinished
  /// `read`, is reclaimed by the next call or by a checkpoint. About 64 pages stay free for the
  /// case that the device is full.
  ///
  /// A compaction may be stopped at any time, by throwing from `progress` or by ending the process.
  /// Nothing is lost, and the next call continues from the state reached.
  ///
  /// - Parameter progress: Called after each step.
  /// - Throws: The error of `progress`; `storage`, with `diskFull` inside if a step has no space,
  ///   `corruptPage` or `ioError` for unreadable pages, and `insideTransaction` in the closure of a
  ///   write; `corruptRecord`. The store is as sound as before.
  public func compact(progress: (CompactionProgress) throws -> Void = { _ in }) throws {
    var run = try CompactionRun(core.database)
    var isGoingOn = true
    while isGoingOn {
      isGoingOn = try run.step(core)
      try progress(run.progress(core.database))
    }
  }

  /// Compacts the store without blocking the caller's thread.
  ///
  /// Each step waits for its turn among the queued writes. See `compact(progress:)`.
  ///
  /// - Parameter progress: Called after each step.
  /// - Throws: The error of `progress`; `CancellationError` if the task was cancelled, after the
  ///   step under way; `storage`; `corruptRecord`.
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

  /// Makes a compacted copy of the store, with pages of the same size.
  ///
  /// The copy is of one snapshot. Until the call returns, the new file may be incomplete, so
  /// callers make it under a temporary name.
  ///
  /// - Parameters:
  ///   - path: The path of the copy. No file may exist there.
  ///   - copied: Called with the number of bytes copied so far.
  ///   - compacted: Called after each step of the compaction that follows.
  package func copy(
    to path: String, copied: (_ byteCount: Int) throws -> Void = { _ in },
    compacted: (CompactionProgress) throws -> Void = { _ in }
  ) throws {
    try backUp(to: path, progress: copied)
    var storeOptions = StoreOptions()
    storeOptions.steps = .untimed
    storeOptions.prunesByItself = false
    // The copy is encrypted under the same key of the app.
    storeOptions.encryption = core.database.encryption
    let new = try MessageStore(path: path, options: storeOptions)
    try new.compact(progress: compacted)
    try new.close()
  }
}
