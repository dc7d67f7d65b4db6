/// A view of one moment of the store, for any number of reads.
///
/// The transaction ends when it is released. It does not keep the database open: once the database
/// is closed or released, reading throws `snapshotExpired`.
///
/// Beginning one takes a lock for a few nanoseconds and reads no page; it never waits.
public struct ReadTransaction: ~Copyable {
  package let source: PageSource
  /// Keeps alive the parts needed to read.
  ///
  /// The files stay open until the database is closed or released.
  private let engine: Engine

  init(engine: Engine, snapshot: Snapshot) {
    self.engine = engine
    source = PageSource(pager: engine.pager, snapshot: snapshot)
  }

  /// The number of times the database had been resumed when the transaction began.
  package var life: Int { engine.life }

  /// The last commit that the transaction sees.
  public var lsn: LSN { source.snapshot.lsn }
}
