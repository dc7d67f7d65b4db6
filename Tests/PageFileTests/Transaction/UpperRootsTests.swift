import Damage
import PageFile
import Testing

/// The roots of trees beyond 15 on all their ways: through the log, meta slots, readers beside the
/// owner, compaction, copies, and salvage.
@Suite struct UpperRootsTests {
  private static let trees: [UInt8] = [0, 3, 15, 16, 17, 24, 31]

  private func open(
    _ files: any StorageDirectory, _ access: DatabaseOptions.Access = .readWrite
  ) throws(PageFileError) -> Database {
    try Database(in: files, name: "x", options: MoreTreesTests.options(access))
  }

  /// Changes a few keys, and now and then empties a tree or fills one with several pages.
  private func change(_ contents: Contents, _ random: inout SeededGenerator) -> Contents {
    var new = contents
    for _ in 0...random.below(4) {
      let tree = Self.trees[random.below(Self.trees.count)]
      switch random.below(8) {
      case 0: new = new.filter { $0.key[0] != tree }
      case 1: for key in 0..<40 { new[[tree, UInt8(key)]] = random.bytes(300) }
      case 2: new[[tree, UInt8(random.below(40))]] = random.bytes(5000)
      case 3: new[[tree, UInt8(random.below(40))]] = nil
      default: new[[tree, UInt8(random.below(40))]] = random.bytes(1 + random.below(100))
      }
    }
    return new
  }

  private func commit(
    _ new: Contents, over old: Contents, to database: Database
  ) throws(PageFileError) {
    try database.write(.full) { (source) throws(PageFileError) in
      try new.write(over: old, to: source)
    }
  }

