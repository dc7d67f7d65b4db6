/// The two meta slots of an open data file, in which new states of the store are published.
///
/// A publication writes the slot with the lower write number and syncs, then writes the other slot
/// with the same content and the next number and syncs. So at every moment one slot is whole and
/// durable.
final class MetaSlots {
  private let dataFile: any StorageFile
  private let keys: StoreKeys?
  /// The write number of each slot; 0 for a slot that cannot be read.
  private var writeNumbers: [UInt64]
  private(set) var newest: MetaSlot
  /// True if a slot may have changed since opening.
  private(set) var hasWritten = false

  init(
    _ dataFile: any StorageFile, newest: MetaSlot, writeNumbers: [UInt64], keys: StoreKeys?
  ) {
    self.dataFile = dataFile
    self.keys = keys
    self.newest = newest
    self.writeNumbers = writeNumbers
  }

  /// Publishes a new state in both slots.
  @inline(never)
  func publish(_ meta: MetaSlot) throws(PageFileError) {
    var meta = meta
    for round in 0..<(Defect.metaPublishedOnce.isPlanted ? 1 : 2) {
      meta.writeNumber = nextWriteNumber
      let isUnsynced =
        round == 0 ? Defect.firstMetaUnsynced.isPlanted : Defect.secondMetaUnsynced.isPlanted
      try write(meta, slot: writeNumbers[0] <= writeNumbers[1] ? 0 : 1, isUnsynced: isUnsynced)
    }
    newest = meta
  }

  /// Writes the newest content again: into an unreadable slot if there is one, otherwise in place
  /// into the newer slot.
  ///
  /// The content read from it may be in the system's page cache only.
  func rewriteNewest() throws(PageFileError) {
    newest.writeNumber = nextWriteNumber
    let slot =
      writeNumbers.firstIndex(of: 0) ?? (writeNumbers[0] > writeNumbers[1] ? 0 : 1)
    try write(newest, slot: slot)
  }

  private var nextWriteNumber: UInt64 { max(writeNumbers[0], writeNumbers[1]) + 1 }

  private func write(
    _ meta: MetaSlot, slot: Int, isUnsynced: Bool = false
  ) throws(PageFileError) {
    try Counter.check(meta.writeNumber, "number of a meta slot's write")
    try Counter.check(meta.generation.counter, "WAL generation")
    try dataFile.write(meta.encode(keys, index: slot), at: MetaSlot.offset(of: slot))
    hasWritten = true
    writeNumbers[slot] = meta.writeNumber
    // Durable after this: this slot, and every page written before it.
    if !isUnsynced { try dataFile.sync() }
  }
}
