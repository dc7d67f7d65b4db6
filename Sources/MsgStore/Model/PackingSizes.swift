/// How much of a thread stays loose, and how much goes into one segment.
package struct PackingSizes: Sendable, Hashable {
  /// How many of the newest messages of a thread have cells of their own.
  package var looseCount: Int
  /// The most bytes that a segment takes that is not the least possible; a cell has to hold it, too.
  package var segmentByteCountMax: Int

  package init(looseCount: Int = 64, segmentByteCountMax: Int = .max) {
    self.looseCount = looseCount
    self.segmentByteCountMax = segmentByteCountMax
  }

  /// How many more than the loose ones make a step of packing.
  var stepCount: Int { max(2, looseCount) }
  /// Looking costs a step for each message that is not packed, so not every message has that done.
  var checkedEvery: Int { max(1, looseCount / 2) }
  /// From how many messages on a thread counts as long, and keeps loose ones when all is packed.
  var longThreadCount: Int { 2 * looseCount }
}
