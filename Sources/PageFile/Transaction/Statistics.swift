/// Figures about an open database.
public struct Statistics: Sendable, Hashable {
  /// The last commit.
  public var lastLSN = LSN.zero
  /// The last commit that is known to be on the disk.
  public var durableLSN = LSN.zero
  /// Bytes written to the WAL files since opening, padding included.
  public var walByteCount: UInt64 = 0
  /// Checkpoints finished since opening.
  public var checkpointCount: Int = 0
  /// Pages held in the cache.
  public var cachedPageCount: Int = 0
  /// Pages that are committed and not yet in the data file.
  public var loggedPageCount: Int = 0
  /// Snapshots that are alive, the current one included.
  public var snapshotCount: Int = 0
}
