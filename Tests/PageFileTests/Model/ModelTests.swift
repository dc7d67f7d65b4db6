import PageFile
import Simulation
import Testing

/// Random operations on the engine and on a dictionary, compared all along: through snapshots,
/// rollbacks, checkpoints, clean closes, and openings of copies that were never closed.
struct ModelTests {
  @Test(arguments: [4096, 8192], 0..<Scale.count(debug: 2, release: 6))
  func randomOperationsEqualTheModel(pageByteCount: Int, run: Int) throws {
    let seed = SeededGenerator.freshSeed()
    print("randomOperationsEqualTheModel seed \(seed)")
    var model = try EngineModel(seed: seed, pageByteCount: pageByteCount)
    for _ in 0..<250 { try model.step() }
    try model.finish()
  }
}

struct EngineModel {
  private var random: SeededGenerator
  private var directory = MemoryDirectory()
  private var database: Database
  private var options = DatabaseOptions()
  private var expected: [[UInt8]: [UInt8]] = [:]
  private let keyRange: Int

  init(seed: UInt64, pageByteCount: Int) throws {
    random = SeededGenerator(seed: seed)
    options.pageByteCount = pageByteCount
    options.cacheByteCount = Int.random(in: 0...3, using: &random) << 18
    keyRange = Int.random(in: 20...2000, using: &random)
    database = try Database(in: directory, name: "model", options: options)
  }

  mutating func step() throws {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<70: try write()
    case 70..<80: try readBesideWriter()
    case 80..<88: try database.checkpoint()
    case 88..<92: try reopenAfterClose()
    case 92..<96: try reopenCopy()
    default: try compare()
    }
  }

  private mutating func write() throws {
    let keepsChanges = Int.random(in: 0..<10, using: &random) > 0
    var changed = expected
    let transaction = try database.beginWrite()
    for _ in 0..<Int.random(in: 0...40, using: &random) {
      let key = randomKey()
      if Int.random(in: 0..<3, using: &random) > 0 {
        let value = randomValue()
        try transaction.source.put(key, value)
        changed[key] = value
      } else {
        try transaction.source.remove(key)
        changed[key] = nil
      }
    }
    if keepsChanges {
      _ = try transaction.commit(Bool.random(using: &random) ? .full : .relaxed)
      expected = changed
    } else {
      transaction.rollback()
    }
  }

  /// A snapshot shows what was there when it was taken, whatever happens after.
  private mutating func readBesideWriter() throws {
    let before = expected
    let reader = try database.beginRead()
    for _ in 0..<Int.random(in: 1...4, using: &random) { try write() }
    if Bool.random(using: &random) { try database.checkpoint() }
    var seen: [[UInt8]: [UInt8]]?
    do throws(PageFileError) {
      seen = try contents(of: reader.source)
    } catch {
      try #require(error == .snapshotExpired)
    }
    // Compared outside of the macro, which would print both sides.
    let isSame = seen?.hasSameBytes(as: before) ?? true
    try #require(isSame)
    try compare()
  }

  private mutating func reopenAfterClose() throws {
    try database.close()
    database = try Database(in: directory, name: "model", options: options)
    try compare()
  }

  /// What a killed process leaves behind: the files as they are, nothing closed.
  private mutating func reopenCopy() throws {
    let copy = directory.copy()
    directory = copy
    database = try Database(in: copy, name: "model", options: options)
    try compare()
    #expect(try database.findings() == [])
  }

  private func compare() throws {
    let isSame = try database.contents().hasSameBytes(as: expected)
    try #require(isSame)
    var readOnly = options
    readOnly.access = .readOnly
    let beside = try Database(in: directory, name: "model", options: readOnly)
    let isSameBeside = try beside.contents().hasSameBytes(as: expected)
    try #require(isSameBeside)
  }

  mutating func finish() throws {
    try compare()
    #expect(try database.findings() == [])
    try reopenAfterClose()
    #expect(try database.findings() == [])
  }

  private mutating func randomKey() -> [UInt8] {
    let number = Int.random(in: 0..<keyRange, using: &random)
    var key = [UInt8("k".utf8.first ?? 0), UInt8(number >> 8), UInt8(number & 255)]
    if number % 7 == 0 { key += [UInt8](repeating: UInt8(number % 251), count: number % 500) }
    return key
  }

  private mutating func randomValue() -> [UInt8] {
    let isLarge = Int.random(in: 0..<20, using: &random) == 0
    let count = Int.random(in: 0...(isLarge ? 20000 : 200), using: &random)
    return random.bytes(count)
  }
}
