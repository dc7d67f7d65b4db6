import PageFile

/// How much of long work one commit does.
package struct StepSizes: Sendable {
  /// How many entries one commit may remove.
  package var sweepCountMax: Int
  /// How many messages one commit may move.
  package var mergeCountMax: Int
  /// How many entries of the outbox one commit may change.
  package var entryCountMax: Int
  /// How many conversations and messages one commit of an opening may prepare.
  package var openingCountMax = 500
  /// How many bytes of pages it may have changed before it prepares one more.
  package var openingByteCountMax = 16 << 20
  /// After how long it does no more.
  package var timeMax: Duration

  /// Steps that end by counts alone: a store that nobody waits for gets the same commits from the same
  /// content, however busy the machine is.
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
