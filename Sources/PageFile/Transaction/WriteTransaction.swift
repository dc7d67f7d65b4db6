/// The one writer's view of the store: reads see what it has written, nobody else does until it
/// commits.
///
/// It ends by `commit` or `rollback`; letting go of it rolls back. Until then the thread that has begun it
/// must do nothing that waits for it: another `beginWrite`, `checkpoint`, `compact`, `close` or `resume`
/// there throws `insideTransaction`, and `suspend` traps.
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

  /// The last commit that it sees.
  package var lsn: LSN { source.snapshot.lsn }

  /// How often the database had been resumed when this began.
  package var life: Int { engine.life }

  /// Lets the transaction use the room that is kept for the case that the device is full: 64 pages and
  /// 64 KiB of log.
  ///
  /// For transactions that make room, as deletions do, or that must not wait for it.
  public func useReserve() { source.usesReserve = true }

  /// Says that what the transaction removes or replaces is to be erased: once it is committed and a
  /// checkpoint that began after that has returned, it is in none of the files, unless a read
  /// transaction from before was still open.
  ///
  /// That checkpoint overwrites all free pages and both logs. On flash memory an overwrite promises
  /// nothing about the chips. Does nothing where `DatabaseOptions.secureDelete` is off. Keys may
  /// leave their first bytes in pages that lead to their neighbours.
  public func eraseSecurely() { source.isErasing = true }

  /// Makes everything written visible at once, and durable as far as the level says.
  ///
  /// A transaction that changed nothing writes nothing; at `full` it still returns only when
  /// everything it saw is durable.
  ///
  /// Costs one write of a few hundred bytes for a small change, and at `full` one sync, shared with
  /// whoever commits at the same moment.
  /// - Returns: The number of the commit, or of the last one seen if nothing was changed.
  /// - Throws: `diskFull`, `limitExceeded`, `corruptPage`, `ioError`: nothing was committed.
  ///   `commitUnknown`: the write or the sync failed. `poisoned`: an earlier one did.
  public consuming func commit(_ level: SyncLevel = .full) throws(PageFileError) -> LSN {
    isOpen = false
    return try engine.commit(source, level)
  }

  /// A moment of a commit, for whoever wants to tell of it before it is durable.
  package enum CommitMoment {
    /// Readers see it, and the next writer has to wait.
    case visible
    /// The next writer may begin; at `full` the sync is still to come.
    case over
  }

  /// The same, with `observe` told of both moments, also if nothing was changed.
  package consuming func commit(
    _ level: SyncLevel, observe: (CommitMoment) -> Void
  ) throws(PageFileError) -> LSN {
    isOpen = false
    return try engine.commit(source, level, observe: observe)
  }

  /// Ends the transaction as if it had not been.
  public consuming func rollback() {
    isOpen = false
    engine.rollback(source)
  }
}
