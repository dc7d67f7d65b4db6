internal import PageFile

/// Figures about an open store, counted since it was opened unless said otherwise.
public struct StoreStatistics: Sendable, Hashable {
  /// The number of the last commit, counted since the store was created.
  public let lastCommit: UInt64
  /// The last commit that is known to be on the disk.
  public let durableCommit: UInt64
  /// Bytes written to the log, padding included.
  public let walByteCount: UInt64
  /// Checkpoints finished.
  public let checkpointCount: Int
  /// Pages held in memory that are in the data file, too.
  public let cachedPageCount: Int
  /// Pages held in memory because only the log has them.
  public let loggedPageCount: Int

  init(_ statistics: Statistics) {
    lastCommit = statistics.lastLSN.rawValue
    durableCommit = statistics.durableLSN.rawValue
    walByteCount = statistics.walByteCount
    checkpointCount = statistics.checkpointCount
    cachedPageCount = statistics.cachedPageCount
    loggedPageCount = statistics.loggedPageCount
  }
}
