/// The pager, which finds the bytes of a page: in the page maps, the page table, the cache, and the
/// slot, in this order.
///
/// It is the part of an open store that reads need. All snapshots share it, and only the cache in
/// it changes.
package final class Pager: Sendable {
  /// The size of a slot.
  let pageByteCount: Int
  /// The size of a page in memory; see `PageSize`.
  let contentByteCount: Int
  let storeID: StoreID
  /// The keys of an encrypted store.
  let keys: StoreKeys?
  let dataFile: any StorageFile
  let cache: PageCache
  let account = ImageAccount()
  let registry = SnapshotRegistry()
  /// An expired snapshot, which replaces the one that a writer has released.
  let over = Snapshot.makeOver()
  let fork = ForkWitness()
  private let validated = ValidatedPages()
  /// The number of entries of a table page.
  let entryCount: Int

  /// The meta slots from which the newest snapshot was made, for a store that is read beside its
  /// owner.
  ///
  /// If a page fails its check and the slots have changed since, its table is gone.
  let metaWitness = Locked<[[UInt8]]?>(nil)

  /// The offset of the first slot, after the two meta slots.
  package static let slotsOffset = 2 * MetaSlot.regionByteCount

  init(
    dataFile: any StorageFile, storeID: StoreID, pageByteCount: Int, keys: StoreKeys?,
    cacheByteCount: Int
  ) {
    self.dataFile = dataFile
    self.storeID = storeID
    self.pageByteCount = pageByteCount
    self.keys = keys
    contentByteCount = pageByteCount - (keys == nil ? 0 : PageSize.sealByteCount)
    cache = PageCache(maximumPageCount: cacheByteCount / pageByteCount)
    entryCount = TablePage.entryCount(pageByteCount: contentByteCount)
  }

  func offset(of slot: SlotNumber) -> Int {
    Self.offset(of: slot, pageByteCount: pageByteCount)
  }

  package static func offset(of slot: SlotNumber, pageByteCount: Int) -> Int {
    slotsOffset + (Int(slot.rawValue) - 1) * pageByteCount
  }

  /// Returns a page as a snapshot sees it.
  ///
  /// Valid while the snapshot is held and until the bracket's `leave`.
  @inline(__always)
  func page(
    _ number: PageNumber, in snapshot: Snapshot, _ bracket: Bracket
  ) throws(PageFileError) -> Bytes {
    switch snapshot.entry(of: number) {
    case .image(let image):
      return image.bytes
    case .freed:
      throw .corruptPage(number, reason: "in use although it was freed")
    case .absent:
      return try pageInDataFile(number, snapshot, bracket)
    }
  }

  @inline(never)
  private func pageInDataFile(
    _ number: PageNumber, _ snapshot: Snapshot, _ bracket: Bracket
  ) throws(PageFileError) -> Bytes {
    let entry = try tableEntry(of: number, in: snapshot.table, bracket)
    if entry.isNone {
      // An expired table may hold anything.
      if snapshot.isExpired { throw .snapshotExpired }
      throw .corruptPage(number, reason: "not in the page table")
    }
    return try self.image(of: entry, number: number.rawValue, level: nil, bracket).bytes
  }

  /// Returns the entry of a page in a page table, or `.none` if the table does not have the page.
  @inline(__always)
  func tableEntry(
    of number: PageNumber, in table: PageTableRoot, _ bracket: Bracket
  ) throws(PageFileError) -> TableEntry {
    try tableEntry(at: Int(number.rawValue), level: 0, in: table, bracket)
  }

  /// Returns entry `index` of a level, counted over all table pages of that level.
  ///
  /// On level 0 the index is a page number. On higher levels it is the place of a table page in the
  /// level below. See docs/page-file-format.md, T-5.
  func tableEntry(
    at index: Int, level: Int, in table: PageTableRoot, _ bracket: Bracket
  ) throws(PageFileError) -> TableEntry {
    guard table.height > level else { return .none }
    // Upwards from the entry: a table of two levels, the usual case, takes one division.
    guard level < table.height - 1 else {
      guard index < entryCount else { return .none }
      return try tableEntry(index, in: table.entry, place: 0, level: level, bracket)
    }
    let place = Int(UInt32(truncatingIfNeeded: index) / UInt32(truncatingIfNeeded: entryCount))
    let above = try tableEntry(at: place, level: level + 1, in: table, bracket)
    return try tableEntry(
      index - place * entryCount, in: above, place: place, level: level, bracket)
  }

  /// Returns an entry of the table page that another entry names.
  @inline(__always)
  private func tableEntry(
    _ index: Int, in page: TableEntry, place: Int, level: Int, _ bracket: Bracket
  ) throws(PageFileError) -> TableEntry {
    if page.isNone { return .none }
    let image = try self.image(
      of: page, number: UInt32(truncatingIfNeeded: place), level: level, bracket)
    return TableEntry(rawValue: image.bytes.uint64(at: TablePage.entryOffset(index)))
  }

  /// Returns the image of a slot from the cache, or reads it, proves it and caches it.
  ///
  /// `level` is the level of a table page, nil for any other page. The image is valid until the
  /// bracket's `leave`.
  @inline(__always)
  func image(
    of entry: TableEntry, number: UInt32, level: Int?, _ bracket: Bracket
  ) throws(PageFileError) -> PageImage {
    if let image = cache.find(entry), Self.isPage(image, number, isTable: level != nil) {
      return image
    }
    return try load(entry, number: number, level: level, bracket)
  }

  /// Returns true if an image found by its slot belongs to a page: a damaged table may name one
  /// slot for two pages.
  @inline(__always)
  private static func isPage(_ image: PageImage, _ number: UInt32, isTable: Bool) -> Bool {
    let bytes = image.bytes
    return bytes.uint32(at: PageHeader.numberOffset) == number
      && (bytes[PageHeader.kindOffset] == PageKind.table.rawValue) == isTable
  }

  @inline(never)
  private func load(
    _ entry: TableEntry, number: UInt32, level: Int?, _ bracket: Bracket
  ) throws(PageFileError) -> PageImage {
    if let image = bracket.find(entry), Self.isPage(image, number, isTable: level != nil) {
      return image
    }
    let registration = bracket.registration
    // Closing first expires all snapshots, then waits for the readers inside, so after this check
    // the file is open. An operation checks when it enters, but a walk enters once for each page.
    if registration?.isExpired ?? false, !Defect.expiryIgnored.isPlanted { throw .snapshotExpired }
    let image = PageImage(pageByteCount: contentByteCount, account: account)
    do throws(PageFileError) {
      let unread = try read(entry.slot, into: image)
      // Check only after the read: an expired snapshot's slot may have been written in the
      // meantime.
      let isExpired = registration?.isExpired ?? false
      if isExpired && !Defect.expiryIgnored.isPlanted { throw .snapshotExpired }
      let broken = unread ?? ruleBroken(image.bytes, entry: entry, number: number, level: level)
      // Checked in this order; see `follow`.
      if broken != nil, hasOwnerMoved || registration?.isExpired ?? false {
        // All other pages of this table may be gone, too.
        registration?.expire()
        throw .snapshotExpired
      }
      if let broken { throw .corruptPage(PageNumber(level == nil ? number : 0), reason: broken) }
    } catch {
      image.release()
      throw error
    }
    image.place = entry
    if !cache.insert(image) { bracket.keep(image) }
    return image
  }

  /// Reads a slot into an image, and opens it if the store is encrypted.
  ///
  /// Returns the reason why nothing was read.
  private func read(_ slot: SlotNumber, into image: PageImage) throws(PageFileError) -> String? {
    let offset = offset(of: slot)
    guard let keys else {
      let isComplete = try dataFile.readFully(into: image.mutableBytes, at: offset)
      return isComplete ? nil : "slot \(slot): beyond the end of the file"
    }
    var page = ByteBuffer(capacity: pageByteCount)
    guard try dataFile.readFully(into: page.extend(by: pageByteCount), at: offset) else {
      return "slot \(slot): beyond the end of the file"
    }
    let isOpen = keys.open(page.bytes, of: slot, into: image.mutableBytes)
    return isOpen ? nil : "slot \(slot): seal does not open"
  }

  /// Uses these meta slots from now on.
  ///
  /// Older tables whose pages the owner has overwritten could not be told from damage any more, so
  /// their snapshots expire first.
  func follow(_ metaSlots: [[UInt8]]) {
    let hasMoved = metaWitness.withLock { $0 != nil && $0 != metaSlots }
    if hasMoved { registry.expireAll() }
    metaWitness.withLock { $0 = metaSlots }
  }

  private var hasOwnerMoved: Bool {
    guard let witness = metaWitness.withLock({ $0 }) else { return false }
    for (index, known) in witness.enumerated() {
      var now = ByteBuffer(capacity: MetaSlot.byteCount)
      now.append(zeros: known.count)
      guard
        let count = try? dataFile.read(into: now.mutableBytes, at: MetaSlot.offset(of: index)),
        now.bytes.slice(0, count).array() == known
      else { return true }
    }
    return false
  }

  /// Returns the rule that the bytes read for a page break, or nil if they are valid: the gate.
  ///
  /// See docs/page-file-format.md, P-1 … P-6, and for table pages T-7.
  func ruleBroken(_ page: Bytes, entry: TableEntry, number: UInt32, level: Int?) -> String? {
    let stored = page.uint64(at: PageHeader.checksumOffset)
    guard page.uint32(at: PageHeader.numberOffset) == number else {
      return "slot \(entry.slot): holds page \(page.uint32(at: PageHeader.numberOffset))"
    }
    guard let kind = PageKind(rawValue: page[PageHeader.kindOffset]) else {
      return "slot \(entry.slot): unknown page kind \(page[PageHeader.kindOffset])"
    }
    // The seal has proven a sealed page, which has a stamp in the checksum's place.
    guard keys != nil || checksum(of: page) == stored || Defect.checksumIgnored.isPlanted else {
      return "slot \(entry.slot): checksum mismatch"
    }
    let isVersion = UInt32(truncatingIfNeeded: stored) == entry.check
    guard isVersion || Defect.versionUnproven.isPlanted else {
      return "slot \(entry.slot): not the version that the page table names"
    }
    if let level {
      guard kind == .table, Int(page[PageHeader.levelOffset]) == level else {
        return "slot \(entry.slot): not a table page of level \(level)"
      }
    } else if kind == .table {
      return "slot \(entry.slot): unexpected table page"
    }
    if validated.contains(entry) { return nil }
    let broken = contentRuleBroken(page, kind)
    if broken == nil { validated.insert(entry) }
    return broken
  }

  /// Returns the rule of its kind that a page breaks, or nil if it is valid.
  func contentRuleBroken(_ page: Bytes, _ kind: PageKind) -> String? {
    Self.contentRuleBroken(page, kind)
  }

  package static func contentRuleBroken(_ page: Bytes, _ kind: PageKind) -> String? {
    switch kind {
    case .leaf, .branch: TreePage.ruleBroken(page)
    case .overflow: OverflowPage.ruleBroken(page)
    case .table: TablePage.ruleBroken(page)
    }
  }

  /// Returns the checksum that a page's bytes must carry.
  func checksum(of page: Bytes) -> UInt64 { Self.checksum(of: page, in: storeID) }

  @inline(never)
  package static func checksum(of page: Bytes, in storeID: StoreID) -> UInt64 {
    Checksum.of(
      page.dropFirst(PageHeader.lsnOffset),
      seed: Checksum.seed(
        storeID.high, storeID.low, UInt64(page.uint32(at: PageHeader.numberOffset)),
        UInt64(page[PageHeader.kindOffset])))
  }
}
