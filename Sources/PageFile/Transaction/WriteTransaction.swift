/// The one writer's view of the store.
///
/// Its reads see its own writes, which are invisible to everybody else until it commits.
///
/// A transaction ends by `commit` or `rollback`; releasing it rolls back. Until then the thread
/// that began it must not call anything that waits for it: `beginWrite`, `checkpoint`, `compact`,
/// `close`, `suspend` and `resume` throw `insideTransaction` on that thread.
public struct WriteTransaction: ~Copyable {
  package let source: PageSource
  private let engine: Engine
  private var isOpen = true

  init(engine: Engine, source: PageSource) {
    self.engine = engine
    self.source = source
  }

  deinit {
    if isOpen { engine.rollback(source) }
  }

  /// The last commit that the transaction sees.
  package var lsn: LSN { source.snapshot.lsn }

  /// The log that a commit goes to, for a caller that waits for its sync later.
  package var log: CommitLog { engine.commitLog }

  /// The number of times the database had been resumed when the transaction began.
  package var life: Int { engine.life }

  /// Lets the transaction use the reserve that is kept for a full device: 64 pages and 64 KiB of
  /// log.
  ///
  /// For transactions that make room, as deletions do, or that must not wait for room.
  public func useReserve() { source.usesReserve = true }

  /// Requests that everything the transaction removes or replaces be erased.
  ///
  /// Once the transaction is committed, and a checkpoint that began after that has returned, the
  /// erased bytes are in none of the files, unless a read transaction from before was still open.
  ///
  /// That checkpoint overwrites all free pages and both logs. On flash memory an overwrite promises
  /// nothing about the chips. Does nothing if `DatabaseOptions.secureDelete` is off. The first
  /// bytes of keys may remain in pages that lead to their neighbours.
  public func eraseSecurely() { source.isErasing = true }

  /// Makes all writes visible at once, and durable as far as the level says.
  ///
  /// A transaction that changed nothing writes nothing; at `full` it still returns only when
  /// everything it saw is durable.
  ///
  /// Costs one write of a few hundred bytes for a small change, and at `full` one sync, shared with
  /// all transactions that commit at the same moment.
  ///
  /// - Returns: The LSN of the commit, or of the last one seen if nothing was changed.
  /// - Throws: `diskFull`, `limitExceeded`, `corruptPage`, `ioError`: nothing was committed.
  ///   `commitUnknown`: the write or the sync failed. `poisoned`: an earlier one did.
  public consuming func commit(_ level: SyncLevel = .full) throws(PageFileError) -> LSN {
    isOpen = false
    return try engine.commit(source, level)
  }

  /// A moment of a commit, for observers that act on it before it is durable.
  package enum CommitMoment {
    /// Readers see the commit, and the next writer still has to wait.
    case visible
    /// The next writer may begin; at `full` the sync is still to come.
    case over
  }

  /// Commits as `commit(_:)` does, calling `observe` at both moments, even if nothing was changed.
  package consuming func commit(
    _ level: SyncLevel, observe: (CommitMoment) -> Void
  ) throws(PageFileError) -> LSN {
    isOpen = false
    return try engine.commit(source, level, observe: observe)
  }

  /// Ends the transaction and discards its changes.
  public consuming func rollback() {
    isOpen = false
    engine.rollback(source)
  }
}

/// The log of an open database, which tells of its commits also when the database was suspended,
/// closed, or resumed meanwhile.
package struct CommitLog: Sendable {
  let wal: WALWriter
  let fork: ForkWitness

  /// Waits until a commit is on the disk.
  ///
  /// One sync is shared by all who wait at that moment.
  ///
  /// - Throws: `commitUnknown` if the sync failed. `forked`.
  package func waitUntilDurable(_ lsn: LSN) throws(PageFileError) {
    if fork.hasForked { throw .forked }
    try wal.waitUntilDurable(lsn)
  }
}
