/// Following the owner's commits in a store that is opened for reading only.
extension Engine {
  /// Looks whether the owner has written since, and if so reads what it wrote: the meta slots, the
  /// WAL headers, and the log from the last checkpoint on.
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
    let fingerprint = try reader.fingerprint()
    let hasCommit = try reader.hasCommit(after: known)
    if fingerprint == known.fingerprint && !hasCommit { return }
    let (_, recovered) = try reader.recoverBesideOwner(pager, reopenedWALFiles)
    published.reload { recovered.snapshot(pager.registry, tableVersion: $0) }
    state.withLock { $0.recovered = recovered }
  }

  /// The WAL files, those included that the owner has made since.
  private func reopenedWALFiles() throws(PageFileError) -> [(any StorageFile)?] {
    var files = walFiles.withLock { $0 }
    defer { walFiles.withLock { $0 = files } }
    try Self.openWALFiles(&files, directory, name, .read)
    return files
  }
}
