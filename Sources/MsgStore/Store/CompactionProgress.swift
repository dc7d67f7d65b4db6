/// The progress of `MessageStore.compact`.
public struct CompactionProgress: Sendable, Equatable {
  /// A phase of a compaction.
  public enum Stage: Sendable, Equatable {
    /// All pages are being read, so that a damaged store is left untouched.
    case reading
    /// Leftovers of deletions are being removed, and messages and pages packed.
    case packing
    /// Pages are being moved towards the start of the file, and its end is released.
    case moving
    /// Finished: no more space can be gained.
    case done
  }

  /// The current phase.
  public let stage: Stage
  /// The size of the data file when the compaction began, in bytes.
  public let byteCountBefore: Int
  /// The current size of the data file, in bytes.
  ///
  /// It may grow at first, and shrinks while pages are being moved.
  public let byteCount: Int

  /// The part of the work that is done, 0 to 1: of the pages to read, of the conversations to pack.
  ///
  /// nil in the phases that cannot tell. It begins again with each phase.
  public let partDone: Double?
}
