import PageFile
import Simulation
import Testing

/// Earlier bytes put back, by somebody who has kept all that was ever written and has no key.
///
/// The store is refused, a page is, or the state is that after some commit. It is never a mixture.
struct ReplayTests {
  private let seed = SeededGenerator.freshSeed()
  private let seals = SealSource(seed: 5)

  private var options: DatabaseOptions {
    var options = DatabaseOptions()
    options.encryption = seals.encryption
    options.backgroundWork = .caller
    return options
  }

  private static let names = ["x", "x-wal0", "x-wal1"]

  /// A sector or page at its place.
  private struct Unit: Hashable {
    let name: String
    let offset: Int
    let bytes: [UInt8]
  }

  /// Every version of every page and sector of a run, and the files at its end.
  private func run(closed: Bool) throws -> (units: [Unit], files: MemoryDirectory, rounds: Int) {
    let directory = RecordingDirectory()
    let database = try Database(in: directory, name: "x", options: options)
    let roundCount = 14
    for round in 1...roundCount {
      try Rounds.write(round, to: database, round % 2 == 0 ? .full : .relaxed)
      if round % 5 == 3 { try database.checkpoint() }
    }
    if closed { try database.close() } else { try database.suspend(checkpoints: false) }
    var units: Set<Unit> = []
    for write in directory.writes where Self.names.contains(write.name) {
      let step = write.name == "x" && write.offset >= 32768 ? 4096 : 512
      for start in stride(from: 0, to: write.bytes.count, by: step) {
        let bytes = Array(write.bytes[start..<min(start + step, write.bytes.count)])
        units.insert(Unit(name: write.name, offset: write.offset + start, bytes: bytes))
      }
    }
    let sorted = units.sorted {
      if $0.name != $1.name { return $0.name < $1.name }
      if $0.offset != $1.offset { return $0.offset < $1.offset }
      return $0.bytes.prefix(64).lexicographicallyPrecedes($1.bytes.prefix(64))
    }
    return (sorted, directory.files.copy(), roundCount)
  }

  private func put(_ unit: Unit, into files: inout [String: [UInt8]]) {
    let range = unit.offset..<unit.offset + unit.bytes.count
    guard var bytes = files[unit.name], range.upperBound <= bytes.count else { return }
    bytes.replaceSubrange(range, with: unit.bytes)
    files[unit.name] = bytes
  }

  /// Returns the round that the files show; nil if they are refused, at opening or at reading.
  private func round(_ files: [String: [UInt8]], mark: LSN? = nil) throws -> Int? {
    let directory = MemoryDirectory()
    for (name, bytes) in files { directory[name] = bytes }
    var options = options
    options.mark = mark
    do {
      let database = try Database(in: directory, name: "x", options: options)
      defer { database.abandon() }
      return try Rounds.read(database)
    } catch is PageFileError {
      return nil
    }
  }

  @Test(arguments: [false, true]) func oneUnitPutBackIsDamageOrAState(closed: Bool) throws {
    let (units, directory, roundCount) = try run(closed: closed)
    var now: [String: [UInt8]] = [:]
    for name in Self.names { now[name] = directory[name] }
    #expect(try round(now) == roundCount)
    var outcomes: [Int?: Int] = [:]
    for unit in units {
      var files = now
      put(unit, into: &files)
      if Self.names.allSatisfy({ (files[$0] ?? []).hasSameBytes(as: now[$0] ?? []) }) { continue }
      outcomes[try round(files), default: 0] += 1
    }
    print("closed \(closed): \(outcomes)")
    #expect(outcomes[nil] ?? 0 > 0)
  }

  @Test(arguments: [false, true]) func setsOfUnitsPutBackAreDamageOrAState(closed: Bool) throws {
    print("setsOfUnitsPutBackAreDamageOrAState seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let (units, directory, roundCount) = try run(closed: closed)
    var now: [String: [UInt8]] = [:]
    for name in Self.names { now[name] = directory[name] }
    var refusedCount = 0
    for _ in 0..<Scale.count(debug: 150, release: 1500) {
      var files = now
      for _ in 0...random.below(8) { put(units[random.below(units.count)], into: &files) }
      let marked = try round(files, mark: LSN(UInt64(roundCount)))
      #expect(marked == nil || marked == roundCount, "the mark lets no earlier state in")
      if try round(files) == nil { refusedCount += 1 }
    }
    #expect(refusedCount > 0)
  }

  /// Whole files, halves of files, and both slots from two moments of one store or of two branches
  /// of a copy.
  @Test func filesOfTwoMomentsAreDamageOrAState() throws {
    print("filesOfTwoMomentsAreDamageOrAState seed \(seed)")
    var random = SeededGenerator(seed: seed)
    var moments: [MemoryDirectory] = []
    let first = MemoryDirectory()
    for round in 1...6 {
      let database = try Database(in: first, name: "x", options: options)
      try Rounds.write(round, to: database, .full)
      if round % 2 == 0 { try database.close() } else { try database.suspend(checkpoints: false) }
      moments.append(first.copy())
    }
    for moment in [moments[1], moments[2]] {
      let branch = moment.copy()
      let database = try Database(in: branch, name: "x", options: options)
      for round in 7..<10 { try Rounds.write(round, to: database, .full) }
      try database.suspend(checkpoints: false)
      moments.append(branch)
    }
    var refusedCount = 0
    for _ in 0..<Scale.count(debug: 200, release: 2000) {
      var files: [String: [UInt8]] = [:]
      for name in Self.names {
        let (one, other) = (random.below(moments.count), random.below(moments.count))
        let head = moments[one][name] ?? []
        let tail = moments[other][name] ?? []
        let cut = random.below(3) == 0 ? random.below(head.count / 512 + 1) * 512 : head.count
        files[name] = Array(head[..<cut]) + tail.dropFirst(cut)
      }
      if try round(files) == nil { refusedCount += 1 }
    }
    #expect(refusedCount > 0)
  }
}