  @Test func rootsSurviveCommitsCheckpointsReopeningsAndKills() throws {
    var random = SeededGenerator(printedFor: #function)
    var files = MemoryDirectory()
    var database = try open(files)
    try database.useMoreTrees()
    var reader = try open(files, .readOnly)
    var contents: Contents = [:]
    for step in 0..<150 {
      let new = change(contents, &random)
      try commit(new, over: contents, to: database)
      contents = new
      switch random.below(10) {
      case 0, 1: try database.checkpoint()
      case 2:
        try database.close()
        database = try open(files)
      case 3:
        // What a killed process leaves, before the checkpoint or behind it.
        files = files.copy()
        database = try open(files)
        reader = try open(files, .readOnly)
      default: break
      }
      #expect(try database.state().contents == contents, "step \(step)")
      #expect(try reader.state().contents == contents, "reader at step \(step)")
      if step % 30 == 29 { #expect(try database.findings() == []) }
    }
  }

  /// Commits in both files of the log, as during a checkpoint that found no room.
  @Test func rootsSurviveATurnOfTheLog() throws {
    let refusesPages = Locked(false)
    let directory = HookedDirectory { (call, _) throws(PageFileError) in
      let isPage = call.kind == .write && call.offset >= 2 * MetaSlot.regionByteCount
      if isPage && call.name == "x" && refusesPages.withLock({ $0 }) { throw .diskFull }
    }
    let database = try open(directory)
    try database.useMoreTrees()
    let first: Contents = [[16, 1]: [1], [31, 1]: [1], [0, 1]: [1]]
    try commit(first, over: [:], to: database)
    refusesPages.withLock { $0 = true }
    #expect(throws: PageFileError.diskFull) { try database.checkpoint() }
    let second: Contents = [[16, 1]: [1], [20, 1]: [2], [0, 1]: [2]]
    try commit(second, over: first, to: database)
    #expect(try open(directory.files.copy()).state().contents == second)
    #expect(try open(directory.files.copy(), .readOnly).state().contents == second)
    #expect(try PageSalvage(in: directory.files.copy(), name: "x").state() == second)
    refusesPages.withLock { $0 = false }
    try database.checkpoint()
    #expect(try open(directory.files.copy()).state().contents == second)
  }

  @Test func commitsThatChangeNoUpperRootHaveNoFrameOfRoots() throws {
    let files = MemoryDirectory()
    let database = try open(files)
    try database.useMoreTrees()
    var contents: Contents = [[16, 1]: [1]]
    try commit(contents, over: [:], to: database)
    for round in 2...5 {
      let old = contents
      contents[[16, 1]] = [UInt8(round)]
      contents[[3, UInt8(round)]] = [1]
      try commit(contents, over: old, to: database)
    }
    try commit([:], over: contents, to: database)
    var found: [[TreeNumber: PageNumber]] = []
    for (commit, offset) in Anatomy.commits(in: try #require(files["x-wal0"])) {
      let start = offset + WALCommitHeader.byteCount
      let bytes = try #require(files["x-wal0"])
      Bytes.with(Array(bytes[start..<start + commit.framesByteCount])) { frames in
        var reader = ByteReader(frames)
        var roots: [TreeNumber: PageNumber] = [:]
        for _ in 0..<commit.frameCount {
          guard let frame = PagePatch.nextFrame(&reader), frame.kind == .roots else { continue }
          for (tree, root) in RootsFrame.entries(frame) ?? [] { roots[tree] = root }
        }
        found.append(roots)
      }
    }
    #expect(found.count == 6)
    #expect(found.first == [TreeNumber(16): PageNumber(1)])
    #expect(found.dropFirst().dropLast().allSatisfy { $0.isEmpty })
    #expect(found.last == [TreeNumber(16): .none])
  }

  /// A reader that was there before the file had these trees follows it to them.
  @Test func readersFollowAFileThatGetsMoreTrees() throws {
    let files = MemoryDirectory()
    let database = try open(files)
    try commit([[0, 1]: [1]], over: [:], to: database)
    let reader = try open(files, .readOnly)
    #expect(try reader.state().contents == [[0, 1]: [1]] && !reader.hasMoreTrees)
    try database.useMoreTrees()
    try commit([[0, 1]: [1], [30, 1]: [1]], over: [[0, 1]: [1]], to: database)
    #expect(try reader.state().contents == [[0, 1]: [1], [30, 1]: [1]] && reader.hasMoreTrees)
    let held = try reader.beginRead()
    try commit([[0, 1]: [1]], over: [[0, 1]: [1], [30, 1]: [1]], to: database)
    #expect(try reader.state().contents == [[0, 1]: [1]])
    #expect(try Contents(held.source) == [[0, 1]: [1], [30, 1]: [1]])
  }

  @Test func compactionsAndCopiesKeepUpperTrees() throws {
    var random = SeededGenerator(printedFor: #function)
    let files = MemoryDirectory()
    let database = try open(files)
    try database.useMoreTrees()
    var contents: Contents = [:]
    for _ in 0..<40 {
      let new = change(contents, &random)
      try commit(new, over: contents, to: database)
      contents = new
    }
    for tree in Self.trees { contents[[tree, 250]] = [tree] }
    try commit(contents, over: [:], to: database)
    var compaction = Compaction()
    while try database.compact(&compaction) {}
    #expect(try database.state().contents == contents)
    #expect(try database.findings() == [])
    let copy = try open(MemoryDirectory())
    try copy.fill(from: try database.beginRead()) { _ in }
    #expect(try copy.state().contents == contents && copy.hasMoreTrees)
    let old = try open(MemoryDirectory())
    try commit([[5, 1]: [1]], over: [:], to: old)
    let oldCopy = try open(MemoryDirectory())
    try oldCopy.fill(from: try old.beginRead()) { _ in }
    #expect(try oldCopy.state().contents == [[5, 1]: [1]] && !oldCopy.hasMoreTrees)
  }

  // MARK: Salvage

  /// A store with a checkpoint, and commits in the log that change no root, begin a tree, and end
  /// one.
  private func killed() throws -> (files: MemoryDirectory, states: [Contents]) {
    let files = MemoryDirectory()
    let database = try open(files)
    try database.useMoreTrees()
    var states: [Contents] = []
    var contents: Contents = [:]
    for tree in Self.trees { for key in 0..<30 { contents[[tree, UInt8(key)]] = [tree, 1] } }
    try commit(contents, over: [:], to: database)
    try database.checkpoint()
    states.append(contents)
    for step in 1...6 {
      let old = contents
      contents[[16, 1]] = [UInt8(step)]
      contents[[0, 1]] = [UInt8(step)]
      if step == 2 { contents[[22, 1]] = [2] }
      if step == 4 { contents = contents.filter { $0.key[0] != 24 } }
      try commit(contents, over: old, to: database)
      states.append(contents)
    }
    return (files.copy(), states)
  }

  /// Up to the commit that is damaged, all trees are as it was left.
  @Test func salvageCarriesRootsThroughTheLog() throws {
    let (intact, states) = try killed()
    for damaged in 0...6 {
      let files = intact.copy()
      let name = try #require(
        ["x-wal0", "x-wal1"].first { files[$0].map { Anatomy.commits(in: $0).count } == 6 })
      let offsets = Anatomy.commits(in: try #require(files[name])).map(\.offset)
      if damaged < 6 { files.damage(name, offsets[damaged] + 140..<offsets[damaged] + 142) }
      let salvage = try PageSalvage(in: files, name: "x")
      #expect(try salvage.state() == states[damaged])
      #expect(salvage.report.lostPages.isEmpty)
    }
  }

  /// Without meta slots only those roots are known that a commit names; a tree of which nothing is
  /// known is not taken for an empty one.
  @Test func salvageWithoutMetaSlotsKeepsTreesOfUnknownRoots() throws {
    let (files, states) = try killed()
    for slot in 0..<2 { files.damageMetaSlot(slot) }
    let salvage = try PageSalvage(in: files, name: "x")
    #expect(try salvage.state() == states[6])
  }
}

extension PageSalvage {
  /// Everything that can be read of all trees.
  fileprivate func state() throws -> Contents {
    var state: Contents = [:]
    for tree in 0..<Roots.maximumCount {
      for (key, value) in contents(of: tree) { state[[UInt8(tree)] + key] = value }
    }
    return state
  }
}
