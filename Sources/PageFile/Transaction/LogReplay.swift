/// Applies the log's commits to the pages of the newest table, in memory.
///
/// See docs/page-file-format.md, W-14 … W-17 and R-10.
///
/// A replay begins with empty maps, or continues from those of a snapshot. The snapshot stays as it
/// is, whether the replay succeeds or fails.
struct LogReplay: ~Copyable {
  private let pager: Pager
  private let base: Snapshot
  private let bracket: Bracket
  private var maps: (PageMap, PageMap)
  /// The first commit that is applied; 0 for maps that begin empty.
  ///
  /// Images made by this commit and later ones are not yet visible to anybody else.
  private let edition: UInt64
  /// Entries of the snapshot's maps that the replay has replaced; nil for maps that begin empty.
  private var remains: MapRemains?
  private var ownsMaps = true

  /// Begins with the pages of the newest table.
  init(pager: Pager, _ meta: MetaSlot) {
    self.init(
      pager,
      Snapshot(
        lsn: .zero, roots: Roots(), table: meta.table, tableVersion: 0,
        maps: (PageMap(), PageMap()), newest: 0, registry: SnapshotRegistry()), meta)
  }

  /// Begins with the view of a snapshot, which is the newest one.
  init(pager: Pager, _ meta: MetaSlot, after snapshot: Snapshot) {
    self.init(pager, snapshot, meta, edition: snapshot.lsn.next.rawValue, MapRemains())
  }

  private init(
    _ pager: Pager, _ base: Snapshot, _ meta: MetaSlot, edition: UInt64 = 0,
    _ remains: MapRemains? = nil
  ) {
    self.pager = pager
    self.base = base
    self.edition = edition
    self.remains = remains
    maps = base.maps
    bracket = Bracket(pager.cache, base.registration)
  }

  deinit {
    guard ownsMaps else { return }
    var made = MapRemains()
    maps.0.collect(since: edition, to: &made)
    maps.1.collect(since: edition, to: &made)
    made.free()
    // Everything the snapshot has still belongs to it.
    remains?.free(since: edition)
  }

  /// Applies one commit's frames; `file` is the index of its WAL file.
  mutating func apply(
    _ commit: WALScan.Commit, file: Int, to roots: inout Roots
  ) throws(PageFileError) {
    var reader = ByteReader(commit.frames)
    var hasWords = false
    for _ in 0..<commit.header.frameCount {
      guard let frame = PagePatch.nextFrame(&reader) else {
        throw .corruptWAL(lsn: commit.header.lsn, reason: "malformed frame")
      }
      guard frame.kind == .words else {
        try apply(frame, commit.header.lsn, file)
        continue
      }
      guard !hasWords, WordsFrame.apply(frame, to: &roots.words) else {
        throw .corruptWAL(lsn: commit.header.lsn, reason: "malformed frame of words")
      }
      hasWords = true
    }
    guard reader.isAtEnd else {
      throw .corruptWAL(lsn: commit.header.lsn, reason: "bytes follow the last frame")
    }
  }

  private mutating func apply(
    _ frame: PagePatch.Frame, _ lsn: LSN, _ file: Int
  ) throws(PageFileError) {
    let own = entry(of: frame.number, in: file)
    guard frame.kind != .freed else {
      if Defect.freedPagesKept.isPlanted { return }
      try refuseUnused(frame.number, own, file)
      return set(frame.number, to: nil, file)
    }
    if frame.kind == .patch, case .freed = own {
      throw .corruptPage(frame.number, reason: "patched after it was freed")
    }
    let image: PageImage
    var isNew = true
    if frame.kind == .patch, case .image(let existing) = own, existing.lsn.rawValue >= edition {
      // This image is not visible to anybody else yet, so it is patched in place.
      image = existing
      isNew = false
    } else {
      try refuseTooMany(lsn)
      image = PageImage(pageByteCount: pager.contentByteCount, account: pager.account)
    }
    do throws(PageFileError) {
      if isNew { try fill(image, frame, own, file) }
      guard PagePatch.apply(frame, to: image.mutableBytes) else {
        throw .corruptWAL(lsn: lsn, reason: "page \(frame.number): patch out of bounds")
      }
      if frame.kind == .fresh {
        // Validated at once: a few bytes of a damaged log must not cost a page of memory each.
        try refuseBroken(frame.number, image)
      } else {
        image.edited.addAll(pageByteCount: pager.contentByteCount)
      }
    } catch {
      if isNew { image.release() }
      throw error
    }
    image.mutableBytes.store(lsn.rawValue, at: PageHeader.lsnOffset)
    if isNew { set(frame.number, to: image, file) }
  }

