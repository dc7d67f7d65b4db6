/// Following the owner's commits in a store that is opened for reading only.
extension Engine {
  /// Looks whether the owner has written since, and if so reads what it wrote.
  ///
  /// Commits that were appended to the log are applied to what is here already: that costs what they
  /// changed. When the meta slots or the WAL headers have moved, all is read anew from the last
  /// checkpoint on.
  /// - Throws: `busy` when the owner writes too fast to follow, and what opening throws.
  func refresh() throws(PageFileError) {
    refreshLock.lock()
    defer { refreshLock.unlock() }
    // Asked here, as the files may have been closed while another reader looked.
    if let ending { throw ending }
    let known = state.withLock { $0.recovered }
    var reader = StoreReader(
      dataFile: pager.dataFile, walFiles: try reopenedWALFiles(),
      cacheByteCount: options.cacheByteCount)
    if try reader.fingerprint() == known.fingerprint {
      guard try reader.hasCommit(after: known) else { return }
      if follow(known, reader) { return }
    }
    let (_, recovered) = try reader.recoverBesideOwner(pager, reopenedWALFiles)
    published.reload { recovered.snapshot(pager.registry, tableVersion: $0) }
    state.withLock { $0.recovered = recovered }
    keepWithinBudget()
  }

  /// Applies the commits behind those that are known; false when that does not lead to a state to
  /// believe in.
  ///
  /// Then reading everything says why.
  private func follow(_ known: RecoveredState, _ reader: StoreReader) -> Bool {
    var replay = LogReplay(pager: pager, after: published.current)
    var end: WALRecovery.End?
    do throws(PageFileError) {
      end = try reader.commits(after: known) { (file, commit) throws(PageFileError) in
        try replay.apply(commit, file: file)
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

  /// The WAL files, those included that the owner has made since.
  private func reopenedWALFiles() throws(PageFileError) -> [(any StorageFile)?] {
    var files = walFiles.withLock { $0 }
    defer { walFiles.withLock { $0 = files } }
    try Self.openWALFiles(&files, directory, name, .read)
    return files
  }
}
