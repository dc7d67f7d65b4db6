/// Applies the log's commits to the pages of the newest table, in memory.
///
/// See docs/page-file-format.md, W-14 … W-17 and R-10.
struct LogReplay: ~Copyable {
  private let pager: Pager
  private let base: Snapshot
  private let bracket: Bracket
  private var maps: (PageMap, PageMap) = (PageMap(), PageMap())
  private var ownsMaps = true
  /// A log is shorter than this by far, but a damaged one may ask for a page with every few bytes.
  private static let imageByteCountMax = 512 << 20

  init(pager: Pager, table: PageTableRoot) {
    self.pager = pager
    base = Snapshot(
      lsn: .zero, roots: Roots(), table: table, tableVersion: 0, maps: (PageMap(), PageMap()),
      newest: 0, registry: SnapshotRegistry())
    bracket = Bracket(pager.cache, base.registration)
  }

  deinit {
    if ownsMaps {
      maps.0.free()
      maps.1.free()
    }
  }

  /// Applies one commit's frames; `file` is the WAL file it is in.
  mutating func apply(_ commit: WALScan.Commit, file: Int) throws(PageFileError) {
    var reader = ByteReader(commit.frames)
    for _ in 0..<commit.header.frameCount {
      guard let frame = PagePatch.nextFrame(&reader) else {
        throw .corruptWAL(lsn: commit.header.lsn, reason: "a frame cannot be read")
      }
      try apply(frame, commit.header.lsn, file)
    }
    guard reader.isAtEnd else {
      throw .corruptWAL(lsn: commit.header.lsn, reason: "bytes follow the last frame")
    }
  }

  private mutating func apply(
    _ frame: PagePatch.Frame, _ lsn: LSN, _ file: Int
  ) throws(PageFileError) {
    guard frame.kind != .freed else {
      if Defect.freedPagesKept.isPlanted { return }
      return set(frame.number, to: nil, file)
    }
    let image: PageImage
    let isNew: Bool
    let own = entry(of: frame.number, in: file)
    if frame.kind == .patch, case .freed = own {
      throw .corruptPage(frame.number, reason: "patched after it was freed")
    }
    if frame.kind == .patch, case .image(let existing) = own {
      // Nobody else can see this image yet, so it is patched where it is.
      image = existing
      isNew = false
    } else {
      guard (maps.0.count + maps.1.count) * pager.pageByteCount < Self.imageByteCountMax else {
        throw .corruptWAL(lsn: lsn, reason: "the log changes more pages than any log holds")
      }
      image = PageImage(pageByteCount: pager.pageByteCount, account: pager.account)
      isNew = true
      do throws(PageFileError) {
        try fill(image, frame, file)
      } catch {
        image.release()
        throw error
      }
    }
    guard PagePatch.apply(frame, to: image.mutableBytes) else {
      if isNew { image.release() }
      throw .corruptWAL(lsn: lsn, reason: "a patch of page \(frame.number) leaves the page")
    }
    image.mutableBytes.store(lsn.rawValue, at: PageHeader.lsnOffset)
    if isNew { set(frame.number, to: image, file) }
  }

  /// Makes an image the version before the patch.
  private func fill(
    _ image: PageImage, _ frame: PagePatch.Frame, _ file: Int
  ) throws(PageFileError) {
    let page = image.mutableBytes
    if frame.kind == .fresh { return page.zero(0, page.count) }
    switch entry(of: frame.number, in: 1 - file) {
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

  /// What the map of one WAL file says of a page.
  ///
  /// Never inlined: in a function that throws, Swift 6.3 for x86-64 keeps a constant of the lookup in
  /// the register that says whether something was thrown, and returns with it there.
  @inline(never)
  private func entry(of number: PageNumber, in file: Int) -> PageMap.Entry {
    file == 0 ? maps.0[number] : maps.1[number]
  }

  private mutating func set(_ number: PageNumber, to image: PageImage?, _ file: Int) {
    if file == 0 {
      maps.0.set(number, to: image)
    } else {
      maps.1.set(number, to: image)
    }
  }

  /// Passes every page the log has made through the gate that pages from slots pass.
  func validate() throws(PageFileError) {
    for map in [maps.0, maps.1] {
      try map.forEach { (number, image) throws(PageFileError) in
        guard let page = image?.bytes else { return }
        guard page.uint32(at: PageHeader.numberOffset) == number.rawValue,
          let kind = PageKind(rawValue: page[PageHeader.kindOffset]), kind != .table
        else {
          throw .corruptPage(number, reason: "the log makes a page of another number or kind")
        }
        if let broken = pager.contentRuleBroken(page, kind) {
          throw .corruptPage(number, reason: broken)
        }
      }
    }
  }

  /// Hands the maps to the caller.
  mutating func takeMaps() -> (PageMap, PageMap) {
    ownsMaps = false
    return maps
  }
}
