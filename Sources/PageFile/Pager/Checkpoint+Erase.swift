/// Secure deletion in the data file: what lies in free slots is overwritten.
///
/// A page that is written anew goes to another slot, so every earlier version stays where it was until
/// its slot is used again. Which of them hold something that was erased since nobody knows; so all free
/// slots are overwritten that may hold anything.
extension Checkpointer {
  /// How many slots are read and written at once.
  private static let erasedCountMax = 64

  /// Overwrites the free slots; answers which they are, counted from 0, and whether none had to be left
  /// because a snapshot can still see it.
  ///
  /// Only one checkpoint runs, so nobody else takes a slot meanwhile. A failure does no harm: nobody
  /// needs what was in these slots.
  func overwriteFreeSlots() throws(PageFileError) -> (slots: [Range<Int>], isComplete: Bool) {
    let (leftovers, isComplete) = slots.withLock { slots in
      slots.releaseRetired(oldestVersion: pager.registry.oldestTableVersion())
      return (slots.leftovers(countMax: Self.erasedCountMax), slots.retiredCount == 0)
    }
    var buffer = ByteBuffer(capacity: Self.erasedCountMax * pager.pageByteCount)
    for range in leftovers { try overwrite(range, &buffer) }
    return (leftovers, isComplete)
  }

  /// Syncs the zeros, also those that were there already: a process that died before its sync may have
  /// left them in the system's memory only.
  func makeErasureDurable(of erased: [Range<Int>]) throws(PageFileError) {
    if erased.isEmpty { return }
    // Durable after this: the zeros.
    if !Defect.erasedSlotsUnsynced.isPlanted { try pager.dataFile.sync() }
    believesZeros = true
    slots.withLock { slots in
      for range in erased { slots.markZero(range) }
    }
  }

  /// Overwrites neighbouring slots unless they hold zeros already, as those do that the file system has
  /// given and nobody has used: reading costs less than writing.
  ///
  /// Zeros are not believed if an erasure was cut short before: a sync of them may have failed, and
  /// then memory shows what the medium has not.
  private func overwrite(
    _ range: Range<Int>, _ buffer: inout ByteBuffer
  ) throws(PageFileError) {
    let offset = pager.offset(of: SlotNumber(UInt32(range.lowerBound + 1)))
    buffer.removeAll()
    buffer.append(zeros: range.count * pager.pageByteCount)
    // What cannot be read may still be overwritten.
    let isRead =
      believesZeros && (try? pager.dataFile.read(into: buffer.mutableBytes, at: offset)) != nil
    if isRead && buffer.bytes.firstNonzero(at: 0) == buffer.count { return }
    buffer.mutableBytes.zero(0, buffer.count)
    try pager.dataFile.write(buffer.bytes, at: offset)
  }
}
