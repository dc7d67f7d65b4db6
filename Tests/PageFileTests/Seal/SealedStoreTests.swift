import PageFile
import Simulation
import Testing

/// Encrypted stores through their whole life: each answer is that of a plain store.
struct SealedStoreTests {
  private let seals = SealSource(seed: 1)

  private func options(_ pageByteCount: Int = 4096) -> DatabaseOptions {
    var options = DatabaseOptions()
    options.pageByteCount = pageByteCount
    options.encryption = seals.encryption
    return options
  }

  @Test(arguments: PageSize.allowed)
  func roundsAreReadBackAfterEveryEnd(pageByteCount: Int) throws {
    let directory = MemoryDirectory()
    var database = try Database(in: directory, name: "x", options: options(pageByteCount))
    for round in 1..<30 {
      try Rounds.write(round, to: database, round % 3 == 0 ? .full : .relaxed)
      #expect(try Rounds.read(database) == round)
      switch round % 7 {
      case 1: try database.checkpoint()
      case 3:
        try database.close()
        database = try Database(in: directory, name: "x", options: options())
      case 5:
        try database.suspend(checkpoints: round % 2 == 0)
        try database.resume()
      default: break
      }
      #expect(try Rounds.read(database) == round)
      #expect(try database.findings() == [])
    }
    #expect(database.pageByteCount == pageByteCount)
  }

  @Test func everyMomentOfARunOpensAsAState() throws {
    let copies = Locked<[MemoryDirectory]>([])
    let directory = WatchedDirectory { files in copies.withLock { $0.append(files.copy()) } }
    var options = options()
    options.backgroundWork = .caller
    let database = try Database(in: directory, name: "x", options: options)
    for round in 1..<12 {
      try Rounds.write(round, to: database, .full)
      if round % 4 == 0 { try database.checkpoint() }
    }
    try database.close()
    var seen = 0
    for copy in copies.withLock({ $0 }) where copy.exists("x") {
      let database = try Database(in: copy, name: "x", options: options)
      let round = try Rounds.read(database)
      #expect(round >= seen)
      seen = max(seen, round)
      try Rounds.write(round + 1, to: database)
      #expect(try Rounds.read(database) == round + 1)
      #expect(try database.findings() == [])
    }
    #expect(seen == 11)
  }

  /// The last commit takes the place of the watermark, so its header is the only witness of the one
  /// before, and has to open behind it.
  @Test(arguments: [1, 40]) func aHeaderBehindABrokenChainIsAWitness(valueCount: Int) throws {
    let directory = MemoryDirectory()
    var options = options()
    options.backgroundWork = .caller
    let database = try Database(in: directory, name: "x", options: options)
    for (commit, level) in [(1, SyncLevel.full), (2, .full), (3, .relaxed)] {
      let transaction = try database.beginWrite()
      let source = transaction.source
      try source.enter()
      for key in 0..<valueCount {
        let value = [UInt8](repeating: UInt8(commit), count: 20)
        try Bytes.with(bigEndian(key)) { key throws(PageFileError) in
          try Bytes.with(value) { value throws(PageFileError) in
            _ = try BTree(source, TreeNumber(0)).insert(key, value)
          }
        }
      }
      source.leave()
      _ = try transaction.commit(level)
    }
    database.abandon()
    let name = try #require(["x-wal0", "x-wal1"].first { commits(directory[$0]).count >= 3 })
    var bytes = try #require(directory[name])
    let places = commits(bytes)
    bytes[places[places.count - 2] + 200] ^= 4
    // A watermark behind the last commit would be another witness; it is never synced by itself.
    let end = places[places.count - 1] + 512 * Int(bytes[places[places.count - 1] + 4])
    for offset in end..<min(end + 512, bytes.count) { bytes[offset] = 0 }
    directory[name] = bytes
    let error = #expect(throws: PageFileError.self) {
      try Database(in: directory, name: "x", options: options)
    }
    guard case .corruptWAL = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  /// Returns the places of the commits of a log.
  private func commits(_ log: [UInt8]?) -> [Int] {
    var places: [Int] = []
    var offset = 4096
    let log = log ?? []
    while offset + 512 <= log.count, Array(log[offset..<offset + 4]) == Array("CMT1".utf8) {
      places.append(offset)
      offset += 512 * (Int(log[offset + 4]) + Int(log[offset + 5]) << 8)
    }
    return places
  }

  @Test func aReaderBesideTheOwnerFollows() throws {
    let directory = MemoryDirectory()
    let database = try Database(in: directory, name: "x", options: options())
    try Rounds.write(1, to: database)
    var readOnly = options()
    readOnly.access = .readOnly
    let reader = try Database(in: directory, name: "x", options: readOnly)
    for round in 2..<20 {
      #expect(try Rounds.read(reader) == round - 1)
      try Rounds.write(round, to: database)
      #expect(try Rounds.read(reader) == round)
      if round % 5 == 0 { try database.checkpoint() }
    }
    #expect(try reader.findings() == [])
  }

  @Test func packingAndMovingLeaveTheSameContents() throws {
    let directory = MemoryDirectory()
    let database = try Database(in: directory, name: "x", options: options())
    for first in 0..<8 {
      try database.write { (source) throws(PageFileError) in
        for key in 0..<200 {
          try source.put(bigEndian(first * 200 + key), [UInt8](repeating: UInt8(key), count: 300))
        }
      }
    }
    try database.checkpoint()
    try database.write { (source) throws(PageFileError) in
      for key in 0..<1600 where key % 8 != 0 { try source.remove(bigEndian(key)) }
    }
    try database.checkpoint()
    let contents = try database.contents()
    let before = try #require(directory["x"]).count
    try database.compact()
    let isSame = try database.contents() == contents
    #expect(isSame)
    #expect(try database.findings() == [])
    #expect(try #require(directory["x"]).count < before)
    try database.close()
    let isKept = try Database(in: directory, name: "x", options: options()).contents() == contents
    #expect(isKept)
  }

