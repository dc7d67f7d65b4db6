/// The checkpointer, which moves committed pages from the log to the data file.
///
/// See docs/design.md, "Checkpoint", for the crash argument.
///
///  1. A page is only ever written to a free slot, so the published tables stay whole.
///  2. The new table counts once it is durable in one meta slot. The slots that it no longer uses,
///     and the WAL file that it makes superfluous, are reused only after it is durable in both.
///  3. Only one checkpoint runs at a time.
final class Checkpointer: @unchecked Sendable {
  // Unchecked: `metas`, `orphans` and `believesZeros` are only touched by the running checkpoint;
  // the rest is locked.
  let pager: Pager
  private let published: Published
  private let metas: MetaSlots
  let slots: Locked<Slots>
  /// Slots of publications that a locked device cut short; a meta slot may refer to them until both
  /// meta slots are written again.
  private var orphans: [SlotNumber] = []
  /// True if free slots that read as zeros need not be overwritten; see `overwriteFreeSlots`.
  var believesZeros: Bool
  /// The slots that the commits since the last turn, and those before it, will need.
  private let reservation = Locked(Reservation())

  struct Reservation {
    var current = Part()
    var ended = Part()
    /// The number of slots that the running checkpoint has taken from those for `ended`.
    var takenCount = 0

    /// The number of slots that must still be available.
    var slotCount: Int { current.slotCount + max(0, ended.slotCount - takenCount) }

    struct Part {
      var pageCount = 0
      var tablePages: Set<UInt32> = []

      /// The number of slots for the pages, the table pages above them, and as many again for the
      /// levels above those.
      var slotCount: Int { tablePages.isEmpty ? 0 : pageCount + tablePages.count * 2 + 8 }
    }

    /// The share of one commit.
    struct Addition {
      var pageCount: Int
      var tablePages: [UInt32] = []
    }
  }

  init(
    pager: Pager, published: Published, metas: MetaSlots, slots: Slots, believesZeros: Bool
  ) {
    self.believesZeros = believesZeros
    self.pager = pager
    self.published = published
    self.metas = metas
    self.slots = Locked(slots)
  }

  // MARK: Reserving

  /// The number of free slots kept for commits that make room, so that messages can be deleted
  /// while the device is full.
  static let spareSlotCount = 64

  /// Reserves slots for the pages that a commit adds to the next checkpoint: pages committed for
  /// the first time since the turn, and the table pages above those and above freed pages.
  ///
  /// - Parameters:
  ///   - map: The pages committed since the turn.
  ///   - usesReserve: True if the spare slots may be used when the file cannot grow.
  /// - Throws: `diskFull` if the data file cannot grow; then nothing is reserved.
  func reserve(
    _ pages: [PageNumber], freed: [PageNumber], beside map: PageMap, usesReserve: Bool
  ) throws(PageFileError) -> Reservation.Addition {
    // The map gains this many images; each needs a slot.
    let pageCount =
      pages.count { !map.hasImage(of: $0) } - freed.count { map.hasImage(of: $0) }
    var addition = Reservation.Addition(pageCount: pageCount)
    let reserved = reservation.withLock { reservation in
      reservation.current.pageCount += pageCount
      var last: UInt32?
      for numbers in [pages, freed] {
        for number in numbers {
          let tablePage = number.rawValue / UInt32(pager.entryCount)
          // Neighbours mostly share a table page; look it up once.
          if tablePage == last { continue }
          last = tablePage
          if reservation.current.tablePages.insert(tablePage).inserted {
            addition.tablePages.append(tablePage)
          }
        }
      }
      return reservation.slotCount
    }
    do throws(PageFileError) {
      try slots.withLock { (slots) throws(PageFileError) in
        try makeRoom(&slots, for: reserved, usesReserve: usesReserve)
        slots.setReserved(reserved)
      }
    } catch {
      takeBack(addition)
      throw error
    }
    return addition
  }

  private func makeRoom(
    _ slots: inout Slots, for reserved: Int, usesReserve: Bool
  ) throws(PageFileError) {
    if Defect.slotsNotReserved.isPlanted { return }
    let needed = reserved + Self.spareSlotCount
    if slots.freeCount < needed {
      slots.releaseRetired(oldestVersion: pager.registry.oldestTableVersion())
    }
    if slots.freeCount >= needed { return }
    do throws(PageFileError) {
      try grow(&slots, by: needed - slots.freeCount)
    } catch {
      guard error == .diskFull, usesReserve, slots.freeCount >= reserved else { throw error }
    }
  }

