/// Secure deletion in the data file: free slots are overwritten.
///
/// A rewritten page goes to another slot, so every earlier version stays in its old slot until that
/// is reused. Nothing records which of these versions hold content erased since. So all free slots
/// that may hold anything are overwritten.
extension Checkpointer {
  /// The number of slots that are read and written at once.
  private static let maximumErasedCount = 64

  /// Overwrites the free slots and returns them, counted from 0; `isComplete` is false if some had
  /// to be left because a snapshot can still see them.
  ///
  /// Only one checkpoint runs, so no other code takes a slot meanwhile. A failure is harmless,
  /// because the old content of these slots is not needed.
  func overwriteFreeSlots() throws(PageFileError) -> (slots: [Range<Int>], isComplete: Bool) {
    let (leftovers, isComplete) = slots.withLock { slots in
      slots.releaseRetired(oldestVersion: pager.registry.oldestTableVersion())
      return (slots.leftovers(maximumCount: Self.maximumErasedCount), slots.retiredCount == 0)
    }
    var buffer = ByteBuffer(capacity: Self.maximumErasedCount * pager.pageByteCount)
    for range in leftovers { try overwrite(range, &buffer) }
    return (leftovers, isComplete)
  }

  /// Syncs the zeros, including zeros that were found in the slots: a process that died before its
  /// sync may have left those in the system's memory only.
  func makeErasureDurable(of erased: [Range<Int>]) throws(PageFileError) {
    if erased.isEmpty { return }
    // Durable after this: the zeros.
    if !Defect.erasedSlotsUnsynced.isPlanted { try pager.dataFile.sync() }
    believesZeros = true
    slots.withLock { slots in
      for range in erased { slots.markZero(range) }
    }
  }

  /// Overwrites neighbouring slots unless they already hold zeros.
  ///
  /// Slots that the file system has allocated and that were never used hold zeros, and reading
  /// costs less than writing. Zeros are not believed if an earlier erasure was cut short: its sync
  /// may have failed, and then the system's memory shows zeros that the medium does not have.
  private func overwrite(
    _ range: Range<Int>, _ buffer: inout ByteBuffer
  ) throws(PageFileError) {
    let offset = pager.offset(of: SlotNumber(UInt32(range.lowerBound + 1)))
    buffer.removeAll()
    buffer.append(zeros: range.count * pager.pageByteCount)
    // Slots that cannot be read may still be overwritten.
    let isRead =
      believesZeros && (try? pager.dataFile.read(into: buffer.mutableBytes, at: offset)) != nil
    if isRead && buffer.bytes.firstNonzero(at: 0) == buffer.count { return }
    buffer.mutableBytes.zero(0, buffer.count)
    try pager.dataFile.write(buffer.bytes, at: offset)
  }
}
