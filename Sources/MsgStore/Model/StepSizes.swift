import PageFile

/// Limits on the work that one commit does.
package struct StepSizes: Sendable {
  /// The most entries that one commit removes.
  package internal(set) var maximumSweepCount: Int
  /// The most messages that one commit moves.
  package var maximumMergeCount: Int
  /// The most outbox entries that one commit changes.
  package var maximumEntryCount: Int
  /// The number of bytes of changed pages after which a commit does nothing more of its work.
  ///
  /// A quarter of what a commit may change at all.
  package var maximumChangedByteCount = 16 << 20
  /// The most conversations and messages that one commit prepares while the store is opened.
  package var maximumOpeningCount = 500
  /// The time after which a step ends.
  package var maximumTime: Duration

  /// Sizes that end a step by counts alone.
  ///
  /// The same content then leads to the same commits, however busy the machine is. Meant for
  /// stores that no caller waits for.
  package static var untimed: StepSizes {
    var sizes = StepSizes()
    sizes.maximumTime = .seconds(86_400)
    return sizes
  }

  package init(
    maximumSweepCount: Int = 1000, maximumMergeCount: Int = 500, maximumEntryCount: Int = 300,
    maximumTime: Duration = .milliseconds(5)
  ) {
    self.maximumSweepCount = maximumSweepCount
    self.maximumMergeCount = maximumMergeCount
    self.maximumEntryCount = maximumEntryCount
    self.maximumTime = maximumTime
  }
}
