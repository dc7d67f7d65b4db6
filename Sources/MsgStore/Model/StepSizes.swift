import PageFile

/// Limits on the work that one commit does.
package struct StepSizes: Sendable {
  /// The most entries that one commit removes.
  package var sweepCountMax: Int
  /// The most messages that one commit moves.
  package var mergeCountMax: Int
  /// The most outbox entries that one commit changes.
  package var entryCountMax: Int
  /// The most conversations and messages that one commit prepares while the store is opened.
  package var openingCountMax = 500
  /// The number of changed page bytes after which such a commit prepares nothing more.
  package var openingByteCountMax = 16 << 20
  /// The time after which a step ends.
  package var timeMax: Duration

  /// Sizes that end a step by counts alone.
  ///
  /// The same content then leads to the same commits, however busy the machine is. Meant for
  /// stores that no caller waits for.
  package static var untimed: StepSizes {
    var sizes = StepSizes()
    sizes.timeMax = .seconds(86_400)
    return sizes
  }

  package init(
    sweepCountMax: Int = 1000, mergeCountMax: Int = 500, entryCountMax: Int = 300,
    timeMax: Duration = .milliseconds(5)
  ) {
    self.sweepCountMax = sweepCountMax
    self.mergeCountMax = mergeCountMax
    self.entryCountMax = entryCountMax
    self.timeMax = timeMax
  }
}
