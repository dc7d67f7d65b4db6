/// The few verbs a tree needs from below, for one transaction.
///
/// A final class and not a protocol: the trees call it at every page, and a class can be called
/// without a witness table from another module. Not for use by several threads at once.
///
///  1. What `page` returns is valid until the outermost `leave`; a debug build traps on a call outside
///     of a bracket and on an access after its end.
///  2. In a write transaction a page that was edited is seen as edited.
@usableFromInline
package final class PageSource {
  package let pageSize: Int
  let pager: Pager
  private(set) var snapshot: Snapshot
  private let bracket: Bracket

  // The writer's part.
  let dirty: DirtyPages?
  private(set) var roots: Roots
  private(set) var freed: [PageNumber] = []
  private(set) var fresh: Set<UInt32> = []
  /// See `WriteTransaction.useReserve`.
  package var usesReserve = false
  /// See `WriteTransaction.eraseSecurely`.
  package var isErasing = false
  private let numbers: PageNumbers?
  /// Images of pages that were changed and then freed: somebody may still read them until `leave`.
  private var doomed: [PageImage] = []
  private var doomedCount = 0
  private let dirtyPageCountMax: Int
  /// For whoever reads all values of a snapshot, see `refuseSharedChains`.
  private var chainOwners: ChainOwners?
  /// Whether a read failed, or a change was left half done: then nothing is committed.
  private(set) var hasFailed = false

  /// For reading a snapshot.
  init(pager: Pager, snapshot: Snapshot) {
    self.pager = pager
    self.snapshot = snapshot
    pageSize = pager.pageByteCount
    dirty = nil
    roots = snapshot.roots
    bracket = Bracket(pager.cache, snapshot.registration)
    numbers = nil
    dirtyPageCountMax = 0
  }

  /// For writing on top of a snapshot.
  init(pager: Pager, snapshot: Snapshot, numbers: PageNumbers, dirtyByteCountMax: Int) {
    self.pager = pager
    self.snapshot = snapshot
    self.numbers = numbers
    pageSize = pager.pageByteCount
    dirty = DirtyPages()
    roots = snapshot.roots
    bracket = Bracket(pager.cache, snapshot.registration)
    dirtyPageCountMax = dirtyByteCountMax / pager.pageByteCount
  }

  deinit {
    for image in doomed { image.release() }
    dirty?.free()
  }

  /// Lets go of the moment that a write transaction was built on, while the next writer still waits.
  ///
  /// So a checkpoint behind the transaction gets the slots of that moment back, however late the thread
  /// lets go of the rest. A read afterwards throws `snapshotExpired`.
  func endWriting() { snapshot = pager.over }

  /// Begins an operation: until the `leave` that belongs to it no page that was handed out is
  /// freed.
  ///
  /// May be nested.
  package func enter() throws(PageFileError) {
    if pager.fork.hasForked { throw .forked }
    bracket.enter()
    // Asked after announcing the reader: closing expires all first and then waits for readers.
    if snapshot.isExpired && !Defect.expiryIgnored.isPlanted {
      leave()
      throw .snapshotExpired
    }
  }

  /// Ends an operation.
  package func leave() {
    bracket.leave()
    if doomedCount > 0, bracket.depth == 0 { releaseDoomed() }
  }

  private func releaseDoomed() {
    for image in doomed { image.release() }
    doomed.removeAll()
    doomedCount = 0
  }

  /// From now on no overflow page is read for two values: a store in which cells name each other's pages
  /// is damaged, and reading all of it may have no end worth waiting for.
  ///
  /// Takes memory for each overflow page that is read. Only for reading.
  package func refuseSharedChains() {
    precondition(dirty == nil, "a writer moves values from cell to cell")
    if chainOwners == nil { chainOwners = ChainOwners() }
  }

  /// - Parameter owner: A number for the cell whose value the page is part of.
  func claim(_ number: PageNumber, for owner: UInt64) throws(PageFileError) {
    guard chainOwners?.claim(number, for: owner) ?? true else {
      throw .corruptPage(number, reason: "the page belongs to two values")
    }
  }

  /// Ends the operation and begins another, so that a walk over many pages does not keep them all:
  /// nothing that was read before may be looked at afterwards.
  ///
  /// Does nothing inside another operation, whose caller relies on what it has read.
  /// - Parameter isWriting: Whether to do it in a write transaction, too, where mostly somebody relies on
  ///   the pages that are being changed.
  /// - Throws: `snapshotExpired`; the operation goes on, and has to be ended by `leave`.
  package func pause(evenIfWriting isWriting: Bool = false) throws(PageFileError) {
    guard bracket.depth == 1, dirty == nil || isWriting else { return }
    leave()
    bracket.enter()
    if snapshot.isExpired && !Defect.expiryIgnored.isPlanted { throw .snapshotExpired }
  }

  /// Reads pages one after the other of which nothing is used later.
  func reading<R>(_ body: () throws(PageFileError) -> R) throws(PageFileError) -> R {
    let keptCount = bracket.keptCount
    defer { bracket.giveBack(to: keptCount) }
    return try body()
  }

  /// The page's bytes, validated, to be read in place.
  package func page(_ number: PageNumber) throws(PageFileError) -> Bytes {
    assert(bracket.depth > 0, "a page is read outside enter … leave")
    defer { Interleaving.reach("a page was found") }
    guard let dirty else { return leased(try committedPage(number)) }
    if let image = dirty[number] { return leased(image.bytes) }
    return leased(try changing { () throws(PageFileError) in try committedPage(number) })
  }

  @inline(__always)
  private func leased(_ bytes: Bytes) -> Bytes {
    #if DEBUG
      var bytes = bytes
      bytes.lease = bracket.lease
    #endif
    return bytes
  }

  private func committedPage(_ number: PageNumber) throws(PageFileError) -> Bytes {
    let bytes = try pager.page(number, in: snapshot, bracket)
    // Rule 2 of `Snapshot`: what was found counts only if the snapshot had not expired by then.
    if snapshot.isExpired && !Defect.expiryIgnored.isPlanted { throw .snapshotExpired }
    return bytes
  }

  /// A page as it was before the transaction.
  func pageBefore(_ number: PageNumber) throws(PageFileError) -> Bytes {
    try pager.page(number, in: snapshot, bracket)
  }

  /// The entry of a page in the page table.
  func tableEntry(of number: PageNumber) throws(PageFileError) -> TableEntry {
    try pager.tableEntry(of: number, in: snapshot.table, bracket)
  }

  /// Runs a change of several pages; if it fails they may contradict each other, and the
  /// transaction cannot be committed.
  @inline(__always)
  func changing<R>(_ body: () throws(PageFileError) -> R) throws(PageFileError) -> R {
    do throws(PageFileError) {
      return try body()
    } catch {
      hasFailed = true
      throw error
    }
  }

  package func root(of tree: TreeNumber) -> PageNumber { roots[tree] }

  /// The longest value that lies in the leaf of a key of that length, in bytes.
  package func valueByteCountMax(keyByteCount: Int) -> Int {
    Cell.valueByteCountMax(keyByteCount: keyByteCount, pageSize: pageSize)
  }

  /// Whether a value lies in the leaf of its key, and not in an overflow chain.
  package func fitsInline(keyByteCount: Int, valueByteCount: Int) -> Bool {
    Cell.fitsInline(keyByteCount: keyByteCount, valueByteCount: valueByteCount, pageSize: pageSize)
  }

  package func setRoot(of tree: TreeNumber, to page: PageNumber) {
    precondition(dirty != nil, "a read transaction does not write")
    roots[tree] = page
  }

  /// The page's bytes for writing: copied at the first edit in the transaction, the same memory
  /// afterwards.
  /// - Throws: `limitExceeded` when the transaction has grown beyond its limit.
  package func edit(_ number: PageNumber) throws(PageFileError) -> MutableBytes {
    let image = try editImage(number, page(number))
    image.edited.addAll(pageByteCount: pageSize)
    return image.mutableBytes
  }

  /// The same for whoever notes in the image's `edited` what is changed, and has the page's bytes.
  func editImage(_ number: PageNumber, _ bytes: Bytes) throws(PageFileError) -> PageImage {
    guard let dirty else { preconditionFailure("a read transaction does not write") }
    if let image = dirty[number] { return image }
    let image = try makeImage(dirty)
    image.mutableBytes.copy(bytes, to: 0)
    dirty.insert(number, image)
    return image
  }

  private func makeImage(_ dirty: DirtyPages) throws(PageFileError) -> PageImage {
    // Pages that the operation has freed again are still in memory.
    let count = dirty.count + doomedCount
    guard count < dirtyPageCountMax else {
      throw .limitExceeded(
        what: "bytes of pages changed in one transaction", value: (count + 1) * pageSize,
        limit: dirtyPageCountMax * pageSize)
    }
    return PageImage(pageByteCount: pageSize, account: pager.account)
  }

  /// A new page of zeros whose header has its number, kind and level.
  package func allocate(
    _ kind: PageKind, level: Int
  ) throws(PageFileError) -> (PageNumber, MutableBytes) {
    guard let dirty, let numbers else {
      preconditionFailure("a read transaction does not write")
    }
    let image = try makeImage(dirty)
    let number: PageNumber
    if let free = numbers.take() {
      number = free
    } else {
      guard roots.pageNumberEnd < UInt32.max else {
        image.release()
        throw .limitExceeded(
          what: "pages in a store", value: Int(UInt32.max), limit: Int(UInt32.max) - 1)
      }
      number = PageNumber(roots.pageNumberEnd)
      roots.pageNumberEnd += 1
    }
    let bytes = image.mutableBytes
    bytes.zero(0, pageSize)
    bytes.store(number.rawValue, at: PageHeader.numberOffset)
    bytes[PageHeader.kindOffset] = kind.rawValue
    bytes[PageHeader.levelOffset] = UInt8(level)
    dirty.insert(number, image)
    fresh.insert(number.rawValue)
    return (number, bytes)
  }

  /// Gives a page back.
  ///
  /// Its number is used again only after the commit.
  package func free(_ number: PageNumber) throws(PageFileError) {
    guard let dirty else { preconditionFailure("a read transaction does not write") }
    if let image = dirty.remove(number) {
      doomed.append(image)
      doomedCount += 1
    }
    if fresh.remove(number.rawValue) == nil {
      freed.append(number)
    } else {
      numbers?.giveBack(number)
    }
  }

  /// How many bytes the pages take that the transaction has changed so far.
  package var changedByteCount: Int { (dirty?.count ?? 0) * pageSize }

  package var hasChanges: Bool { (dirty?.count ?? 0) > 0 || !freed.isEmpty }
}
