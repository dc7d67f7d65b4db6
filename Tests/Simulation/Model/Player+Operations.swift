import PageFile

/// What each operation does, what it promises, and what is asked of the store after it failed.
extension Player {
  /// Plays one operation and compares its answers.
  package func perform(_ operation: Operation) throws(Violation) {
    if database == nil {
      // An opening has failed; the next one may not.
      try open()
      if database == nil { return }
    }
    switch operation {
    case .kill:
      restart(directory.disk, historyAfterTroubles)
      return try open()
    case .cutPower:
      let disk = directory.disk.afterPowerCut(PowerCut(), setting.profile)
      restart(disk, history.afterPowerCut)
      return try open()
    case .reopen:
      transaction = nil
      attempt { (database) throws(PageFileError) in
        try database.close()
        noteRecovery()
        history.acknowledge(.full)
      }
      dropStore()
      return try open()
    case .suspend(let checkpoints):
      transaction = nil
      guard let database else { return }
      attempt { (database) throws(PageFileError) in
        let newest = history.attempted
        try database.suspend(checkpoints: checkpoints)
        // Without a write and a checkpoint the log that was found stays as it is.
        if checkpoints { noteRecovery() }
        if foundIndex == nil { history.makeDurable(newest) }
      }
      return try show { () throws(PageFileError) in
        try database.resume()
        return database
      }
    case .commit(let level):
      commit(level)
      if isUnknown { try faceUnknownCommit() }
    default:
      attempt { (database) throws(PageFileError) in try run(operation, database) }
      if isUnknown { try faceUnknownCommit() }
    }
    try throwNoted()
  }

  private func attempt(_ body: (Database) throws(PageFileError) -> Void) {
    guard let database else { return }
    do throws(PageFileError) {
      try body(database)
    } catch {
      meet(error, .unexpectedError, "a call")
      transaction = nil
      if error == .poisoned { dropStore() }
    }
  }

  private func run(_ operation: Operation, _ database: Database) throws(PageFileError) {
    switch operation {
    case .put(let key, let byteCount):
      try put(key, byteCount: byteCount, openTransaction(database))
    case .delete(let key): try delete(key, openTransaction(database))
    case .fill(let keys, let byteCount):
      for key in keys { try put(key, byteCount: byteCount, openTransaction(database)) }
    case .clear(let keys):
      for key in keys { try delete(key, openTransaction(database)) }
    case .rollback: transaction = nil
    case .checkpoint:
      // A checkpoint waits for the writer.
      transaction = nil
      let newest = history.attempted
      try database.checkpoint()
      noteRecovery()
      history.makeDurable(newest)
    case .checkpointBeside(let call, let level):
      transaction = nil
      try checkpoint(database, beside: level, at: call)
    case .compact:
      transaction = nil
      let newest = history.attempted
      try compact(database)
      noteRecovery()
      history.makeDurable(newest)
    case .background:
      transaction = nil
      database.runBackgroundWork()
    case .openReader: try openReader(database)
    case .closeReader: try closeReader()
    case .commit, .reopen, .suspend, .kill, .cutPower: break
    }
  }

  /// The contents stay the same after each step.
  private func compact(_ database: Database) throws(PageFileError) {
    var compaction = Compaction()
    let digest = try Contents.digest(of: database)
    while try database.compact(&compaction) {
      if try Contents.digest(of: database) != digest {
        return note(.wrongAnswer, "the contents have changed at \(compaction.stage)")
      }
    }
    counts.compactionCount += 1
    counts.savedPageCount += compaction.savedPageCount
    counts.movedPageCount += compaction.movedPageCount
  }

  private func openReader(_ database: Database) throws(PageFileError) {
    let reader = try database.beginRead()
    readers.append(OpenReader(reader, history.newest.digest))
  }

  private func closeReader() throws(PageFileError) {
    guard let reader = readers.popLast() else { return }
    do throws(PageFileError) {
      if try Contents.digest(of: reader.transaction.source) != reader.digest {
        note(.wrongAnswer, "a reader sees what it did not see before")
      }
      counts.readCount += 1
    } catch {
      if error != .snapshotExpired { throw error }
      counts.expiredReadCount += 1
    }
  }

  /// A commit while a checkpoint writes, as it would be made by another thread.
  private func checkpoint(
    _ database: Database, beside level: SyncLevel, at call: Int
  ) throws(PageFileError) {
    // Work that waits may be a checkpoint, and a full cache has writers wait for this one.
    database.runBackgroundWork()
    // The log that was found is moved with writers kept out: nobody could write beside that.
    _ = try openTransaction(database)
    transaction = nil
    let hasRoom =
      database.statistics.loggedPageCount * setting.pageByteCount < setting.cacheByteCount / 2
    let newest = history.attempted
    var callsLeft = hasRoom ? call : -1
    directory.interrupt { [unowned self] path in
      if path != "s" { return }
      if callsLeft == 0 {
        directory.interrupt { _ in }
        // A writer who finds the disk full has a checkpoint made, which would wait for this one.
        hasRoomBeforehand = false
        attempt { (database) throws(PageFileError) in
          try put(call, byteCount: 50, openTransaction(database))
        }
        if transaction != nil { commit(level) }
        attempt { (database) throws(PageFileError) in try openReader(database) }
      }
      callsLeft -= 1
    }
    defer { directory.interrupt { _ in } }
    try database.checkpoint()
    history.makeDurable(newest)
  }

  // MARK: Committing

  private func commit(_ level: SyncLevel) {
    attempt { (database) throws(PageFileError) in
      let open = try openTransaction(database)
      transaction = nil
      history.attempt(open.contents)
      do throws(PageFileError) {
        try open.commit(level)
      } catch {
        if case .commitUnknown = error {
          isUnknown = true
        } else {
          history.withdraw()
        }
        if error == .diskFull && hasRoomBeforehand { deleteOnFullDisk(database) }
        throw error
      }
      hasRoomBeforehand = true
      history.acknowledge(setting.takesRelaxedForFull ? .full : level)
      counts.commitCount += 1
      if countsPages { try countPages(database) }
    }
  }

  /// Sees what is left of a store after a commit whose fate is unknown.
  ///
  /// Nothing can be written, and reads show the state before or after it; opening anew decides. If a
  /// locked device has refused the sync, the commit is there, and the store goes on.
  private func faceUnknownCommit() throws(Violation) {
    isUnknown = false
    if let database {
      if directory.lastFault == .locked && !database.isPoisoned { return }
      askPoisoned(database)
    }
    try throwNoted()
    dropStore()
    try open()
  }

  /// Room is kept for this by every commit before.
  private func deleteOnFullDisk(_ database: Database) {
    guard case .room = directory.trouble, let key = history.newest.firstKey else { return }
    do throws(PageFileError) {
      let open = OpenTransaction(try database.beginWrite(), on: history.newest)
      open.useReserve()
      try delete(key, open)
      history.attempt(open.contents)
      try open.commit(.full)
      history.acknowledge(.full)
      counts.reserveCount += 1
    } catch {
      note(.noReserve, "a deletion on a full disk threw \(error)")
    }
  }

  private func askPoisoned(_ database: Database) {
    if (try? OpenTransaction(database.beginWrite(), on: Contents())) != nil {
      note(.notPoisoned, "a commit is unknown, and the next one is let in")
    }
    if let digest = try? Contents.digest(of: database),
      (history.commit(with: digest) ?? -1) < history.attempted - 1
    {
      note(.wrongAnswer, "neither the state before an unknown commit nor that after it")
    }
  }
}
