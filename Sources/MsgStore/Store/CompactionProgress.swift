/// How far `MessageStore.compact` has come.
public struct CompactionProgress: Sendable, Hashable {
  /// What is being done.
  public enum Stage: Sendable, Hashable {
    /// Every page is read, so that a damaged store is left as it is.
    case reading
    /// What deletions have left is removed, and messages and pages are put together.
    case packing
    /// Pages move towards the beginning of the file, whose end is given back.
    case moving
    /// Nothing more can be gained.
    case done
  }

  /// What is being done.
  public let stage: Stage
  /// The size of the data file when it began, in bytes.
  public let byteCountBefore: Int
  /// The size of the data file now, in bytes.
  ///
  /// It may grow at first, and falls while pages move.
  public let byteCount: Int
}
