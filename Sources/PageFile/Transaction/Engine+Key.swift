/// Changing the app's key of an encrypted store.
///
/// See docs/design.md, "Changing the app's key", for the crash argument.
///
///  1. The data key stays. Its record under the new key goes where records are written anyway: into
///     the header of the file that a turn begins, and into both meta slots. The header of a log in
///     use is not rewritten.
///  2. The last record under the former key, in the header of the file that the turn has ended, is
///     overwritten once both slots are durable.
///  3. So the former key opens the store until step 2 begins, and the new one does from the
///     publication on.
extension Engine {
  func changeKey(to new: Encryption) throws(PageFileError) {
    if pager.fork.hasForked { throw .forked }
    if options.access == .readOnly { throw .readOnly(reason: "opened for reading only") }
    if let ending { throw ending }
    let path = pager.dataFile.path
    guard let keys = pager.keys, let former = encryption.withLock({ $0 }) else {
      throw .notEncrypted(path: path)
    }
    let (newCipher, formerCipher) = (
      try new.makeCipher(path: path), try former.makeCipher(path: path)
    )
    let record = keys.record(
      under: newCipher, openedBy: formerCipher, pageByteCount: pager.pageByteCount)
    guard let record else { throw .wrongKey(path: path) }
    // Creates the parts that only writers need, in case nothing has been written yet.
    rollback(try beginWrite(.patient))
    try oneAtATime { () throws(PageFileError) in
      if let ending = state.withLock({ $0.ending }) { throw ending }
      guard let side = state.withLock({ $0.writing }) else { return }
      try side.wal.refuseIfPoisoned()
      // A failed checkpoint has left its file ended; finish that one first.
      if hasEndedFile { try checkpointEndedFile(side, isClean: false) }
      try publish(record, keys, side)
      // Both slots have the new record, so `resume` and copies need the new key from here on.
      encryption.withLock { $0 = new }
      try side.wal.markEmpty(1 - published.current.newest)
    }
  }

  /// Writes a record into the header of the other WAL file and into both meta slots, durably.
  ///
  /// On failure the former record stays in use. It is still in the header of the ended file.
  private func publish(
    _ record: KeyRecord, _ keys: StoreKeys, _ side: WriteSide
  ) throws(PageFileError) {
    let former = keys.record
    keys.use(record)
    do throws(PageFileError) {
      _ = try turn(side, isLast: false, isForced: true)
      try checkpointEndedFile(side, isClean: false)
      if Defect.keyChangedOnce.isPlanted {
        keys.use(former)
        try side.checkpointer.rewriteNewestMeta()
        keys.use(record)
      }
    } catch {
      keys.use(former)
      throw error
    }
  }
}
