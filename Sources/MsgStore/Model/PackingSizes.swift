/// The number of loose messages in a thread, and the size of a segment.
package struct PackingSizes: Sendable, Equatable {
  /// The number of newest messages in a thread that keep cells of their own.
  package internal(set) var looseCount: Int
  /// The most bytes in a segment, except one with the fewest messages possible.
  ///
  /// A cell must be able to hold it, too.
  package internal(set) var maximumSegmentByteCount: Int

  package init(looseCount: Int = 64, maximumSegmentByteCount: Int = .max) {
    self.looseCount = looseCount
    self.maximumSegmentByteCount = maximumSegmentByteCount
  }

  /// The number of messages beyond the loose ones that makes a packing step.
  var stepCount: Int { max(2, looseCount) }
  /// The number of new messages between two checks for packing.
  ///
  /// A check takes one step for each unpacked message, so it is not done for every new one.
  var checkedEvery: Int { max(1, looseCount / 2) }
  /// The message count from which a thread is long and keeps loose messages when all else is
  /// packed.
  var longThreadCount: Int { 2 * looseCount }
}
