import PageFile
import Simulation

/// Commits of which each writes its number under every key: a mix of two shows at once.
///
/// Rounds differ in how many keys there are and how long values are, so pages split and merge, and
/// overflow chains come and go.
enum Rounds {
  /// What the store holds after a round.
  ///
  /// Round 0 is the empty store.
  static func contents(after round: Int) -> [[UInt8]: [UInt8]] {
    if round == 0 { return [:] }
    var contents: [[UInt8]: [UInt8]] = [:]
    for key in 0..<keyCount(round) { contents[[1, UInt8(key)]] = value(round, key) }
    return contents
  }

  private static func keyCount(_ round: Int) -> Int { 10 + round * 17 % 40 }

  private static func value(_ round: Int, _ key: Int) -> [UInt8] {
    let isLong = (round + key) % 13 == 0
    let byteCount = isLong ? 5000 : 20 + (round * 31 + key * 7) % 300
    return [UInt8(round >> 8), UInt8(round & 255)]
      + [UInt8](repeating: UInt8(key), count: byteCount)
  }

  static func write(
    _ round: Int, to database: Database, _ level: SyncLevel = .relaxed
  ) throws(PageFileError) {
    try database.write(level) { (source) throws(PageFileError) in try write(round, to: source) }
  }

  static func write(_ round: Int, to source: PageSource) throws(PageFileError) {
    for key in 0..<keyCount(round) { try source.put([1, UInt8(key)], value(round, key)) }
    for key in keyCount(round)..<50 { try source.remove([1, UInt8(key)]) }
  }

  /// The round whose commit is the last one seen.
  ///
  /// Throws when what is seen is no round's.
  static func read(_ database: Database) throws -> Int {
    try round(of: database.contents())
  }

  static func round(of seen: [[UInt8]: [UInt8]]) throws -> Int {
    let round = seen.first.map { Int($0.value[0]) << 8 | Int($0.value[1]) } ?? 0
    guard seen.hasSameBytes(as: contents(after: round)) else { throw Mixed(round: round) }
    return round
  }

  struct Mixed: Error {
    let round: Int
  }
}
