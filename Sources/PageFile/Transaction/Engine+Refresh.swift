import Synchronization

/// Following the owner's commits in a store opened for reading only.
extension Engine {
  /// Reads everything that the owner has written since the last refresh, and returns the snapshot
  /// of it.
  ///
  /// Commits appended to the log are applied to the pages already in memory, at the cost of their
  /// changes. If the meta slots or the WAL headers have changed, everything from the last
  /// checkpoint on is read again; the pages that the log had before are given up first, or there
  /// would be memory for both.
  ///
  /// - Throws: `busy` if the owner writes too fast to follow, `fileReplaced` if the store was
  ///   removed or replaced, and the errors of opening.
  func refresh() throws(PageFileError) -> Snapshot {
    refreshLock.lock()
    defer { refreshLock.unlock() }
    // Checked under the lock, because the files may have been closed while another reader
    // refreshed.
    if let ending { throw ending }
    // Nobody tells a reader that its store was removed, and the files stay as they are.
    try Self.refuseReplaced(pager.dataFile, directory, name)
    let known = state.withLock { $0.recovered }
    var reader = StoreReader(
      dataFile: pager.dataFile, walFiles: try reopenedWALFiles(),
      cacheByteCount: options.cacheByteCount, appKey: nil)
    if try reader.fingerprint() == known.fingerprint {
      guard try reader.hasCommit(after: known, pager.keys) else { return published.current }
      if follow(known, reader) { return published.current }
    }
    // Until the reading has succeeded, nothing is known: the next refresh starts over.
    state.withLock { $0.recovered.fingerprint = .init(metaSlots: [], walHeaders: []) }
    published.giveUp()
    let (_, recovered) = try reader.recoverBesideOwner(pager, reopenedWALFiles)
    published.reload { recovered.snapshot(pager.registry, tableVersion: $0) }
    state.withLock { $0.recovered = recovered }
    keepWithinBudget()
    return published.current
  }

  /// Applies the commits after the known ones.
  ///
  /// Returns false if the result cannot be trusted.
  ///
  /// In that case a full read tells the reason.
  private func follow(_ known: RecoveredState, _ reader: StoreReader) -> Bool {
    var replay = LogReplay(pager: pager, known.meta, after: published.current)
    var end: WALRecovery.End?
    do throws(PageFileError) {
      end = try reader.commits(after: known, pager.keys) {
        (file, commit, roots) throws(PageFileError) in
        try replay.apply(commit, file: file, to: &roots)
      }
      try replay.validate()
      // See docs/page-file-format.md, R-13.
      guard try reader.fingerprint() == known.fingerprint else { return false }
    } catch {
      return false
    }
    guard let end, let newest = end.lastFile, end.lsn > known.end.lsn else { return false }
    let (maps, remains) = replay.takeMaps()
    published.follow(lsn: end.lsn, roots: end.roots, maps: maps, newest: newest, remains)
    state.withLock {
      $0.recovered.end = end
      $0.recovered.isClean = false
      $0.recovered.settledLog = nil
    }
    if pager.account.livingCount > options.cacheByteCount / pager.pageByteCount {
      keepWithinBudget()
    }
    return true
  }

  /// Returns the WAL files, including those that the owner has created since.
  private func reopenedWALFiles() throws(PageFileError) -> [(any StorageFile)?] {
    var files = walFiles.withLock { $0 }
    defer { walFiles.withLock { $0 = files } }
    try Self.openWALFiles(&files, directory, name, .read)
    return files
  }
}
