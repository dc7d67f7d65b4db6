import Damage
import PageFile
import PageFileSalvage
import Testing

/// Words on all their ways: through the log, meta slots, readers beside the owner, compaction,
/// and copies.
struct WordsTests {
  static let trees: [UInt8] = [0, 3, 15]
  static let logNames = ["x-wal0", "x-wal1"]

  func open(
    _ files: any StorageDirectory, _ access: DatabaseOptions.Access = .readWrite
  ) throws(PageFileError) -> Database {
    var options = DatabaseOptions()
    options.access = access
    options.backgroundWork = .caller
    return try Database(in: files, name: "x", options: options)
  }

  private func metas(_ files: MemoryDirectory) throws -> [MetaSlot] {
    Anatomy.metas(in: try #require(files["x"]))
  }

  /// Changes a few words, and now and then keys as well: one, or as many as fill several pages, or
  /// all of a tree.
  private func change(_ contents: Contents, _ random: inout SeededGenerator) -> Contents {
    var new = contents
    for _ in 0...random.below(4) {
      let index = random.below(Words.count)
      switch random.below(8) {
      case 0: for index in 0..<Words.count { new[word: index] = random.next() }
      case 1, 2: new[word: index] = 0
      case 3: new[word: index] = .max
      default: new[word: index] = random.next() >> UInt64(random.below(64))
      }
    }
    let tree = Self.trees[random.below(Self.trees.count)]
    switch random.below(10) {
    case 0: new = new.filter { $0.key[0] != tree }
    case 1: for key in 0..<40 { new[[tree, UInt8(key)]] = random.bytes(300) }
    case 2: new[[tree, UInt8(random.below(40))]] = random.bytes(5000)
    case 3, 4: new[[tree, UInt8(random.below(40))]] = random.bytes(1 + random.below(100))
    default: break
    }
    return new
  }

  func commit(
    _ new: Contents, over old: Contents, to database: Database
  ) throws(PageFileError) {
    try database.write(.full) { (source) throws(PageFileError) in
      try new.write(over: old, to: source)
    }
  }

  // MARK: The log and the meta slots

  @Test func wordsSurviveCommitsCheckpointsReopeningsAndKills() throws {
    var random = SeededGenerator(printedFor: #function)
    var files = MemoryDirectory()
    var database = try open(files)
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

  /// Word 5 is set once, and two rounds of three change nothing but words.
  private static func contents(after round: Int) -> Contents {
    var contents = Contents(words: [0: UInt64(round), 5: 77, 23: UInt64(round) << 40])
    contents[[3, 1]] = [UInt8(round / 3)]
    return contents
  }

  /// A process killed before any of its writes leaves the words and keys of one commit, and they
  /// are there with either meta slot unreadable.
  @Test func aKillAnywhereLeavesTheWordsOfACommit() throws {
    let copies = Locked<[MemoryDirectory]>([])
    let directory = WatchedDirectory { files in copies.withLock { $0.append(files.copy()) } }
    var database = try open(directory)
    try commit(Self.contents(after: 1), over: [:], to: database)
    for round in 2...8 {
      copies.withLock { $0 = [] }
      let (old, new) = (Self.contents(after: round - 1), Self.contents(after: round))
      try commit(new, over: old, to: database)
      if round == 4 || round == 7 { try database.checkpoint() }
      if round == 5 {
        try database.close()
        database = try open(directory)
      }
      let all = copies.withLock { $0 } + [directory.copy()]
      for (index, copy) in all.enumerated() {
        for damaged in [nil, 0, 1] as [Int?] {
          let files = copy.copy()
          if let damaged { files.damageMetaSlot(damaged) }
          let seen = try open(files).state().contents
          let isRight = seen == new || seen == old && index < all.count - 1
          #expect(isRight, "round \(round), copy \(index), slot \(damaged ?? -1)")
        }
      }
    }
  }

  /// Commits in both files of the log, as during a checkpoint that found no room.
  @Test func wordsSurviveATurnOfTheLog() throws {
    let refusesPages = Locked(false)
    let directory = HookedDirectory { (call, _) throws(PageFileError) in
      let isPage = call.kind == .write && call.offset >= 2 * MetaSlot.regionByteCount
      if isPage && call.name == "x" && refusesPages.withLock({ $0 }) { throw .diskFull }
    }
    let database = try open(directory)
    var first = Contents(words: [0: 1, 7: 1, 23: 1])
    first[[0, 1]] = [1]
    try commit(first, over: [:], to: database)
    refusesPages.withLock { $0 = true }
    #expect(throws: PageFileError.diskFull) { try database.checkpoint() }
    var second = first
    second[word: 7] = 0
    second[word: 12] = .max
    try commit(second, over: first, to: database)
    #expect(try open(directory.files.copy()).state().contents == second)
    #expect(try open(directory.files.copy(), .readOnly).state().contents == second)
    #expect(try PageSalvage(in: directory.files.copy(), name: "x").state() == second)
    refusesPages.withLock { $0 = false }
    try database.checkpoint()
    #expect(try open(directory.files.copy()).state().contents == second)
  }

  @Test func commitsThatChangeNoWordHaveNoFrameOfWords() throws {
    let files = MemoryDirectory()
    let database = try open(files)
    var contents = Contents(words: [3: 300])
    contents[[3, 1]] = [1]
    try commit(contents, over: [:], to: database)
    for round in 2...5 {
      let old = contents
      contents[[3, UInt8(round)]] = [1]
      try commit(contents, over: old, to: database)
    }
    try commit(Contents(words: [23: 1]), over: contents, to: database)
    var found: [[Int: UInt64]] = []
    for (commit, offset) in Anatomy.commits(in: try #require(files["x-wal0"])) {
      let start = offset + WALCommitHeader.byteCount
      let bytes = try #require(files["x-wal0"])
      Bytes.with(Array(bytes[start..<start + commit.framesByteCount])) { frames in
        var reader = ByteReader(frames)
        var words: [Int: UInt64] = [:]
        for _ in 0..<commit.frameCount {
          guard let frame = PagePatch.nextFrame(&reader), frame.kind == .words else { continue }
          for (index, word) in WordsFrame.entries(frame) ?? [] { words[index] = word }
        }
        found.append(words)
      }
    }
    #expect(found.count == 6)
    #expect(found.first == [3: 300])
    #expect(found.dropFirst().dropLast().allSatisfy { $0.isEmpty })
    #expect(found.last == [3: 0, 23: 1])
  }

  /// Not a byte of them is there.
  @Test func aStoreWithoutWordsHasZerosInTheirPlaces() throws {
    let files = MemoryDirectory()
    let database = try open(files)
    for round in 1...12 {
      try Rounds.write(round, to: database)
      if round % 4 == 0 { try database.checkpoint() }
    }
    try database.close()
    let bytes = try #require(files["x"])
    for slot in 0..<2 {
      let start = MetaSlot.offset(of: slot)
      #expect(bytes[start + 16..<start + 40].allSatisfy { $0 == 0 })
      #expect(bytes[start + 188..<start + 504].allSatisfy { $0 == 0 })
    }
  }

  @Test(arguments: [0, 1]) func theOtherMetaSlotStandsIn(damaged: Int) throws {
    let specimen = try Specimen.withWords()
    let closed = specimen.files.copy()
    try Database(in: closed, name: Specimen.storeName, options: SpecimenMaker.options).close()
    for whole in [specimen.files, closed] {
      let files = whole.copy()
      var bytes = try #require(files[Specimen.storeName])
      bytes[MetaSlot.offset(of: damaged) + 190] ^= 1
      files[Specimen.storeName] = bytes
      let opened = try Database(
        in: files, name: Specimen.storeName, options: SpecimenMaker.options)
      #expect(try opened.state().contents == specimen.states[specimen.lastLSN])
    }
  }

  // MARK: Words alone

  @Test(arguments: [SyncLevel.full, .relaxed]) func wordsAloneAreACommit(level: SyncLevel) throws {
    let files = MemoryDirectory()
    var database = try open(files)
    var expected: Contents = [:]
    for round in 1...6 {
      try database.write(level) { $0.setWord(round * 3, to: UInt64(round) << 30) }
      expected[word: round * 3] = UInt64(round) << 30
      for seen in try [database, open(files.copy()), open(files, .readOnly)] {
        let (lsn, contents) = try seen.state()
        #expect(lsn == round && contents == expected)
      }
      if round == 2 { try database.checkpoint() }
      if round == 4 {
        try database.close()
        database = try open(files)
        #expect(try database.state().contents == expected)
      }
    }
    #expect(try database.findings() == [])
  }

  /// Nothing else would ever move them there.
  @Test(arguments: [false, true])
  func aCheckpointMovesWordsAloneToTheDataFile(isClosing: Bool) throws {
    let files = MemoryDirectory()
    let database = try open(files)
    try database.write { (source) throws(PageFileError) in try source.put([1], [1]) }
    try database.checkpoint()
    try database.write { $0.setWord(9, to: 4) }
    if isClosing { try database.close() } else { try database.checkpoint() }
    let metas = try metas(files)
    #expect(metas.count == 2)
    for meta in metas {
      #expect(meta.checkpointLSN == LSN(2) && meta.roots.words[9] == 4)
      #expect(meta.isClean == isClosing)
    }
    if isClosing { for name in Self.logNames { files[name] = nil } }
    #expect(try open(files.copy()).state().contents[word: 9] == 4)
  }

  /// A log that many commits of words have made long is moved like any other.
  @Test func commitsOfWordsAloneHaveTheLogTurned() throws {
    let files = MemoryDirectory()
    let database = try open(files)
    // Half of the greatest length, at 512 bytes each.
    let count = (4 << 20) / 512 + 10
    for number in 1...count {
      try database.write { $0.setWord(number % Words.count, to: UInt64(number)) }
    }
    database.runBackgroundWork()
    #expect(database.statistics.checkpointCount > 0)
    let contents = try database.state().contents
    try database.close()
    #expect(try open(files).state().contents == contents)
    #expect(contents[word: count % Words.count] == UInt64(count))
  }

  @Test func settingAWordToItsPresentValueChangesNothing() throws {
    let files = MemoryDirectory()
    let database = try open(files)
    try database.write(.full) { $0.setWord(3, to: 9) }
    let before = (["x"] + Self.logNames).map { files[$0] }
    try database.write(.full) { source in
      source.setWord(3, to: 9)
      source.setWord(4, to: 0)
    }
    #expect(try database.state().lsn == 1)
    let isUntouched = (["x"] + Self.logNames).map { files[$0] } == before
    #expect(isUntouched)
    // Set and set back, it does no harm.
    try database.write(.full) { source in
      source.setWord(3, to: 10)
      source.setWord(3, to: 9)
    }
    try database.write(.full) { $0.setWord(5, to: 1) }
    let expected = Contents(words: [3: 9, 5: 1])
    #expect(try open(files.copy()).state().contents == expected)
    #expect(try open(files, .readOnly).state().contents == expected)
  }

  @Test func aRollbackDropsWords() throws {
    let files = MemoryDirectory()
    let database = try open(files)
    try database.write { $0.setWord(1, to: 5) }
    let transaction = try database.beginWrite()
    let source = transaction.source
    source.setWord(1, to: 6)
    source.setWord(2, to: 7)
    #expect(source.word(1) == 6 && source.word(2) == 7)
    #expect(try database.state().contents == Contents(words: [1: 5]))
    transaction.rollback()
    #expect(try database.state().contents == Contents(words: [1: 5]))
    try database.write { source in
      #expect(source.word(1) == 5 && source.word(2) == 0)
      source.setWord(3, to: 8)
    }
    #expect(try database.state().contents == Contents(words: [1: 5, 3: 8]))
    #expect(try open(files.copy()).state().contents == Contents(words: [1: 5, 3: 8]))
  }

  // MARK: Readers, compactions, copies

  @Test func readersFollowWordsAndHeldSnapshotsKeepTheirs() throws {
    let files = MemoryDirectory()
    let database = try open(files)
    let first: Contents = [[0, 1]: [1]]
    try commit(first, over: [:], to: database)
    let reader = try open(files, .readOnly)
    #expect(try reader.state().contents == first)
    var second = first
    second[word: 0] = 1
    second[word: 20] = .max
    try commit(second, over: first, to: database)
    #expect(try reader.state().contents == second)
    let held = try reader.beginRead()
    let heldByOwner = try database.beginRead()
    try commit(first, over: second, to: database)
    #expect(try reader.state().contents == first)
    #expect(try Contents(held.source) == second)
    try database.checkpoint()
    #expect(try database.state().contents == first)
    #expect(try reader.state().contents == first)
    #expect(try Contents(heldByOwner.source) == second)
    let heldWords = [held.source.word(20), heldByOwner.source.word(20)]
    #expect(heldWords == [.max, .max])
  }

  @Test func compactionsAndCopiesKeepWords() throws {
    var random = SeededGenerator(printedFor: #function)
    let files = MemoryDirectory()
    let database = try open(files)
    var contents: Contents = [:]
    for _ in 0..<40 {
      let new = change(contents, &random)
      try commit(new, over: contents, to: database)
      contents = new
    }
    for tree in Self.trees { contents[[tree, 250]] = [tree] }
    for index in 0..<Words.count { contents[word: index] = UInt64(index + 1) &* 0x0101_0101_0101 }
    try commit(contents, over: [:], to: database)
    var compaction = Compaction()
    while try database.compact(&compaction) {}
    #expect(try database.state().contents == contents)
    #expect(try database.findings() == [])
    let copy = try open(MemoryDirectory())
    try copy.fill(from: try database.beginRead()) { _ in }
    #expect(try copy.state().contents == contents)
    // Words alone are copied, too.
    let wordsAlone = try open(MemoryDirectory())
    try commit(Contents(words: [2: 3, 22: 4]), over: [:], to: wordsAlone)
    let secondCopy = try open(MemoryDirectory())
    try secondCopy.fill(from: try wordsAlone.beginRead()) { _ in }
    #expect(try secondCopy.state().contents == Contents(words: [2: 3, 22: 4]))
  }
}
