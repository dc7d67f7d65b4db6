import Damage
import PageFile
import PageFileSalvage
import Testing

/// Words of damaged stores.
extension WordsTests {
  /// A store after two checkpoints, so that no log has its first commit any more, and with commits
  /// in the log of which one changes no word, and one nothing else.
  private func killed() throws -> (files: MemoryDirectory, states: [Contents]) {
    let files = MemoryDirectory()
    let database = try open(files)
    var states: [Contents] = []
    var contents = Contents(words: [0: 1, 5: 300, 8: .max])
    for tree in Self.trees { for key in 0..<30 { contents[[tree, UInt8(key)]] = [tree, 1] } }
    try commit(contents, over: [:], to: database)
    try database.checkpoint()
    try database.write(.full) { (source) throws(PageFileError) in try source.put([200], [1]) }
    contents[[0, 200]] = [1]
    try database.checkpoint()
    states.append(contents)
    for step in 1...6 {
      let old = contents
      if step != 5 { contents[[0, 1]] = [UInt8(step)] }
      if step != 3 { contents[word: 0] = UInt64(step) << 20 }
      if step == 2 { contents[word: 23] = 2 }
      if step == 4 { contents[word: 8] = 0 }
      try commit(contents, over: old, to: database)
      states.append(contents)
    }
    return (files.copy(), states)
  }

  /// Up to the commit that is damaged, all is as it was left.
  @Test func salvageCarriesWordsThroughTheLog() throws {
    let (intact, states) = try killed()
    for damaged in 0...6 {
      let files = intact.copy()
      let name = try #require(
        Self.logNames.first { files[$0].map { Anatomy.commits(in: $0).count } == 6 })
      let starts = Anatomy.commits(in: try #require(files[name])).map {
        $0.offset + WALCommitHeader.byteCount
      }
      if damaged < 6 { files.damage(name, starts[damaged]..<starts[damaged] + 2) }
      let salvage = try PageSalvage(in: files, name: "x")
      #expect(salvage.state() == states[damaged])
      #expect(salvage.report.lostPages.isEmpty)
      let areAllKnown = (0..<Words.count).allSatisfy { salvage.word($0) != nil }
      #expect(areAllKnown)
    }
  }

  /// Without meta slots only those words are known that a commit names; the others are not taken
  /// for 0.
  @Test func salvageWithoutMetaSlotsKnowsTheWordsThatCommitsName() throws {
    let (files, states) = try killed()
    for slot in 0..<2 { files.damageMetaSlot(slot) }
    let salvage = try PageSalvage(in: files, name: "x")
    for index in 0..<Words.count {
      let expected: UInt64? = [0, 8, 23].contains(index) ? states[6][word: index] : nil
      #expect(salvage.word(index) == expected, "word \(index)")
    }
    let keys = salvage.state().filter { $0.key[0] != Contents.wordByte }
    #expect(keys == states[6].filter { $0.key[0] != Contents.wordByte })
  }

  /// A word that is known is that of the last commit that could be read, whatever is damaged.
  @Test func knownWordsAreThoseOfTheSalvagedCommit() throws {
    let specimen = try Specimen.withWords()
    let phase = Int(SeededGenerator.freshSeed())
    var knownCount = 0
    Flips(specimen).forEach(maximumCount: 3, phase: phase) { files, flip in
      guard let salvage = try? PageSalvage(in: files, name: Specimen.storeName) else { return }
      let lsn = Int(salvage.report.lastLSN.rawValue)
      guard specimen.states.indices.contains(lsn) else {
        Issue.record("phase \(phase), \(flip): commit \(lsn)")
        return
      }
      for index in 0..<Words.count {
        guard let word = salvage.word(index) else { continue }
        knownCount += 1
        let isRight = word == specimen.states[lsn][word: index]
        #expect(isRight, "phase \(phase), \(flip): word \(index)")
      }
    }
    #expect(knownCount > 0)
  }
}

extension PageSalvage {
  /// Everything that can be read of all trees, and the words that are known.
  func state() -> Contents {
    var state: Contents = [:]
    for tree in 0..<Roots.maximumCount {
      for (key, value) in contents(of: tree) { state[[UInt8(tree)] + key] = value }
    }
    for index in 0..<Words.count { state[word: index] = word(index) ?? 0 }
    return state
  }
}
