/// The progress of a compaction.
///
/// The caller that runs the compaction keeps it from step to step, and may discard it at any time:
/// a new compaction finds the finished work in place.
public struct Compaction: Sendable, Equatable {
  /// The kind of work that a step does.
  public enum Stage: Sendable, Equatable {
    /// Every page is read and proven, so that a damaged store is left as it is.
    case reading
    /// The cells of neighbouring pages are moved together.
    case packing
    /// Pages at the end of the data file are moved to free slots, and the end is given back.
    case moving
    /// Nothing more can be gained.
    case done
  }

  /// The stage of the next step.
  public internal(set) var stage = Stage.reading
  /// The number of pages saved so far.
  public internal(set) var savedPageCount = 0
  /// The number of pages moved so far, including pages of the page table.
  public internal(set) var movedPageCount = 0
  /// The number of pages read so far in order to prove them.
  public internal(set) var readPageCount = 0

  /// The first page that is not proven yet.
  var firstUnproven = PageNumber.none
  /// The page at which to look next for pages to move.
  var firstUnmoved = PageNumber.none
  var place = Place()
  /// The number of steps that may still move pages; nil before the first.
  var moveCountLeft: Int?

  /// The place where packing continues.
  struct Place: Sendable, Equatable {
    var tree = 0
    var level = 0
    var key: [UInt8] = []
    var round = 0
    /// True if a level has lost pages in this round, so that pages have new neighbours and other
    /// places among those of their parent.
    var hasNewNeighbours = false
  }

  /// Begins a compaction.
  public init() {}
}

extension Database {
  /// The number of pages that a step proves.
  private static let maximumReadCount = 4096
  /// The number of bytes of pages that one commit of a step changes.
  private static let maximumEditedByteCount = 1 << 20
  /// The number of pages that one commit changes when the device is full.
  private static let editCountMin = 16
  /// The largest number of rounds over the levels of a tree.
  ///
  /// A round packs pages that became neighbours in the round before. The last one finds nothing, so
  /// a compacted tree stays as it is when compacted again.
  private static let maximumRoundCount = 8

  /// Makes the store as small as possible and gives the space back to the file system.
  ///
  /// First every page is read once. Then neighbouring pages that are not full are packed, in
  /// commits of about 1 MiB of pages, each at `relaxed`. Then pages at the end of the data file
  /// move to free places nearer its beginning, in steps of 2 MiB that take three syncs each, and
  /// the file is truncated. The file keeps the free space reserved for commits and for a full
  /// device: 64 pages more than the commits of the moment need. Values in overflow chains and page
  /// numbers stay as they are.
  ///
  /// Readers and writers continue meanwhile; a writer waits for one commit at most. Space that an
  /// open read transaction still needs cannot be given back; a checkpoint does that once the
  /// transaction has ended.
  ///
  /// - Throws: Any error of reading and writing: `corruptPage` and `ioError` for pages that cannot
  ///   be read, before anything is changed unless they went bad in the meantime; `diskFull` if
  ///   there is no room for the commits; `readOnly`, `closed`, `suspended`, `forked`, `poisoned`;
  ///   `insideTransaction`. The store is as sound as before, and finished work stays done.
  public func compact() throws(PageFileError) {
    var compaction = Compaction()
    while try compact(&compaction) {}
  }

  /// Does one step of a compaction.
  ///
  /// - Parameter compaction: The progress; begins as `Compaction()`.
  /// - Returns: True if there may be work left.
  /// - Throws: The errors of `compact()`. The same step can be retried.
  public func compact(_ compaction: inout Compaction) throws(PageFileError) -> Bool {
    try refuseInsideWrite("compact")
    do throws(PageFileError) {
      switch compaction.stage {
      case .reading: try prove(&compaction)
      case .packing: try pack(&compaction)
      case .moving: try move(&compaction)
      case .done: break
      }
    } catch .snapshotExpired {
      // The snapshot was too old to be kept. The next step begins with the current one.
    }
    return compaction.stage != .done
  }

  /// Returns the size of the data file in bytes.
  package func dataFileByteCount() throws(PageFileError) -> Int {
    let engine = engine
    // Closing waits for threads inside, so the file is not closed while its size is read.
    let ticket = engine.pager.cache.enter()
    defer { engine.pager.cache.leave(ticket) }
    if let ending = engine.ending { throw ending }
    return try engine.pager.dataFile.byteCount()
  }

  /// Returns the size of the two WAL files together in bytes; a missing one has none.
  package func walFileByteCount() throws(PageFileError) -> Int {
    let engine = engine
    let ticket = engine.pager.cache.enter()
    defer { engine.pager.cache.leave(ticket) }
    if let ending = engine.ending { throw ending }
    var byteCount = 0
    for case let file? in engine.walFiles.withLock({ $0 }) { byteCount += try file.byteCount() }
    return byteCount
  }