  /// True if commits that make room have used half of the spare slots, so that a checkpoint should
  /// free the slots of old page versions.
  var isShort: Bool {
    slots.withLock { $0.freeCount - $0.reservedCount < Self.spareSlotCount / 2 }
  }

  /// Cancels a reservation whose commit was not written.
  func takeBack(_ addition: Reservation.Addition) {
    let reserved = reservation.withLock { reservation in
      reservation.current.pageCount -= addition.pageCount
      reservation.current.tablePages.subtract(addition.tablePages)
      return reservation.slotCount
    }
    slots.withLock { $0.setReserved(reserved) }
  }

  /// Extends the data file in steps that grow with its size, so that it is rarely done.
  ///
  /// After the file was shrunk the steps are small again, or the next commit would undo the
  /// shrinking.
  private func grow(_ slots: inout Slots, by count: Int) throws(PageFileError) {
    let step = max(count, min(max(slots.slotCount / 8, 32), slots.growthStep))
    let target = slots.slotCount + step
    guard target < Int(UInt32.max) else {
      throw .limitExceeded(what: "slots in a data file", value: target, limit: Int(UInt32.max))
    }
    try pager.dataFile.extend(to: Pager.slotsOffset + target * pager.pageByteCount)
    slots.grow(to: target)
  }

  /// Notes that commits now go to the other WAL file: the slots reserved so far belong to the one
  /// that ended.
  func turn() {
    reservation.withLock {
      $0.ended = $0.current
      $0.current = Reservation.Part()
    }
  }

  // MARK: Writing pages

  /// The most table pages that a small checkpoint writes.
  private static let tablePageAllowance = 4

  /// Writes the pages of a map to free slots, and a table that refers to them.
  func write(
    _ map: PageMap, onto table: PageTableRoot, pageNumberEnd: UInt32, lsn: LSN
  ) throws(PageFileError) -> Written {
    var images: [(image: PageImage, place: TableEntry)] = []
    let written = try writing(
      onto: table, pageNumberEnd: pageNumberEnd, lsn: lsn, takesReserved: true,
      slotCount: map.imageCount + Self.tablePageAllowance
    ) { (writer, changes, allocate) throws(PageFileError) in
      try map.forEach { (number, image) throws(PageFileError) in
        guard let image else {
          return changes.append(.init(index: Int(number.rawValue), entry: .none))
        }
        let slot = try allocate()
        let checksum = try writer.write(image.bytes, to: slot)
        let entry = TableEntry(slot: slot, check: UInt32(truncatingIfNeeded: checksum))
        changes.append(.init(index: Int(number.rawValue), entry: entry))
        images.append((image, entry))
      }
    }
    for (image, place) in images { written.keep(image, at: place) }
    return written
  }

  /// Writes pages with `body`, which records the table entries it changes, and then the table pages
  /// above them.
  ///
  /// Nothing refers to the written pages until they are published. On failure their slots are
  /// freed.
  /// - Parameters:
  ///   - takesReserved: True if the slots were reserved for this.
  ///   - slotCount: The number of adjacent slots to look for; 0 to use the lowest free slots.
  func writing(
    onto table: PageTableRoot, pageNumberEnd: UInt32, lsn: LSN, takesReserved: Bool = false,
    slotCount: Int = 0,
    _ body: (
      inout SlotWriter, inout [TableUpdate.Change], () throws(PageFileError) -> SlotNumber
    ) throws(PageFileError) -> Void
  ) throws(PageFileError) -> Written {
    var allocated: [SlotNumber] = []
    let written = Written(table: table)
    slots.withLock { $0.seekRun(of: slotCount) }
    do throws(PageFileError) {
      var writer = SlotWriter(pager)
      var changes: [TableUpdate.Change] = []
      let allocate: () throws(PageFileError) -> SlotNumber = { () throws(PageFileError) in
        let slot = try self.allocateSlot(takesReserved)
        allocated.append(slot)
        return slot
      }
      try body(&writer, &changes, allocate)
      var update = TableUpdate(pager, allocate: allocate)
      written.table = try update.apply(
        changes, to: table, pageNumberEnd: pageNumberEnd, lsn: lsn, writer: &writer)
      written.replaced = update.replaced
      for image in update.images where !image.place.isNone { written.keep(image, at: image.place) }
      try writer.flush()
    } catch {
      slots.withLock { $0.release(allocated) }
      reservation.withLock { $0.takenCount = 0 }
      throw error
    }
    written.allocated = allocated
    return written
  }

