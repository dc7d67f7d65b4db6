import PageFile
import Simulation
import Testing

/// Any one byte of an encrypted store changed: an error, or all that was committed.
///
/// Every commit was durable, and a witness behind it says so.
struct SealedFlipTests {
  private let seed = SeededGenerator.freshSeed()
  private let seals = SealSource(seed: 6)

  @Test(arguments: [false, true]) func aFlippedByteIsAnErrorOrDoesNotMatter(closed: Bool) throws {
    print("aFlippedByteIsAnErrorOrDoesNotMatter seed \(seed)")
    var random = SeededGenerator(seed: seed)
    var options = DatabaseOptions()
    options.encryption = seals.encryption
    options.backgroundWork = .caller
    let directory = MemoryDirectory()
    let database = try Database(in: directory, name: "x", options: options)
    for round in 1...9 {
      try Rounds.write(round, to: database, .full)
      if round == 6 { try database.checkpoint() }
    }
    if closed { try database.close() } else { database.abandon() }
    let names = ["x", "x-wal0", "x-wal1"]
    var places: [(name: String, offset: Int)] = []
    for name in names {
      let bytes = try #require(directory[name])
      for offset in bytes.indices where bytes[offset] != 0 || offset < 512 || offset % 512 == 511 {
        places.append((name, offset))
      }
    }
    var errorCount = 0
    for _ in 0..<Scale.count(debug: 400, release: 8000) {
      let (name, offset) = places[random.below(places.count)]
      let copy = directory.copy()
      var bytes = try #require(copy[name])
      bytes[offset] ^= UInt8(1 << random.below(8))
      copy[name] = bytes
      do {
        let database = try Database(in: copy, name: "x", options: options)
        defer { database.abandon() }
        let round = try Rounds.read(database)
        #expect(round == 9, "byte \(offset) of \(name)")
      } catch let error as PageFileError {
        // Nothing that a flip can do looks like a key that does not fit.
        switch error {
        case .wrongKey, .keyMissing, .notEncrypted, .rolledBack:
          Issue.record("byte \(offset) of \(name): \(error)")
        default: errorCount += 1
        }
      }
    }
    print("closed \(closed): \(errorCount) errors")
    #expect(errorCount > 0)
  }
}
