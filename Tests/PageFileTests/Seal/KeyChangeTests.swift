import Damage
import PageFile
import Simulation
import Testing

/// Changing the app's key: a crash at any step leaves a store that one of the two keys opens.
struct KeyChangeTests {
  private static let path = "memory:x"
  private let former = SealSource(seed: 3, key: 1)
  private let new = SealSource(seed: 4, key: 2)

  /// The state of the store that a key is changed of.
  enum Start: CaseIterable {
    case inUse, checkpointed, closed, crashed, never
  }

  private func options(_ seals: SealSource, readOnly: Bool = false) -> DatabaseOptions {
    var options = DatabaseOptions()
    options.encryption = seals.encryption
    options.access = readOnly ? .readOnly : .readWrite
    options.backgroundWork = .caller
    return options
  }

  private func open(_ directory: any StorageDirectory, _ seals: SealSource) throws -> Database {
    try Database(in: directory, name: "x", options: options(seals))
  }

  private func started(_ start: Start, in directory: WatchedDirectory) throws -> Database {
    let database = try open(directory, former)
    if start == .never { return database }
    for round in 1...3 { try Rounds.write(round, to: database, .full) }
    switch start {
    case .checkpointed: try database.checkpoint()
    case .closed:
      try database.close()
      return try open(directory, former)
    case .crashed:
      database.abandon()
      return try open(directory, former)
    case .inUse, .never: break
    }
    return database
  }

  private func round(_ start: Start) -> Int { start == .never ? 0 : 3 }

  /// The files before each change that the call makes, and after the last one.
  private func moments(_ start: Start) throws -> [MemoryDirectory] {
    let copies = Locked<[MemoryDirectory]>([])
    let isWatched = Locked(false)
    let directory = WatchedDirectory { files in
      if isWatched.withLock({ $0 }) { copies.withLock { $0.append(files.copy()) } }
    }
    let database = try started(start, in: directory)
    isWatched.withLock { $0 = true }
    try database.changeKey(to: new.encryption)
    isWatched.withLock { $0 = false }
    copies.withLock { $0.append(directory.copy()) }
    database.abandon()
    return copies.withLock { $0 }
  }

  @Test(arguments: Start.allCases) func aCrashAtAnyStepLeavesAKeyThatOpens(_ start: Start) throws {
    let moments = try moments(start)
    var opened: [Set<Int>] = []
    for (index, moment) in moments.enumerated() {
      var keys: Set<Int> = []
      for (key, seals) in [former, new].enumerated() {
        let copy = moment.copy()
        let database: Database
        do {
          database = try open(copy, seals)
        } catch {
          #expect(error as? PageFileError == .wrongKey(path: Self.path))
          continue
        }
        keys.insert(key)
        let round = round(start)
        #expect(try Rounds.read(database) == round)
        try Rounds.write(round + 1, to: database, .full)
        database.abandon()
        let again = try open(copy, seals)
        #expect(try Rounds.read(again) == round + 1)
        #expect(try again.findings() == [])
        // Whatever was left half done is finished by another call.
        try again.changeKey(to: new.encryption)
        again.abandon()
        #expect(throws: PageFileError.wrongKey(path: Self.path)) { try open(copy, former) }
        #expect(try Rounds.read(open(copy, new)) == round + 1)
      }
      #expect(!keys.isEmpty, "moment \(index)")
      opened.append(keys)
    }
    #expect(opened.first == [0])
    #expect(opened.last == [1])
    #expect(opened.contains([0, 1]))
    let isInOrder = zip(opened, opened.dropFirst()).allSatisfy { before, after in
      (before.contains(1) ? after.contains(1) : true)
        && (before.contains(0) ? true : !after.contains(0))
    }
    #expect(isInOrder, "\(opened)")
  }

  /// Damage to a slot at any step: the other one gives the state, or an error.
  @Test(arguments: Start.allCases) func eitherSlotMayBeDamagedMeanwhile(_ start: Start) throws {
    let moments = try moments(start)
    for (index, moment) in moments.enumerated() {
      for slot in 0..<2 {
        for offset in [0, 60, 200, 505] {
          let damaged = moment.copy()
          var bytes = try #require(damaged["x"])
          bytes[MetaSlot.offset(of: slot) + offset] ^= 0x10
          damaged["x"] = bytes
          var openedCount = 0
          for seals in [former, new] {
            let copy = damaged.copy()
            guard let database = try? open(copy, seals) else { continue }
            openedCount += 1
            let round = round(start)
            #expect(try Rounds.read(database) == round, "moment \(index)")
            try Rounds.write(round + 1, to: database, .full)
            database.abandon()
            #expect(try Rounds.read(open(copy, seals)) == round + 1)
          }
          #expect(openedCount > 0, "moment \(index), slot \(slot), byte \(offset)")
        }
      }
    }
  }

