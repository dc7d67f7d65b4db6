import PageFile

/// What each operation does, what it promises, and what is asked of the store after it failed.
extension Player {
  /// Plays one operation and compares its answers.
  package func perform(_ operation: Operation) throws(Violation) {
    if database == nil {
      // An opening has failed; the next one may not.
      try openAgain()
      if database == nil { return }
    }
    switch operation {
    case .kill:
      restart(directory.disk, history)
      return try open()
    case .cutPower:
      let disk = directory.disk.afterPowerCut(PowerCut(), setting.profile)
      restart(disk, history.afterPowerCut)
      return try open()
    case .reopen:
      transaction = nil
      attempt { (database) throws(PageFileError) in
        try database.close()
        history.acknowledge(.full)
      }
      dropStore()
      return try openAgain()
    case .commit(let level): try commit(level)
    default: attempt { (database) throws(PageFileError) in try run(operation, database) }
    }
    try throwNoted()
  }

  /// Opens the store in the same process.
  private func openAgain() throws(Violation) {
    // After a failed sync nothing is promised but what was durable before.
    if hasFault { history = history.afterPowerCut }
    try open()
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
      try database.checkpoint()
      history.acknowledge(.full)
    case .background:
      transaction = nil
      database.runBackgroundWork()
    case .openReader:
      let reader = try database.beginRead()
      readers.append(OpenReader(reader, history.newest.digest))
    case .closeReader: try closeReader()
    case .commit, .reopen, .kill, .cutPower: break
    }
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

  // MARK: Committing

  private func commit(_ level: SyncLevel) throws(Violation) {
    var unknown = false
    attempt { (database) throws(PageFileError) in
      let open = try openTransaction(database)
      transaction = nil
      history.attempt(open.contents)
      do throws(PageFileError) {
        try open.commit(level)
      } catch {
        if case .commitUnknown = error {
          unknown = true
        } else {
          history.withdraw()
        }
        throw error
      }
      history.acknowledge(setting.takesRelaxedForFull ? .full : level)
      counts.commitCount += 1
      if countsPages { try countPages(database) }
    }
    if unknown { try faceUnknownCommit() }
  }

  /// After a commit whose fate is unknown nothing can be written, and reads show the state before or
  /// after it; opening anew decides.
  private func faceUnknownCommit() throws(Violation) {
    guard let database else { return }
    if (try? OpenTransaction(database.beginWrite(), on: Contents())) != nil {
      note(.notPoisoned, "a commit is unknown, and the next one is let in")
    }
    if let digest = try? Contents.digest(of: database),
      (history.commit(with: digest) ?? -1) < history.attempted - 1
    {
      note(.wrongAnswer, "neither the state before an unknown commit nor that after it")
    }
    try throwNoted()
    dropStore()
    try openAgain()
  }
}