  private func allocateSlot(_ takesReserved: Bool) throws(PageFileError) -> SlotNumber {
    let reserved = reservation.withLock { reservation in
      if takesReserved { reservation.takenCount += 1 }
      return reservation.slotCount
    }
    let slot = try slots.withLock { (slots) throws(PageFileError) in
      slots.setReserved(reserved)
      if slots.freeCount == 0 { try grow(&slots, by: 1) }
      return slots.allocate()
    }
    guard let slot else { throw .diskFull }
    return slot
  }

  /// The result of a checkpoint's writes, not yet published.
  final class Written {
    var table: PageTableRoot
    var replaced: [SlotNumber] = []
    fileprivate(set) var allocated: [SlotNumber] = []
    private var images: [(image: PageImage, place: TableEntry)] = []

    init(table: PageTableRoot) { self.table = table }

    deinit {
      for entry in images { entry.image.release() }
    }

    func keep(_ image: PageImage, at place: TableEntry) {
      image.retain()
      images.append((image, place))
    }

    /// Moves the images to the cache, so that the pages just written need not be read.
    func moveImages(to cache: PageCache) {
      for entry in images {
        entry.image.place = entry.place
        if !cache.insert(entry.image) { entry.image.release() }
      }
      images = []
    }
  }

  // MARK: Publishing

  /// Syncs the pages, publishes their table in both meta slots, and retires the slots that it
  /// replaces.
  /// - Parameter show: Makes the new table the current one for readers.
  func publish(
    _ written: Written, _ meta: MetaSlot, show: (PageTableRoot) -> Void
  ) throws(PageFileError) {
    defer { reservation.withLock { $0.takenCount = 0 } }
    // Durable after this: every page and table page that the new table refers to. A barrier would
    // keep the order. But if the sync of the meta slot failed, an opening might find the slot in
    // the system's memory and make it durable without its pages.
    do throws(PageFileError) {
      if !Defect.pagesUnsynced.isPlanted { try pager.dataFile.sync() }
      var meta = meta
      meta.table = written.table
      try metas.publish(meta)
    } catch {
      orphans += written.allocated
      throw error
    }
    written.moveImages(to: pager.cache)
    let version = published.current.tableVersion
    show(written.table)
    slots.withLock { slots in
      slots.retire(written.replaced, version: Defect.slotsFreedAtOnce.isPlanted ? 0 : version)
      slots.release(orphans)
      slots.releaseRetired(oldestVersion: pager.registry.oldestTableVersion())
    }
    orphans = []
  }

  /// Drops the reservation for the commits before the turn: they are in the data file now.
  func endTurn() {
    let reserved = reservation.withLock { reservation in
      reservation.ended = Reservation.Part()
      return reservation.slotCount
    }
    slots.withLock { $0.setReserved(reserved) }
  }

  /// The newest published meta content, for a caller to change and publish again.
  var meta: MetaSlot { metas.newest }

  /// Publishes a change that affects no page.
  @inline(never)
  func publish(_ meta: MetaSlot) throws(PageFileError) { try metas.publish(meta) }

  func rewriteNewestMeta() throws(PageFileError) { try metas.rewriteNewest() }

  /// The number of free slots that closing leaves in addition to the spare ones.
  ///
  /// Closing gives slots back only if there are as many again. So a store that is repeatedly opened
  /// for one commit neither grows nor shrinks.
  private static let roomAfterClosing = 32

  /// Frees slots whose last snapshot has ended, and gives free slots at the end of the file back to
  /// the file system, except for reserved ones.
  /// - Parameter keepsRoom: True to leave some slots for the first commits after the next opening.
  func trim(keepsRoom: Bool) throws(PageFileError) {
    try slots.withLock { (slots) throws(PageFileError) in
      slots.releaseRetired(oldestVersion: pager.registry.oldestTableVersion())
      let usedEnd = slots.usedEnd
      let freeBelow = slots.freeCount - (slots.slotCount - usedEnd)
      let target =
        usedEnd
        + max(
          0,
          slots.reservedCount + Self.spareSlotCount + (keepsRoom ? Self.roomAfterClosing : 0)
            - freeBelow)
      guard target + (keepsRoom ? Self.roomAfterClosing : 0) < slots.slotCount else { return }
      try pager.dataFile.truncate(to: Pager.slotsOffset + target * pager.pageByteCount)
      slots.shrink(to: target)
    }
  }
}