  @Test func aCopyIsEncryptedUnderADataKeyOfItsOwn() throws {
    let directory = MemoryDirectory()
    let database = try Database(in: directory, name: "x", options: options())
    try Rounds.write(5, to: database)
    try database.backUp(to: directory, name: "copy")
    #expect(throws: PageFileError.keyMissing(path: "memory:copy")) {
      try Database(in: directory, name: "copy")
    }
    let copy = try Database(in: directory, name: "copy", options: options())
    #expect(try Rounds.read(copy) == 5)
    let (one, other) = (try #require(directory["x"]), try #require(directory["copy"]))
    #expect(one[40..<56] != other[40..<56], "store ids")
  }

  /// Copies between encrypted and plain: a crash leaves no copy, or a whole one.
  @Test(arguments: [false, true]) func aCopyOfTheOtherKindIsThereWhenItIsWhole(
    encrypts: Bool
  ) throws {
    let (plain, sealed) = (DatabaseOptions(), options())
    let (from, to) = encrypts ? (plain, sealed) : (sealed, plain)
    let database = try Database(in: MemoryDirectory(), name: "x", options: from)
    for round in 1...20 { try Rounds.write(round, to: database) }
    let copies = Locked<[MemoryDirectory]>([])
    let directory = WatchedDirectory { files in copies.withLock { $0.append(files.copy()) } }
    try database.backUp(to: directory, name: "copy", encryption: to.encryption)
    copies.withLock { $0.append(directory.copy()) }
    var wholeCount = 0
    for copy in copies.withLock({ $0 }) where copy.exists("copy") {
      wholeCount += 1
      #expect(throws: PageFileError.self) {
        try Database(in: copy.copy(), name: "copy", options: from)
      }
      let found = try Database(in: copy, name: "copy", options: to)
      #expect(try Rounds.read(found) == 20)
      #expect(try found.findings() == [])
    }
    #expect(wholeCount > 0)
    #expect(try Rounds.read(database) == 20)
  }

  @Test func erasedSlotsAreZeros() throws {
    let directory = MemoryDirectory()
    let database = try Database(in: directory, name: "x", options: options())
    try Rounds.write(3, to: database)
    try database.checkpoint()
    let before = try usedSlots(directory)
    try database.write { (source) throws(PageFileError) in
      source.isErasing = true
      try Rounds.write(4, to: source)
    }
    try database.checkpoint()
    let after = try usedSlots(directory)
    #expect(before.count > 3 && after.count > 3)
    #expect(before.isDisjoint(with: after), "every page was written anew, and its old slot erased")
    #expect(try Rounds.read(database) == 4)
  }

  private func usedSlots(_ directory: MemoryDirectory) throws -> Set<[UInt8]> {
    let bytes = try #require(directory["x"])
    let slots = stride(from: 32768, to: bytes.count, by: 4096).map { Array(bytes[$0..<$0 + 4096]) }
    return Set(slots.filter { $0.contains { $0 != 0 } })
  }

  @Test func theCheckAdvisesANewDataKeyInTime() throws {
    let directory = MemoryDirectory()
    try Rounds.write(1, to: Database(in: directory, name: "x", options: options()))
    let database = try Database(in: directory, name: "x", options: options())
    try database.close()
    var bytes = try #require(directory["x"])
    for index in 0..<2 {
      let slot = MetaSlot.offset(of: index)..<MetaSlot.offset(of: index) + MetaSlot.byteCount
      let sector = Array(bytes[slot])
      let record = Bytes.with(Array(sector[56..<140])) { KeyRecord($0) }
      let locked = Bytes.with(sector) { MetaSlot.read($0) }
      guard case .locked(let clear) = locked,
        case .unlocked(let keys) = StoreKeys.unlock(
          [record], of: clear.storeID, pageByteCount: 4096, under: seals.cipher),
        case .valid(let meta) = Bytes.with(sector, { MetaSlot.read($0, index: index, keys) })
      else {
        Issue.record("slot \(index) does not open")
        return
      }
      #expect(meta.sealCount > 5 && meta.sealCount < 1000)
      keys.countSeals(1 << 31)
      let encoded = meta.encode(keys, index: index)
      bytes.replaceSubrange(slot, with: encoded.bytes.array())
    }
    directory["x"] = bytes
    let advised = try Database(in: directory, name: "x", options: options())
    #expect(try Rounds.read(advised) == 1)
    #expect(try advised.findings().map(\.description).contains { $0.contains("data key") })
  }

  @Test func manyPagesReachHigherTables() throws {
    let directory = MemoryDirectory()
    let database = try Database(in: directory, name: "x", options: options())
    for first in 0..<6 {
      try database.write { (source) throws(PageFileError) in
        for key in 0..<500 {
          try source.put(bigEndian(first * 500 + key), [UInt8](repeating: 9, count: 1000 - key))
        }
      }
    }
    try database.close()
    let again = try Database(in: directory, name: "x", options: options())
    #expect(try again.contents().count == 3000)
    #expect(try again.findings() == [])
  }
}