  /// The size of a page in bytes.
  package var pageByteCount: Int { engine.pager.pageByteCount }

  // MARK: Reading

  private func prove(_ compaction: inout Compaction) throws(PageFileError) {
    let transaction = try beginRead()
    let (snapshot, pager) = (transaction.source.snapshot, transaction.source.pager)
    let bracket = Bracket(pager.cache, snapshot.registration)
    var count = 0
    var next: PageNumber?
    try pager.walkTable(
      snapshot.table, from: compaction.firstUnproven,
      for: Defect.walkUnregistered.isPlanted ? nil : snapshot.registration
    ) { _, _, _ in
    } visitEntry: { number, entry throws(PageFileError) in
      // A newer version in the log is in memory, and proven.
      guard case .absent = snapshot.entry(of: number) else { return true }
      guard count < Self.maximumReadCount else {
        next = number
        return false
      }
      try bracket.within { () throws(PageFileError) in
        _ = try pager.image(of: entry, number: number.rawValue, level: nil, bracket)
      }
      count += 1
      return true
    }
    if snapshot.isExpired { throw .snapshotExpired }
    compaction.readPageCount += count
    if let next { compaction.firstUnproven = next } else { compaction.stage = .packing }
  }

  // MARK: Packing

  private func pack(_ compaction: inout Compaction) throws(PageFileError) {
    let (step, isFound) = try findToPack(compaction.place)
    guard isFound, case .from(let key) = step else { return goOn(step, &compaction) }
    compaction.place.key = key
    let maximumEditCount = Self.maximumEditedByteCount / pageByteCount
    do throws(PageFileError) {
      try packOnce(maximumEditCount, &compaction)
    } catch .diskFull {
      // A checkpoint frees the other log file, and the slots of old versions.
      try engine.checkpoint(shrink: false)
      try packOnce(Self.editCountMin, &compaction)
    }
  }

  /// Looks for pages to pack without holding up a writer.
  private func findToPack(
    _ place: Compaction.Place
  ) throws(PageFileError) -> (step: BTree.PackStep, isFound: Bool) {
    let transaction = try beginRead()
    let source = transaction.source
    try source.enter()
    defer { source.leave() }
    return try BTree(source, TreeNumber(place.tree)).firstToPack(
      level: place.level, from: place.key, maximumReadCount: Self.maximumReadCount)
  }

  private func packOnce(
    _ maximumEditCount: Int, _ compaction: inout Compaction
  ) throws(PageFileError) {
    let transaction = try beginWrite(.patient)
    let place = compaction.place
    let (step, savedCount) = try pack(place, maximumEditCount, transaction.source)
    _ = try transaction.commit(.relaxed)
    compaction.savedPageCount += savedCount
    if savedCount > 0 { compaction.place.hasNewNeighbours = true }
    goOn(step, &compaction)
  }

  private func pack(
    _ place: Compaction.Place, _ maximumEditCount: Int, _ source: PageSource
  ) throws(PageFileError) -> (step: BTree.PackStep, savedCount: Int) {
    try source.enter()
    defer { source.leave() }
    return try BTree(source, TreeNumber(place.tree)).pack(
      level: place.level, from: place.key, maximumEditCount: maximumEditCount)
  }

  /// Advances to the next level, from the leaves up.
  ///
  /// If pages were saved, the leaves come again; otherwise the next tree follows.
  private func goOn(_ step: BTree.PackStep, _ compaction: inout Compaction) {
    var place = compaction.place
    switch step {
    case .from(let key):
      place.key = key
    case .end:
      place.level += 1
      place.key = []
    case .noLevel:
      let isAgain = place.hasNewNeighbours && place.round < Self.maximumRoundCount
      place =
        isAgain
        ? Compaction.Place(tree: place.tree, round: place.round + 1)
        : Compaction.Place(tree: place.tree + 1)
    }
    compaction.place = place
    if place.tree == Roots.maximumCount { compaction.stage = .moving }
  }

  // MARK: Moving

  private func move(_ compaction: inout Compaction) throws(PageFileError) {
    guard let countLeft = compaction.moveCountLeft else {
      // The old slots of packed pages are free only once the packed pages are in the data file.
      try engine.checkpoint(shrink: false)
      // Twice the number needed if nobody writes: other writers must not keep this going for ever.
      compaction.moveCountLeft =
        8 + 2 * (try dataFileByteCount()) / Checkpointer.maximumMovedByteCount
      return
    }
    compaction.moveCountLeft = countLeft - 1
    if countLeft > 0, let movedCount = try engine.movePages(from: &compaction.firstUnmoved) {
      compaction.movedPageCount += movedCount
      return
    }
    try checkpoint()
    compaction.stage = .done
  }
}
