internal import PageFile

/// Statistics of an open store, counted since it was opened unless stated otherwise.
public struct StoreStatistics: Sendable, Equatable {
  /// The number of the last commit, counted since the store was created.
  public let lastCommit: UInt64
  /// The last commit known to be on disk.
  public let durableCommit: UInt64
  /// The number of bytes written to the log, padding included.
  public let walByteCount: UInt64
  /// The number of finished checkpoints.
  public let checkpointCount: Int
  /// The number of pages in memory that are also in the data file.
  public let cachedPageCount: Int
  /// The number of pages in memory that are otherwise only in the log.
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
