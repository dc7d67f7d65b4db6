import PageFile
import Simulation
import Testing

/// The errors of keys and marks: each one is thrown, and leaves the files as they are.
struct KeyErrorTests {
  private let seals = SealSource(seed: 2)

  private func options(
    _ encryption: Encryption?, mark: LSN? = nil, readOnly: Bool = false
  ) -> DatabaseOptions {
    var options = DatabaseOptions()
    options.encryption = encryption
    options.mark = mark
    options.access = readOnly ? .readOnly : .readWrite
    return options
  }

  private func store(
    _ encryption: Encryption?, rounds: Int = 4, closed: Bool = true
  ) throws -> MemoryDirectory {
    let directory = MemoryDirectory()
    let database = try Database(in: directory, name: "x", options: options(encryption))
    for round in 1...rounds { try Rounds.write(round, to: database, .full) }
    if closed { try database.close() } else { try database.suspend(checkpoints: false) }
    return directory
  }

  private func expect(
    _ error: PageFileError, opening directory: MemoryDirectory, _ encryption: Encryption?,
    mark: LSN? = nil
  ) {
    let names = ["x", "x-wal0", "x-wal1"]
    let before = names.map { directory[$0] }
    for readOnly in [false, true] {
      #expect(throws: error) {
        try Database(
          in: directory, name: "x", options: options(encryption, mark: mark, readOnly: readOnly))
      }
    }
    let isUntouched = names.map { directory[$0] } == before
    #expect(isUntouched)
  }

  @Test(arguments: [false, true]) func aStoreOpensUnderItsKeyOnly(closed: Bool) throws {
    let directory = try store(seals.encryption, closed: closed)
    expect(.keyMissing(path: "memory:x"), opening: directory, nil)
    expect(.keyMissing(path: "memory:x"), opening: directory, Encryption { nil })
    // A key that cannot be read now is not one that is gone.
    let locked = PageFileError.deviceLocked(call: "SecItemCopyMatching", path: "key")
    expect(locked, opening: directory, Encryption { () throws(PageFileError) in throw locked })
    let other = SealSource(seed: 2, key: 9)
    expect(.wrongKey(path: "memory:x"), opening: directory, other.encryption)
    let database = try Database(in: directory, name: "x", options: options(seals.encryption))
    #expect(try Rounds.read(database) == 4)
  }

  @Test(arguments: [false, true]) func aPlainStoreIsNotTakenForAnEncryptedOne(closed: Bool) throws {
    let directory = try store(nil, closed: closed)
    expect(.notEncrypted(path: "memory:x"), opening: directory, seals.encryption)
    #expect(try Rounds.read(Database(in: directory, name: "x")) == 4)
  }

  @Test func aKeyThatCannotBeHadCreatesNoStore() throws {
    let directory = MemoryDirectory()
    expect(.keyMissing(path: "memory:x"), opening: directory, Encryption { nil })
    #expect(!directory.exists("x"))
  }

  @Test func theKeyIsAskedForAgainAtResume() throws {
    let asked = Locked(0)
    let isThere = Locked(true)
    let seals = seals
    let encryption = Encryption {
      asked.withLock { $0 += 1 }
      return isThere.withLock { $0 } ? seals.cipher : nil
    }
    let directory = MemoryDirectory()
    let database = try Database(in: directory, name: "x", options: options(encryption))
    try Rounds.write(1, to: database)
    #expect(asked.withLock { $0 } == 1)
    try database.suspend()
    isThere.withLock { $0 = false }
    #expect(throws: PageFileError.keyMissing(path: "memory:x")) { try database.resume() }
    isThere.withLock { $0 = true }
    try database.resume()
    #expect(asked.withLock { $0 } == 3)
    #expect(try Rounds.read(database) == 1)
  }

  /// One slot of another kind beside a whole one: the whole one counts, or the store is refused.
  @Test func aPlainSlotBesideASealedOneIsNotBelieved() throws {
    let plain = try store(nil, rounds: 9)
    let sealed = try store(seals.encryption)
    for index in 0..<2 {
      let directory = sealed.copy()
      var bytes = try #require(directory["x"])
      let range = MetaSlot.offset(of: index)..<MetaSlot.offset(of: index) + MetaSlot.byteCount
      bytes[range] = try #require(plain["x"])[range]
      directory["x"] = bytes
      expect(.keyMissing(path: "memory:x"), opening: directory, nil)
      let database = try Database(in: directory, name: "x", options: options(seals.encryption))
      #expect(try Rounds.read(database) == 4)
    }
  }

  /// The record of either slot or header opens the store.
  @Test func anyRecordOfTheKeyIsEnough() throws {
    let directory = try store(seals.encryption, closed: false)
    var bytes = try #require(directory["x"])
    // Slot 0 is lost, and the record of slot 1 is of another key: its checksum is made anew.
    for offset in 0..<512 { bytes[offset] = 0 }
    let start = MetaSlot.offset(of: 1)
    let isFound = try opens(directory, bytes)
    #expect(isFound, "slot 0 is zeros")
    for offset in start + 64..<start + 80 { bytes[offset] ^= 0x55 }
    let slot = start..<start + MetaSlot.byteCount
    bytes.replaceSubrange(slot, with: withChecksum(Array(bytes[slot])))
    // The headers of the log still give the data key, but the slot's clear bytes are not its own.
    directory["x"] = bytes
    expect(
      .corruptMeta(reason: "neither slot is readable"), opening: directory, seals.encryption)
    for name in ["x-wal0", "x-wal1"] {
      var log = try #require(directory[name])
      log[0] ^= 1
      directory[name] = log
    }
    expect(.wrongKey(path: "memory:x"), opening: directory, seals.encryption)
  }

  private func opens(_ directory: MemoryDirectory, _ bytes: [UInt8]) throws -> Bool {
    let copy = directory.copy()
    copy["x"] = bytes
    return try Rounds.read(Database(in: copy, name: "x", options: options(seals.encryption))) == 4
  }

  private func withChecksum(_ slot: [UInt8]) -> [UInt8] {
    Bytes.with(Array(slot[..<504])) { bytes in
      var buffer = ByteBuffer(capacity: 512)
      buffer.append(bytes)
      buffer.append(littleEndian: Checksum.of(bytes, seed: Checksum.seed(0x4D45_5441)))
      return buffer.bytes.array()
    }
  }

  // MARK: The mark

  @Test func theMarkIsTheLastDurableCommit() throws {
    let directory = MemoryDirectory()
    var database = try Database(in: directory, name: "x", options: options(seals.encryption))
    #expect(database.mark == .zero)
    try Rounds.write(1, to: database, .relaxed)
    #expect(database.mark == .zero, "a relaxed commit may vanish")
    try Rounds.write(2, to: database, .full)
    #expect(database.mark == LSN(2))
    try Rounds.write(3, to: database, .relaxed)
    #expect(database.mark == LSN(2))
    try database.checkpoint()
    #expect(database.mark == LSN(3))
    try database.close()
    database = try Database(in: directory, name: "x", options: options(seals.encryption))
    #expect(database.mark == LSN(3))
  }

  @Test func aLogThatWasFoundIsNoMark() throws {
    let directory = try store(seals.encryption, closed: false)
    let database = try Database(in: directory, name: "x", options: options(seals.encryption))
    #expect(database.mark == .zero, "its commits may be in the system's memory only")
    try Rounds.write(5, to: database, .full)
    #expect(database.mark == LSN(5))
  }

  @Test func aStoreBeforeTheMarkIsRefused() throws {
    let old = try store(seals.encryption, rounds: 3)
    expect(
      .rolledBack(found: LSN(3), expected: LSN(4)), opening: old, seals.encryption, mark: LSN(4))
    for mark in [LSN.zero, LSN(2), LSN(3)] {
      let database = try Database(
        in: old.copy(), name: "x", options: options(seals.encryption, mark: mark))
      #expect(try Rounds.read(database) == 3)
    }
  }

  @Test func aCutLogIsRefusedByTheMark() throws {
    let directory = try store(seals.encryption, rounds: 6, closed: false)
    let database = try Database(
      in: directory.copy(), name: "x", options: options(seals.encryption, mark: LSN(6)))
    #expect(try Rounds.read(database) == 6)
    for name in ["x-wal0", "x-wal1"] {
      var log = try #require(directory[name])
      for offset in 4096..<log.count { log[offset] = 0 }
      directory[name] = log
    }
    let cut = try Database(in: directory.copy(), name: "x", options: options(seals.encryption))
    #expect(try Rounds.read(cut) == 0)
    expect(
      .rolledBack(found: .zero, expected: LSN(6)), opening: directory, seals.encryption,
      mark: LSN(6))
  }

  @Test func noStoreAtAllIsRefusedByTheMark() throws {
    let directory = MemoryDirectory()
    #expect(throws: PageFileError.rolledBack(found: .zero, expected: LSN(1))) {
      try Database(in: directory, name: "x", options: options(seals.encryption, mark: LSN(1)))
    }
    #expect(!directory.exists("x") && !directory.exists("x-new"))
  }

  @Test func everyErrorHasASentence() {
    let errors: [PageFileError] = [
      .keyMissing(path: "p"), .wrongKey(path: "p"), .notEncrypted(path: "p"),
      .rolledBack(found: LSN(3), expected: LSN(7)),
    ]
    #expect(Set(errors.map(\.description)).count == errors.count)
    #expect(errors.allSatisfy { !$0.description.isEmpty })
  }
}
