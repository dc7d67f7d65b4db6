/// The one writer's view of the store: reads see what it has written, nobody else does until it
/// commits.
///
/// It ends by `commit` or `rollback`; letting go of it rolls back.
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

  /// How often the database had been resumed when this began.
  package var life: Int { engine.life }

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

  /// Ends the transaction as if it had not been.
  public consuming func rollback() {
    isOpen = false
    engine.rollback(source)
  }
}
