/// Secure deletion in the data file: what lies in free slots is overwritten.
///
/// A page that is written anew goes to another slot, so every earlier version stays where it was until
/// its slot is used again. Which of them hold something that was erased since nobody knows; so all free
/// slots are overwritten that may hold anything.
extension Checkpointer {
  /// How many slots are read and written at once.
  private static let erasedCountMax = 64

  /// Overwrites the free slots, durably, and says whether slots that wait for a snapshot to end had to
  /// be left.
  ///
  /// Only one checkpoint runs, so nobody else takes a slot meanwhile.
  func eraseFreeSlots() throws(PageFileError) -> Bool {
    let (leftovers, isComplete) = slots.withLock { slots in
      slots.releaseRetired(oldestVersion: pager.registry.oldestTableVersion())
      return (slots.leftovers(countMax: Self.erasedCountMax), slots.retiredCount == 0)
    }
    var buffer = ByteBuffer(capacity: Self.erasedCountMax * pager.pageByteCount)
    var hasWritten = false
    for range in leftovers where try erase(range, &buffer) { hasWritten = true }
    // Durable after this: the zeros.
    if hasWritten && !Defect.erasedSlotsUnsynced.isPlanted { try pager.dataFile.sync() }
    slots.withLock { slots in
      for range in leftovers { slots.markZero(range) }
    }
    return isComplete
  }

  /// Overwrites neighbouring slots unless they hold zeros already, as those do that the file system has
  /// given and nobody has used: reading costs less than writing.
  private func erase(
    _ range: Range<Int>, _ buffer: inout ByteBuffer
  ) throws(PageFileError) -> Bool {
    let offset = pager.offset(of: SlotNumber(UInt32(range.lowerBound + 1)))
    buffer.removeAll()
    buffer.append(zeros: range.count * pager.pageByteCount)
    _ = try pager.dataFile.read(into: buffer.mutableBytes, at: offset)
    if buffer.bytes.firstNonzero(at: 0) == buffer.count { return false }
    buffer.mutableBytes.zero(0, buffer.count)
    try pager.dataFile.write(buffer.bytes, at: offset)
    return true
  }
}
