import Damage
import PageFile
import Testing

/// Trees 16 to 31: how a file gets them, and what becomes of their roots.
@Suite struct MoreTreesTests {
  static func options(_ access: DatabaseOptions.Access = .readWrite) -> DatabaseOptions {
    var options = DatabaseOptions()
    options.access = access
    options.backgroundWork = .caller
    return options
  }

  private func open(
    _ files: any StorageDirectory, _ access: DatabaseOptions.Access = .readWrite
  ) throws(PageFileError) -> Database {
    try Database(in: files, name: "x", options: Self.options(access))
  }

  private func metas(_ files: MemoryDirectory) throws -> [MetaSlot] {
    Anatomy.metas(in: try #require(files["x"]))
  }

  private func refusal(tree: Int) -> PageFileError {
    .limitExceeded(
      what: "trees in a file without the feature of more trees", value: tree + 1, limit: 16)
  }

  // MARK: Asking

  @Test(arguments: [16, 31]) func withoutAskingUpperTreesAreRefused(tree: Int) throws {
    let files = MemoryDirectory()
    let database = try open(files)
    try database.write(.full) { (source) throws(PageFileError) in try source.put([1], [1]) }
    // Whoever goes on regardless commits nothing.
    var error: PageFileError?
    do throws(PageFileError) {
      try database.write { (source) throws(PageFileError) in
        #expect(source.treeCount == 16)
        do throws(PageFileError) {
          try source.put([2], [2], tree: tree)
        } catch {
          #expect(error == refusal(tree: tree))
        }
      }
    } catch let thrown {
      error = thrown
    }
    #expect(error == .aborted)
    try database.write(.full) { (source) throws(PageFileError) in
      // Reading and removing what cannot be there is no error.
      try source.remove([2], tree: tree)
      try source.put([3], [3], tree: 15)
    }
    try database.close()
    #expect(try open(files).state().contents == [[0, 1]: [1], [15, 3]: [3]])
  }

  /// Not a byte differs from what an older version writes.
  @Test func aFileThatDoesNotAskStaysAnOldOne() throws {
    let files = MemoryDirectory()
    let database = try open(files)
    for round in 1...12 {
      try Rounds.write(round, to: database)
      if round % 4 == 0 { try database.checkpoint() }
    }
    try database.close()
    #expect(!database.hasMoreTrees)
    let bytes = try #require(files["x"])
    for slot in 0..<2 {
      let start = MetaSlot.offset(of: slot)
      #expect(bytes[start + 16..<start + 40].allSatisfy { $0 == 0 })
      #expect(bytes[start + 188..<start + 504].allSatisfy { $0 == 0 })
    }
  }

  @Test func askingPublishesInBothSlotsBeforeItReturns() throws {
    let files = MemoryDirectory()
    let database = try open(files)
    try database.write(.full) { (source) throws(PageFileError) in try source.put([1], [1]) }
    #expect(!database.hasMoreTrees)
    try database.useMoreTrees()
    #expect(database.hasMoreTrees)
    for meta in try metas(files) { #expect(meta.features.mustUnderstand == 1) }
    let before = files["x"]
    try database.useMoreTrees()
    #expect(files["x"] == before)
    try database.write(.full) { (source) throws(PageFileError) in
      try source.put([2], [2], tree: 31)
    }
    try database.close()
    for meta in try metas(files) {
      #expect(meta.features.mustUnderstand == 1 && meta.roots[TreeNumber(31)] != .none)
    }
    let reopened = try open(files)
    #expect(reopened.hasMoreTrees)
    #expect(try reopened.state().contents == [[0, 1]: [1], [31, 2]: [2]])
  }

  @Test func aNewFileHasThemFromTheBeginningIfItIsAskedFor() throws {
    let files = MemoryDirectory()
    var options = Self.options()
    options.createsMoreTrees = true
    let database = try Database(in: files, name: "x", options: options)
    for meta in try metas(files) { #expect(meta.features.hasMoreTrees) }
    let before = files["x"]
    try database.useMoreTrees()
    #expect(files["x"] == before && database.hasMoreTrees)
    try database.write { (source) throws(PageFileError) in try source.put([1], [1], tree: 16) }
    #expect(try database.contents(of: 16) == [[1]: [1]])
    // The option says nothing of a file that exists.
    let old = MemoryDirectory()
    try open(old).close()
    #expect(try !Database(in: old, name: "x", options: options).hasMoreTrees)
  }

  @Test func whoCannotWriteCannotAsk() throws {
    let files = MemoryDirectory()
    let database = try open(files)
    try database.write { (source) throws(PageFileError) in try source.put([1], [1]) }
    let reader = try open(files, .readOnly)
    #expect(throws: PageFileError.readOnly(reason: "opened for reading only")) {
      try reader.useMoreTrees()
    }
    let transaction = try database.beginWrite()
    #expect(throws: PageFileError.insideTransaction(call: "useMoreTrees")) {
      try database.useMoreTrees()
    }
    transaction.rollback()
    try database.close()
    #expect(throws: PageFileError.closed) { try database.useMoreTrees() }
  }

  // MARK: Crashes and failures

  /// A process killed before any of the writes leaves an old file, or a new one without a frame that
  /// an old one must not have; and with either slot unreadable it is the same.
  @Test(arguments: [false, true]) func aCrashAnywhereLeavesOneFormOrTheOther(isClosed: Bool) throws
  {
    let files = MemoryDirectory()
    let first = try open(files)
    try Rounds.write(3, to: first, .full)
    if isClosed { try first.close() }
    let copies = Locked<[MemoryDirectory]>([])
    let directory = WatchedDirectory(files.copy()) { files in
      copies.withLock { $0.append(files.copy()) }
    }
    let database = try open(directory)
    try database.useMoreTrees()
    let beforeCommit = copies.withLock { $0.count }
    try database.write(.full) { (source) throws(PageFileError) in
      try source.put([9], [9], tree: 20)
    }
    let all = copies.withLock { $0 } + [directory.copy()]
    #expect(beforeCommit >= (isClosed ? 5 : 10))
    var forms: Set<Bool> = []
    for (index, copy) in all.enumerated() {
      for damaged in [nil, 0, 1] as [Int?] {
        let files = copy.copy()
        if let damaged { files.damageMetaSlot(damaged) }
        let opened = try open(files)
        let form = opened.hasMoreTrees
        forms.insert(form)
        #expect(try Rounds.read(opened) == 3)
        let isCommitted = try opened.contents(of: 20) == [[9]: [9]]
        #expect(isCommitted ? form : index <= beforeCommit + 1)
        if index >= beforeCommit { #expect(form) }
        // It goes on from there, and gets what it lacks.
        try opened.useMoreTrees()
        try opened.write(.full) { (source) throws(PageFileError) in
          try source.put([8], [8], tree: 31)
        }
        #expect(try open(files.copy()).contents(of: 31) == [[8]: [8]])
        #expect(try opened.findings() == [])
      }
    }
    #expect(forms == [false, true])
  }

  /// Whichever call fails, the file opens, has lost nothing, and can be asked again.
  @Test func aFailedRequestCanBeRepeated() throws {
    for kind in [HookedDirectory.Call.Kind.write, .sync] {
      for index in 0..<4 {
        let files = MemoryDirectory()
        let left = Locked(Int.max)
        let hooked = HookedDirectory(files) { (call, _) throws(PageFileError) in
          guard call.kind == kind, call.name == "x" else { return }
          let fails = left.withLock { left in
            left -= 1
            return left == -1
          }
          if fails { throw .ioError(call: "\(kind)", errno: 5, path: call.name) }
        }
        let database = try open(hooked)
        try Rounds.write(2, to: database, .full)
        left.withLock { $0 = index }
        let hasFailed = (try? database.useMoreTrees()) == nil
        #expect(hasFailed == (index < 2))
        left.withLock { $0 = .max }
        if hasFailed { #expect(!database.hasMoreTrees && database.isPoisoned) }
        let opened = try open(files.copy())
        try opened.useMoreTrees()
        try opened.write(.full) { (source) throws(PageFileError) in
          try source.put([1], [1], tree: 16)
        }
        #expect(try Rounds.read(opened) == 2)
      }
    }
  }

  /// The frames count behind the other slot as well.
  @Test(arguments: [0, 1]) func theOtherMetaSlotStandsIn(damaged: Int) throws {
    for specimen in [try Specimen.withMoreTrees()] {
      let files = specimen.files.copy()
      var bytes = try #require(files[Specimen.storeName])
      bytes[MetaSlot.offset(of: damaged) + 60] ^= 1
      files[Specimen.storeName] = bytes
      let opened = try Database(
        in: files, name: Specimen.storeName, options: SpecimenMaker.options)
      #expect(try opened.state().contents == specimen.states[specimen.lastLSN])
    }
  }

  /// A slot without the feature proves that no frame of roots was ever written.
  @Test func framesOfRootsWithoutTheFeatureAreRefused() throws {
    let specimen = try Specimen.withMoreTrees()
    let files = specimen.files.copy()
    var bytes = try #require(files[Specimen.storeName])
    for slot in 0..<2 {
      let start = MetaSlot.offset(of: slot)
      bytes[start + 32] = 0
      bytes.replaceSubrange(start + 188..<start + 252, with: repeatElement(0, count: 64))
      Forge.sealMeta(&bytes, slot)
    }
    files[Specimen.storeName] = bytes
    #expect {
      _ = try Database(in: files, name: Specimen.storeName, options: SpecimenMaker.options)
    } throws: { error in
      guard case PageFileError.corruptWAL(_, let reason) = error else { return false }
      return reason == "malformed frame of roots"
    }
  }
}