  /// A call of the system's that fails, at any step: the open store goes on, and a retry succeeds.
  @Test func aFailingCallAtAnyStepLosesNothing() throws {
    var failureCount = 0
    for failing in 0..<200 {
      let left = Locked<Int?>(nil)
      let directory = HookedDirectory { (call, _) throws(PageFileError) in
        guard call.isChange || call.kind == .sync else { return }
        let isFailing = left.withLock { left in
          guard let count = left else { return false }
          left = count - 1
          return count == 0
        }
        if isFailing { throw .ioError(call: "call", errno: 5, path: call.name) }
      }
      let database = try open(directory, former)
      for round in 1...3 { try Rounds.write(round, to: database, .full) }
      left.withLock { $0 = failing }
      var hasFailed = false
      do { try database.changeKey(to: new.encryption) } catch { hasFailed = true }
      left.withLock { $0 = nil }
      try database.resume()
      #expect(try Rounds.read(database) == 3, "call \(failing)")
      try Rounds.write(4, to: database, .full)
      try database.changeKey(to: new.encryption)
      try Rounds.write(5, to: database, .full)
      database.abandon()
      #expect(throws: PageFileError.wrongKey(path: Self.path)) { try open(directory, former) }
      #expect(try Rounds.read(open(directory, new)) == 5, "call \(failing)")
      if !hasFailed { break }
      failureCount += 1
    }
    #expect(failureCount > 5)
  }

  @Test func theOpenStoreGoesOnUnderTheNewKey() throws {
    let directory = MemoryDirectory()
    let database = try open(directory, former)
    try Rounds.write(1, to: database)
    let reader = try Database(in: directory, name: "x", options: options(former, readOnly: true))
    let before = try database.beginRead()
    try database.changeKey(to: new.encryption)
    let isKept = try contents(of: before.source) == Rounds.contents(after: 1)
    #expect(isKept)
    #expect(try Rounds.read(reader) == 1, "a reader beside the owner has the data key")
    for round in 2..<12 {
      try Rounds.write(round, to: database, .full)
      #expect(try Rounds.read(reader) == round)
      if round % 4 == 0 { try database.checkpoint() }
      if round % 5 == 0 {
        try database.suspend(checkpoints: round % 2 == 0)
        try database.resume()
      }
    }
    try database.backUp(to: directory, name: "copy")
    #expect(throws: PageFileError.wrongKey(path: "memory:copy")) {
      try Database(in: directory, name: "copy", options: options(former))
    }
    #expect(try Rounds.read(Database(in: directory, name: "copy", options: options(new))) == 11)
    try database.close()
    #expect(throws: PageFileError.wrongKey(path: Self.path)) { try open(directory, former) }
    let again = try open(directory, new)
    #expect(try Rounds.read(again) == 11)
    #expect(try again.findings() == [])
  }

  /// Every place has the new record when the call returns, also after it was made twice.
  @Test func noRecordOfTheFormerKeyIsLeft() throws {
    let directory = MemoryDirectory()
    let database = try open(directory, former)
    try Rounds.write(1, to: database, .full)
    func records() throws -> [[UInt8]] {
      let data = try #require(directory["x"])
      let slots = (0..<2).map { MetaSlot.offset(of: $0) + 56 }.map { Array(data[$0..<$0 + 84]) }
      let headers = try ["x-wal0", "x-wal1"].map { name in
        Array(try #require(directory[name])[32..<116])
      }
      return slots + headers
    }
    let formerRecords = Set(try records())
    #expect(formerRecords.count == 1)
    for _ in 0..<2 {
      try database.changeKey(to: new.encryption)
      #expect(Set(try records()).count == 1)
      #expect(formerRecords.isDisjoint(with: try records()))
    }
    // The number of the key tells how often it was changed.
    #expect(try records()[0][4..<8] == [3, 0, 0, 0])
  }

  @Test func aChangeThatCannotBeMadeChangesNothing() throws {
    let plain = MemoryDirectory()
    let plainDatabase = try Database(in: plain, name: "x")
    #expect(throws: PageFileError.notEncrypted(path: Self.path)) {
      try plainDatabase.changeKey(to: new.encryption)
    }
    let directory = MemoryDirectory()
    let isThere = Locked(true)
    let former = former
    var given = options(former)
    given.encryption = Encryption { isThere.withLock { $0 } ? former.cipher : nil }
    let database = try Database(in: directory, name: "x", options: given)
    try Rounds.write(1, to: database, .full)
    let names = ["x", "x-wal0", "x-wal1"]
    let before = names.map { directory[$0] }
    #expect(throws: PageFileError.keyMissing(path: Self.path)) {
      try database.changeKey(to: Encryption { nil })
    }
    let short = PageFileError.invalidKey(byteCount: 31)
    #expect(throws: short) {
      try database.changeKey(to: Encryption { () throws(PageFileError) in throw short })
    }
    isThere.withLock { $0 = false }
    #expect(throws: PageFileError.keyMissing(path: Self.path)) {
      try database.changeKey(to: new.encryption)
    }
    isThere.withLock { $0 = true }
    let transaction = try database.beginWrite()
    #expect(throws: PageFileError.insideTransaction(call: "changeKey")) {
      try database.changeKey(to: new.encryption)
    }
    transaction.rollback()
    let reader = try Database(in: directory, name: "x", options: options(former, readOnly: true))
    #expect(throws: PageFileError.readOnly(reason: "opened for reading only")) {
      try reader.changeKey(to: new.encryption)
    }
    let isUntouched = names.map { directory[$0] } == before
    #expect(isUntouched)
    try database.close()
    #expect(throws: PageFileError.closed) { try database.changeKey(to: new.encryption) }
    #expect(try Rounds.read(open(directory, former)) == 1)
  }
}
