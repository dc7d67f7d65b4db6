/// One moment of the store, for any number of reads.
///
/// Letting go of it ends it.
///
/// Beginning one takes a lock for a few nanoseconds and reads no page; it waits for nobody.
public struct ReadTransaction: ~Copyable {
  package let source: PageSource
  /// Keeps the files open for as long as somebody reads them.
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
