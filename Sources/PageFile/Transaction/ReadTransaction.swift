/// One moment of the store, for any number of reads.
///
/// Letting go of it ends it. It does not keep the database open: once that is closed, or nobody has it
/// any more, reading throws `snapshotExpired`.
///
/// Beginning one takes a lock for a few nanoseconds and reads no page; it waits for nobody.
public struct ReadTransaction: ~Copyable {
  package let source: PageSource
  /// Its parts are needed to read; the files are open until the database is closed or goes.
  private let engine: Engine

  init(engine: Engine, snapshot: Snapshot) {
    self.engine = engine
    source = PageSource(pager: engine.pager, snapshot: snapshot)
  }

  /// How often the database had been resumed when this began.
  package var life: Int { engine.life }

  /// The last commit this transaction sees.
  public var lsn: LSN { source.snapshot.lsn }
}