  /// Throws `corruptWAL` if the log changes more pages than a writer allows in any log.
  ///
  /// The limit covers the worst case: a log of two files, the earlier of which is already in the
  /// data file, when the newer meta slot cannot be read. Each file may hold everything that a
  /// writer finds in the log when it begins, plus one transaction.
  private func refuseTooMany(_ lsn: LSN) throws(PageFileError) {
    let maximumByteCount =
      2 * (DatabaseOptions.maximumLoggedByteCount + DatabaseOptions.maximumDirtyByteCount)
    guard (maps.0.imageCount + maps.1.imageCount) * pager.pageByteCount < maximumByteCount else {
      throw .corruptWAL(lsn: lsn, reason: "the log changes more pages than any log holds")
    }
  }

  /// Throws `corruptPage` if a frame frees a page that is not in use.
  ///
  /// This bounds the memory that freed pages take by the room they took in the file.
  private func refuseUnused(
    _ number: PageNumber, _ own: PageMap.Entry, _ file: Int
  ) throws(PageFileError) {
    var entry = own
    if case .absent = own { entry = self.entry(of: number, in: 1 - file) }
    switch entry {
    case .image: return
    case .freed: break
    case .absent:
      let place = try bracket.within { () throws(PageFileError) in
        try pager.tableEntry(of: number, in: base.table, bracket)
      }
      if !place.isNone { return }
    }
    throw .corruptPage(number, reason: "freed while not in use")
  }

  /// Fills an image with the version of the page before the patch.
  private func fill(
    _ image: PageImage, _ frame: PagePatch.Frame, _ own: PageMap.Entry, _ file: Int
  ) throws(PageFileError) {
    let page = image.mutableBytes
    if frame.kind == .fresh { return page.zero(0, page.count) }
    var older = own
    if case .absent = own { older = entry(of: frame.number, in: 1 - file) }
    switch older {
    case .image(let older):
      page.copy(older.bytes, to: 0)
    case .freed:
      throw .corruptPage(frame.number, reason: "patched after it was freed")
    case .absent:
      try bracket.within { () throws(PageFileError) in
        page.copy(try pager.page(frame.number, in: base, bracket), to: 0)
      }
    }
  }

  /// Returns the entry of a page in the map of one WAL file.
  ///
  /// Never inlined: in a throwing function, Swift 6.3 for x86-64 keeps a constant of the lookup in
  /// the register that signals a thrown error, and returns with it there.
  @inline(never)
  private func entry(of number: PageNumber, in file: Int) -> PageMap.Entry {
    file == 0 ? maps.0[number] : maps.1[number]
  }

  private mutating func set(_ number: PageNumber, to image: PageImage?, _ file: Int) {
    if file == 0 {
      maps.0.set(number, to: image, edition: edition, &remains)
    } else {
      maps.1.set(number, to: image, edition: edition, &remains)
    }
  }

  /// Validates every patched page by the same gate that pages from slots pass.
  func validate() throws(PageFileError) {
    for map in [maps.0, maps.1] {
      try map.forEach(since: edition) { (number, image) throws(PageFileError) in
        // Pages of other commits may lie beside those made now.
        guard let image, image.lsn.rawValue >= edition, image.edited.count > 0 else { return }
        try refuseBroken(number, image)
        image.edited.removeAll()
      }
    }
  }

  private func refuseBroken(
    _ number: PageNumber, _ image: PageImage
  ) throws(PageFileError) {
    let page = image.bytes
    guard page.uint32(at: PageHeader.numberOffset) == number.rawValue,
      let kind = PageKind(rawValue: page[PageHeader.kindOffset]), kind != .table
    else {
      throw .corruptPage(number, reason: "wrong page number or kind after replaying the log")
    }
    if let broken = pager.contentRuleBroken(page, kind) {
      throw .corruptPage(number, reason: broken)
    }
  }

  /// Hands over the maps, along with the snapshot's entries that they have replaced.
  mutating func takeMaps() -> (maps: (PageMap, PageMap), remains: MapRemains) {
    ownsMaps = false
    return (maps, remains ?? MapRemains())
  }
}
