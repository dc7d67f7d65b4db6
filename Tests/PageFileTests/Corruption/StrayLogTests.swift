import Damage
import PageFile
import Simulation
import Testing

/// WAL files of another store, of another life of this one, of an older copy: never applied, and what they
/// take the place of is missed.
struct StrayLogTests {
  private let logNames = Array(Specimen.fileNames.dropFirst())

  /// The verdict on files put together from several moments or stores.
  private func expectNoHarm(
    _ specimen: Specimen, _ files: MemoryDirectory, _ what: String
  ) -> Judge.Outcome {
    let verdict = Judge(specimen.proven(by: files)).verdict(files)
    #expect(verdict.outcome != .harm, "\(what): \(verdict.sentence)")
    return verdict.outcome
  }

  /// All pairs of stores with the same pages, LSNs and counters: one or both logs of one beside the data
  /// file of the other.
  @Test func theLogOfAnotherStoreIsRefused() throws {
    let stores = try (0..<Scale.count(debug: 4, release: 8)).map { _ in try Specimen.inUse() }
    for one in stores.indices {
      for other in stores.indices where other != one {
        for names in [logNames, [logNames[0]], [logNames[1]]] {
          let files = stores[one].files.copy()
          for name in names { files[name] = stores[other].files[name] }
          let verdict = Judge(stores[one]) { error in
            if case .walMismatch = error { true } else { false }
          }.verdict(files)
          #expect(verdict.outcome == .refused, "\(names): \(verdict)")
        }
      }
    }
    let closed = try Specimen.closed()
    let files = closed.files.copy()
    for name in logNames { files[name] = stores[0].files[name] }
    // It needs no log, but its first write would overwrite those of a store that may.
    #expect(Judge(closed).verdict(files).outcome == .refused)
    for name in logNames { files[name] = nil }
    #expect(Judge(closed).verdict(files).outcome == .harmless)
  }

  /// Every WAL file as it was in every generation, alone and in all pairs, beside the data file at the end.
  @Test func aLogOfAnEarlierLifeIsNeverApplied() throws {
    let lives = Locked<[String: [[UInt8]]]>([:])
    let directory = HookedDirectory { (call, files) throws(PageFileError) in
      // Before its header is written, a WAL file is as full as its life made it.
      guard call.kind == .write, call.offset == 0, let bytes = files[call.name] else { return }
      lives.withLock { $0[call.name, default: []].append(bytes) }
    }
    let maker = try SpecimenMaker(in: directory)
    for _ in 0..<5 {
      try maker.commits(2)
      try maker.database.checkpoint()
    }
    try maker.commits(3)
    let inUse = Specimen("in use", directory.files.copy(), maker.states)
    try maker.database.close()
    let closed = Specimen("closed", directory.files.copy(), maker.states)
    let history = lives.withLock { $0 }
    var refusedCount = 0
    for specimen in [inUse, closed] {
      for first in (history[logNames[0]] ?? []) + [specimen.files[logNames[0]]] {
        for second in (history[logNames[1]] ?? []) + [specimen.files[logNames[1]]] {
          let files = specimen.files.copy()
          files[logNames[0]] = first
          files[logNames[1]] = second
          if expectNoHarm(specimen, files, specimen.name) == .refused { refusedCount += 1 }
        }
      }
    }
    #expect(refusedCount > 10)
  }

  /// Part of the files comes from an older backup, all seven parts, between moments of all kinds.
  @Test func anyPartOfAnOlderBackupGivesAStateThatWasOrIsRefused() throws {
    let moments = Locked<[MemoryDirectory]>([])
    let directory = HookedDirectory { (call, files) throws(PageFileError) in
      if call.isChange { moments.withLock { $0.append(files.copy()) } }
    }
    let maker = try SpecimenMaker(in: directory)
    try maker.commits(3)
    try maker.database.checkpoint()
    try maker.commits(2)
    try maker.database.close()
    let again = try SpecimenMaker(in: directory, after: maker.states)
    try again.commits(2)
    try again.database.checkpoint()
    try again.commits(2)
    let copies = moments.withLock { $0 } + [directory.files.copy()]
    // Every moment is a state the files were in; which commits they prove is in the files.
    let history = Specimen("backup", directory.files.copy(), again.states)
    var random = SeededGenerator()
    var openedCount = 0
    for (index, newer) in copies.enumerated() where newer.exists(Specimen.storeName) {
      for older in copies[..<index]
      where random.below(Scale.count(debug: 40, release: 12)) == 0 {
        for part in 1..<8 {
          let files = newer.copy()
          for (bit, name) in Specimen.fileNames.enumerated() where part >> bit & 1 == 1 {
            files[name] = older[name]
          }
          guard files.exists(Specimen.storeName) else { continue }
          let outcome = expectNoHarm(history, files, "part \(part) of an older backup")
          if outcome != .refused { openedCount += 1 }
        }
      }
    }
    #expect(openedCount > 0)
  }

  /// The data file of an opening that began no log yet, beside the logs of a later opening, in which no
  /// commit says what is missing.
  @Test func anOpeningIsNotBelievedBesideALaterLog() throws {
    let first = MemoryDirectory()
    let killed = try Database(in: first, name: "x", options: smallPages)
    try Rounds.write(1, to: killed)
    let staged = StagedDirectory(first.copy())
    let early = Locked<MemoryDirectory?>(nil)
    staged.once { call in
      call.kind == .write && call.name.hasPrefix("x-wal") && call.offset == 0
    } _: {
      early.withLock { $0 = staged.files.copy() }
    }
    let killedLater = try Database(in: staged, name: "x", options: smallPages)
    try Rounds.write(2, to: killedLater, .full)
    let opened = try #require(early.withLock { $0 })
    #expect(try Rounds.read(Database(in: opened.copy(), name: "x")) == 1)

    let later = staged.files.copy()
    let opening = try Database(in: later, name: "x", options: smallPages)
    try opening.checkpoint()
    let mixed = later.copy()
    #expect(try Rounds.read(opening) == 2)
    mixed["x"] = opened["x"]
    #expect {
      try Database(in: mixed, name: "x", options: smallPages)
    } throws: { error in
      if case PageFileError.walMismatch = error { true } else { false }
    }
  }
}
