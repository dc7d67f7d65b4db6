/// The few operations on pages that a tree needs, for one transaction.
///
/// This is a final class and not a protocol because the trees call it for every page, and another
/// module can call a class without a witness table. Must not be used by several threads at once.
///
///  1. The bytes that `page` returns are valid until the outermost `leave`. A debug build traps on
///     a call outside of a bracket and on an access after its end.
///  2. A write transaction sees its own edits of a page.
@usableFromInline
package final class PageSource {
  /// The content size of a page; see `PageSize`.
  package let pageSize: Int
  let pager: Pager
  private(set) var snapshot: Snapshot
  private let bracket: Bracket

  // Used by write transactions only.
  let dirty: DirtyPages?
  private(set) var roots: Roots
  private(set) var freed: [PageNumber] = []
  private(set) var fresh: Set<UInt32> = []
  /// See `WriteTransaction.useReserve`.
  package var usesReserve = false
  /// See `WriteTransaction.eraseSecurely`.
  package var isErasing = false
  private let numbers: PageNumbers?
  /// Images of pages that were changed and then freed; they may still be read until `leave`.
  private var doomed: [PageImage] = []
  private var doomedCount = 0
  private let maximumDirtyPageCount: Int
  /// The owners of overflow pages, if shared chains are refused; see `refuseSharedChains`.
  private var chainOwners: ChainOwners?
  /// True if a read failed or a change was left half done; then the transaction cannot commit.
  private(set) var hasFailed = false
  /// The leaf of each tree that the transaction visited last, or 0: see `BTree.recentPlace`.
  private var recentLeaves = SIMD16<UInt32>()
  /// The parents of these leaves as far as they are known, else 0, and the cells that lead to them.
  private var recentParents = SIMD16<UInt32>()
  private var recentIndices = SIMD16<UInt32>()
  /// The cells of the roots that led to these parents, plus 1, while it is unknown whether the
  /// separators of root and parent contradict each other; else 0.
  private var recentTurns = SIMD16<UInt32>()
  /// A bit for each tree whose recent leaf has all its keys between the separators around it.
  private var provenLeaves: UInt64 = 0

  /// Creates a source that reads a snapshot.
  init(pager: Pager, snapshot: Snapshot) {
    self.pager = pager
    self.snapshot = snapshot
    pageSize = pager.contentByteCount
    dirty = nil
    roots = snapshot.roots
    bracket = Bracket(pager.cache, snapshot.registration)
    numbers = nil
    maximumDirtyPageCount = 0
  }

  /// Creates a source that writes on top of a snapshot.
  init(
    pager: Pager, snapshot: Snapshot, numbers: PageNumbers, maximumDirtyByteCount: Int
  ) {
    self.pager = pager
    self.snapshot = snapshot
    self.numbers = numbers
    pageSize = pager.contentByteCount
    dirty = DirtyPages()
    roots = snapshot.roots
    bracket = Bracket(pager.cache, snapshot.registration)
    maximumDirtyPageCount = maximumDirtyByteCount / pager.pageByteCount
  }

  deinit {
    for image in doomed { image.release() }
    dirty?.free()
  }

  /// Releases the snapshot of a write transaction while the next writer still waits.
  ///
  /// So a checkpoint after the transaction can reuse the snapshot's slots, no matter how late the
  /// thread releases the rest. A read after this throws `snapshotExpired`.
  func endWriting() { snapshot = pager.over }

  /// Begins an operation: no page handed out is freed until the matching `leave`.
  ///
  /// May be nested.
  package func enter() throws(PageFileError) {
    if pager.fork.hasForked { throw .forked }
    bracket.enter()
    // Checked after announcing the reader: closing first expires all snapshots, then waits for
    // readers.
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

  /// Refuses from now on to read an overflow page for two values.
  ///
  /// A store whose cells name each other's pages is damaged, and reading all of it may take
  /// practically for ever. Takes memory for each overflow page read. For read transactions only,
  /// because a writer moves values from cell to cell.
  package func refuseSharedChains() {
    precondition(dirty == nil, "write transaction: cannot refuse shared chains")
    if chainOwners == nil { chainOwners = ChainOwners() }
  }

  /// Claims an overflow page for one value.
  /// - Parameter owner: A number that identifies the cell whose value the page is part of.
  func claim(_ number: PageNumber, for owner: UInt64) throws(PageFileError) {
    guard chainOwners?.claim(number, for: owner) ?? true else {
      throw .corruptPage(number, reason: "page shared by two values")
    }
  }

  /// Ends the operation and begins another, so that a walk over many pages does not keep them all.
  ///
  /// Pages read before must not be accessed afterwards. Does nothing inside another operation,
  /// whose caller relies on the pages it has read.
  /// - Parameter isWriting: True to do this in a write transaction too, where callers usually rely
  ///   on the pages that are being changed.
  /// - Throws: `snapshotExpired`; the operation continues and has to be ended by `leave`.
  package func pause(evenIfWriting isWriting: Bool = false) throws(PageFileError) {
    guard bracket.depth == 1, dirty == nil || isWriting else { return }
    leave()
    bracket.enter()
    if snapshot.isExpired && !Defect.expiryIgnored.isPlanted { throw .snapshotExpired }
  }

  /// Runs `body` and then releases the pages that it read; only its result may be used afterwards.
  func reading<R>(_ body: () throws(PageFileError) -> R) throws(PageFileError) -> R {
    let keptCount = bracket.keptCount
    defer { bracket.returnWork(to: keptCount) }
    return try body()
  }

  /// Returns the page's validated bytes, to be read in place.
  package func page(_ number: PageNumber) throws(PageFileError) -> Bytes {
    assert(bracket.depth > 0, "page: read outside a bracket")
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
    // Rule 2 of `Snapshot`: the bytes count only if the snapshot has not expired by now.
    if snapshot.isExpired && !Defect.expiryIgnored.isPlanted { throw .snapshotExpired }
    return bytes
  }

  /// Returns a page as it was before the transaction.
  func pageBefore(_ number: PageNumber) throws(PageFileError) -> Bytes {
    try pager.page(number, in: snapshot, bracket)
  }

  /// Returns the entry of a page in the page table.
  func tableEntry(of number: PageNumber) throws(PageFileError) -> TableEntry {
    try pager.tableEntry(of: number, in: snapshot.table, bracket)
  }

  /// Runs a change of several pages.
  ///
  /// If it fails, the pages may contradict each other, and the transaction cannot be committed.
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

  /// Returns the leaf of a tree that the transaction visited last, which is still a leaf of the
  /// tree; `none` without one.
  @inline(__always)
  func recentLeaf(of tree: TreeNumber) -> PageNumber {
    PageNumber(recentLeaves[Int(tree.rawValue)])
  }

  /// Returns the branch page that led to the recent leaf of a tree, and the cell that did; it is
  /// still a page of the tree, but the cell may lead elsewhere by now.
  @inline(__always)
  func recentParent(of tree: TreeNumber) -> (page: PageNumber, index: Int) {
    let place = Int(tree.rawValue)
    return (PageNumber(recentParents[place]), Int(recentIndices[place]))
  }

  /// Returns the cell of the root that led to the parent of the recent leaf while it is unknown
  /// whether their separators contradict each other.
  @inline(__always)
  func recentTurn(of tree: TreeNumber) -> Int? {
    let turn = recentTurns[Int(tree.rawValue)]
    return turn == 0 ? nil : Int(turn - 1)
  }

  /// Notes the leaf that the transaction visits, and the cell of the branch page that led to it, if
  /// it is known.
  ///
  /// - Parameter turn: The cell of the root that led to the branch page, if their separators have
  ///   not been compared.
  @inline(__always)
  func visit(
    _ leaf: PageNumber, of tree: TreeNumber, from parent: PageNumber = .none, _ index: Int = 0,
    turn: Int? = nil
  ) {
    let place = Int(tree.rawValue)
    recentLeaves[place] = leaf.rawValue
    recentParents[place] = parent.rawValue
    recentIndices[place] = UInt32(truncatingIfNeeded: index)
    recentTurns[place] = turn.map { UInt32(truncatingIfNeeded: $0) &+ 1 } ?? 0
    provenLeaves &= ~(1 << UInt64(place))
  }

  /// Notes that the separators on the way to a tree's recent leaf do not contradict each other.
  func clearRecentTurn(of tree: TreeNumber) { recentTurns[Int(tree.rawValue)] = 0 }

  /// True if all keys of a tree's recent leaf are known to lie between the separators around it.
  @inline(__always)
  func isRecentLeafProven(of tree: TreeNumber) -> Bool {
    provenLeaves & 1 << UInt64(tree.rawValue) != 0
  }

  func proveRecentLeaf(of tree: TreeNumber) { provenLeaves |= 1 << UInt64(tree.rawValue) }

  /// Returns the length in bytes of the longest value that lies in the leaf with a key of that
  /// length.
  package func maximumValueByteCount(keyByteCount: Int) -> Int {
    Cell.maximumValueByteCount(keyByteCount: keyByteCount, pageSize: pageSize)
  }

  /// Returns true if a value lies in the leaf of its key, and not in an overflow chain.
  package func fitsInline(keyByteCount: Int, valueByteCount: Int) -> Bool {
    Cell.fitsInline(keyByteCount: keyByteCount, valueByteCount: valueByteCount, pageSize: pageSize)
  }

  package func setRoot(of tree: TreeNumber, to page: PageNumber) {
    precondition(dirty != nil, "read transaction: cannot write")
    roots[tree] = page
    visit(.none, of: tree)
  }

  /// Returns one of the words, see `Words`.
  package func word(_ index: Int) -> UInt64 { roots.words[index] }

  /// Sets one of the words.
  ///
  /// A transaction that changes nothing else is a commit, too.
  package func setWord(_ index: Int, to word: UInt64) {
    precondition(dirty != nil, "read transaction: cannot write")
    roots.words[index] = word
  }

  /// Returns the page's bytes for writing.
  ///
  /// The page is copied at the first edit in the transaction; later edits get the same memory.
  /// - Throws: `limitExceeded` if the transaction has grown beyond its limit.
  package func edit(_ number: PageNumber) throws(PageFileError) -> MutableBytes {
    let image = try editImage(number, page(number))
    image.edited.addAll(pageByteCount: pageSize)
    return image.mutableBytes
  }

  /// Returns the page's image for writing, given its bytes; the caller records its changes in the
  /// image's `edited`.
  func editImage(_ number: PageNumber, _ bytes: Bytes) throws(PageFileError) -> PageImage {
    guard let dirty else { preconditionFailure("read transaction: cannot write") }
    if let image = dirty[number] { return image }
    let image = try makeImage(dirty)
    image.mutableBytes.copy(bytes, to: 0)
    dirty.insert(number, image)
    return image
  }

  private func makeImage(_ dirty: DirtyPages) throws(PageFileError) -> PageImage {
    // Pages that the operation has changed and freed are still in memory.
    let count = dirty.count + doomedCount
    guard count < maximumDirtyPageCount else {
      throw .limitExceeded(
        what: "bytes of pages changed in one transaction", value: (count + 1) * pageSize,
        limit: maximumDirtyPageCount * pageSize)
    }
    return PageImage(pageByteCount: pageSize, account: pager.account)
  }

  /// Allocates a page of zeros whose header has its number, kind and level.
  package func allocate(
    _ kind: PageKind, level: Int
  ) throws(PageFileError) -> (PageNumber, MutableBytes) {
    guard let dirty, let numbers else {
      preconditionFailure("read transaction: cannot write")
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

  /// Frees a page.
  ///
  /// Its number is reused only after the commit.
  package func free(_ number: PageNumber) throws(PageFileError) {
    guard let dirty else { preconditionFailure("read transaction: cannot write") }
    if !Defect.freedLeafKept.isPlanted {
      recentLeaves.replace(with: 0, where: recentLeaves .== number.rawValue)
      recentParents.replace(with: 0, where: recentParents .== number.rawValue)
      // Another leaf may have taken in what the page held.
      provenLeaves = 0
    }
    if let image = dirty.remove(number) {
      doomed.append(image)
      doomedCount += 1
    }
    if fresh.remove(number.rawValue) == nil {
      freed.append(number)
    } else {
      numbers?.returnWork(number)
    }
  }

  /// The size of the pages that the transaction has changed so far, in bytes, with those that the
  /// present operation has freed again: these are in memory until it ends.
  package var changedByteCount: Int { ((dirty?.count ?? 0) + doomedCount) * pageSize }

  package var hasChanges: Bool {
    (dirty?.count ?? 0) > 0 || !freed.isEmpty || roots.words != snapshot.roots.words
  }
}
