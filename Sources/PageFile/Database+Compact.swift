/// How far making a store small has come.
///
/// It is kept by whoever has the store compacted, from step to step, and may be thrown away at any
/// time: a compaction that begins anew finds done what was done.
public struct Compaction: Sendable, Hashable {
  /// What a step does.
  public enum Stage: Sendable, Hashable {
    /// Every page is read and proven, so that a damaged store is left as it is.
    case reading
    /// The cells of neighbouring pages are put together.
    case packing
    /// Pages at the end of the data file are moved to free places, and the end is given back.
    case moving
    /// Nothing more can be gained.
    case done
  }

  /// What the next step does.
  public internal(set) var stage = Stage.reading
  /// How many pages were saved so far.
  public internal(set) var savedPageCount = 0
  /// How many pages were moved so far, pages of the page table among them.
  public internal(set) var movedPageCount = 0
  /// How many pages were read so far, to prove them.
  public internal(set) var readPageCount = 0

  /// The first page that is not proven yet.
  var firstUnproven = PageNumber.none
  /// Where to look next for pages to move.
  var firstUnmoved = PageNumber.none
  var place = Place()
  /// How many steps may still move pages; nil before the first.
  var moveCountLeft: Int?

  /// Where packing goes on.
  struct Place: Sendable, Hashable {
    var tree = 0
    var level = 0
    var key: [UInt8] = []
    var round = 0
    /// Whether a level above the leaves has lost pages in this round: then pages have got other
    /// neighbours.
    var hasNewNeighbours = false
  }

  /// Begins a compaction.
  public init() {}
}

extension Database {
  /// Pages that a step proves.
  private static let readCountMax = 4096
  /// Bytes of pages that a commit of a step changes.
  private static let editedByteCountMax = 1 << 20
  /// Pages that it changes where the device is full.
  private static let editCountMin = 16
  /// A round puts together what has become neighbours in the round before: there is one for each
  /// level, and hardly ever a second one.
  private static let roundCountMax = 8

  /// Makes the store as small as it gets, and gives the space back to the file system.
  ///
  /// First every page is read once. Then neighbouring pages that are not full are put together, in
  /// commits of about 1 MiB of pages, each at `relaxed`. Then pages at the end of the data file move to
  /// free places nearer its beginning, in steps of 2 MiB that are three syncs each, and the file is
  /// cut. What stays free is what is kept for commits and for a full device: 64 pages more than the
  /// commits of the moment need. Values in overflow chains and the numbers of pages stay as they are.
  ///
  /// Readers and writers go on meanwhile; a writer waits for one commit at most. What an open read
  /// transaction still needs cannot be given back: a checkpoint does that when it has ended.
  ///
  /// - Throws: What reading and writing throw: `corruptPage` and `ioError` for pages that cannot be
  ///   read, before anything was changed unless they went bad in the meantime; `diskFull` where there
  ///   is no room for the commits; `readOnly`, `closed`, `suspended`, `forked`, `poisoned`;
  ///   `insideTransaction`. The store is as sound as it was, and what has been done stays done.
  public func compact() throws(PageFileError) {
    var compaction = Compaction()
    while try compact(&compaction) {}
  }

  /// Does one step of that.
  ///
  /// - Parameter compaction: How far it has come. Begins with `Compaction()`.
  /// - Returns: Whether anything may be left to do.
  /// - Throws: As `compact()`. The same step can be tried again.
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
      // What it read was too old to be kept. The next step begins with what is there now.
    }
    return compaction.stage != .done
  }

  /// The size of the data file in bytes.
  package func dataFileByteCount() throws(PageFileError) -> Int {
    let engine = engine
    // Closing waits for whoever is inside, so that nobody asks a file that is closed.
    let ticket = engine.pager.cache.enter()
    defer { engine.pager.cache.leave(ticket) }
    if let ending = engine.ending { throw ending }
    return try engine.pager.dataFile.byteCount()
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
      // What the log has newer is in memory, and proven.
      guard case .absent = snapshot.entry(of: number) else { return true }
      guard count < Self.readCountMax else {
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
    let editCountMax = Self.editedByteCountMax / pageByteCount
    do throws(PageFileError) {
      try packOnce(editCountMax, &compaction)
    } catch .diskFull {
      // A checkpoint gives the other log file, and the slots of old versions.
      try engine.checkpoint(shrink: false)
      try packOnce(Self.editCountMin, &compaction)
    }
  }

  /// Looks for something to do without keeping a writer from its work.
  private func findToPack(
    _ place: Compaction.Place
  ) throws(PageFileError) -> (step: BTree.PackStep, isFound: Bool) {
    let transaction = try beginRead()
    let source = transaction.source
    try source.enter()
    defer { source.leave() }
    return try BTree(source, TreeNumber(place.tree)).firstToPack(
      level: place.level, from: place.key, readCountMax: Self.readCountMax)
  }

  private func packOnce(
    _ editCountMax: Int, _ compaction: inout Compaction
  ) throws(PageFileError) {
    let transaction = try beginWrite(.patient)
    let place = compaction.place
    let (step, savedCount) = try pack(place, editCountMax, transaction.source)
    _ = try transaction.commit(.relaxed)
    compaction.savedPageCount += savedCount
    if savedCount > 0 && place.level > 0 { compaction.place.hasNewNeighbours = true }
    goOn(step, &compaction)
  }

  private func pack(
    _ place: Compaction.Place, _ editCountMax: Int, _ source: PageSource
  ) throws(PageFileError) -> (step: BTree.PackStep, savedCount: Int) {
    try source.enter()
    defer { source.leave() }
    return try BTree(source, TreeNumber(place.tree)).pack(
      level: place.level, from: place.key, editCountMax: editCountMax)
  }

  /// One level after the other, from the leaves up; then the leaves again if those above have changed;
  /// then the next tree.
  private func goOn(_ step: BTree.PackStep, _ compaction: inout Compaction) {
    var place = compaction.place
    switch step {
    case .from(let key):
      place.key = key
    case .end:
      place.level += 1
      place.key = []
    case .noLevel:
      let isAgain = place.hasNewNeighbours && place.round < Self.roundCountMax
      place =
        isAgain
        ? Compaction.Place(tree: place.tree, round: place.round + 1)
        : Compaction.Place(tree: place.tree + 1)
    }
    compaction.place = place
    if place.tree == Roots.countMax { compaction.stage = .moving }
  }

  // MARK: Moving

  private func move(_ compaction: inout Compaction) throws(PageFileError) {
    guard let countLeft = compaction.moveCountLeft else {
      // Only when all that was packed is in the data file can its old slots be told from used ones.
      try engine.checkpoint(shrink: false)
      // Twice what it takes if nobody writes: whoever does must not keep this going for ever.
      compaction.moveCountLeft = 8 + 2 * (try dataFileByteCount()) / Checkpointer.movedByteCountMax
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
