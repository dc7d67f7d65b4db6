/// Figures about an open database.
public struct Statistics: Sendable, Equatable {
  /// The last commit.
  public var lastLSN = LSN.zero
  /// The last commit that is known to be on the disk.
  public var durableLSN = LSN.zero
  /// The number of bytes written to the WAL files since opening, padding included.
  public var walByteCount: UInt64 = 0
  /// The number of checkpoints finished since opening.
  public var checkpointCount: Int = 0
  /// The number of pages in the cache.
  public var cachedPageCount: Int = 0
  /// The number of pages that are committed but not yet in the data file.
  public var loggedPageCount: Int = 0
  /// The number of living snapshots, the current one included.
  public var snapshotCount: Int = 0
}
