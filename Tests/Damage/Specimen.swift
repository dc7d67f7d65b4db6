package import PageFile

/// A small store as some moment left it, and everything that is known about it.
///
/// It has a branch page, several leaves, overflow chains, a second tree, freed pages and free slots, so that
/// damage can strike each kind of structure.
package struct Specimen: Sendable {
  /// The data file's name; the WAL files' begin with it.
  package static let storeName = "store"
  package static let fileNames = ["store", "store-wal0", "store-wal1"]

  package let name: String
  /// To be copied, not to be changed.
  package let files: MemoryDirectory
  /// What each commit left, by its LSN.
  package let states: [Contents]
  /// The commits up to here are proven to have been durable by something in the files: none of them
  /// may be lost in silence.
  package let witnessedLSN: Int

  package var lastLSN: Int { states.count - 1 }

  /// The same history in other files, in which only what they themselves prove must not be missing.
  package func proven(by files: MemoryDirectory) -> Specimen {
    let witnessed = Anatomy.witnessedLSN(in: files)
    return Specimen(name, files, states, witnessed: min(witnessed, lastLSN))
  }

  package init(
    _ name: String, _ files: MemoryDirectory, _ states: [Contents], witnessed: Int? = nil
  ) {
    self.name = name
    self.files = files
    self.states = states
    witnessedLSN = witnessed ?? states.count - 1
  }
}

/// A store that grows by small commits, and what each of them left.
package final class SpecimenMaker {
  package private(set) var states: [Contents]
  package let database: Database
  private let hasWords: Bool

  package static var options: DatabaseOptions {
    var options = DatabaseOptions()
    options.pageByteCount = 4096
    // A thread for each of many thousand stores would take most of the time.
    options.backgroundWork = .caller
    return options
  }

  /// - Parameters:
  ///   - states: What the commits of a store that is there already have left.
  ///   - hasWords: True for commits that change words as well, or nothing else.
  package init(
    in directory: any StorageDirectory, after states: [Contents] = [[:]],
    hasWords: Bool = false
  ) throws(PageFileError) {
    self.states = states
    self.hasWords = hasWords
    database = try Database(in: directory, name: Specimen.storeName, options: Self.options)
  }

  /// Makes the next commit: number 1 fills the trees, the later ones change a little.
  package func commit(_ level: SyncLevel = .full) throws(PageFileError) {
    let old = states[states.count - 1]
    let number = states.count
    var new = Self.contents(after: old, commit: number)
    if hasWords {
      if number % 4 == 0 { new = old }
      Self.changeWords(&new, commit: number)
    }
    let transaction = try database.beginWrite()
    try new.write(over: old, to: transaction.source)
    _ = try transaction.commit(level)
    states.append(new)
  }

  package func commits(_ count: Int, _ level: SyncLevel = .full) throws(PageFileError) {
    for _ in 0..<count { try commit(level) }
  }

  private static func contents(after old: Contents, commit number: Int) -> Contents {
    var new = old
    let byte = UInt8(truncatingIfNeeded: number)
    if number == 1 {
      for key in 0..<90 { new[[0, 7, UInt8(key), 3]] = value(key, 40 + key * 37 % 100) }
      new[[0, 7, 20, 3]] = value(1, 9000)
      new[[0, 7, 41, 3]] = value(3, 6000)
      new[[0, 7, 60, 3]] = value(2, 5000)
      for key in 0..<5 { new[[1, UInt8(key)]] = value(key, 30) }
      return new
    }
    new[[0, 8, byte, 1]] = value(number, 90)
    new[[0, 7, byte &* 13 % 90, 3]] = nil
    new[[1, byte % 5]] = value(number, 20 + number % 40)
    if number % 4 == 0 { new[[0, 7, 20, 3]] = value(number, 4200 + number * 11) }
    if number % 5 == 0 { new[[0, 7, 60, 3]] = nil }
    if number % 5 == 2 { new[[0, 7, 60, 3]] = value(number, 4500) }
    return new
  }

  /// Word 0 changes with every commit, and word 23 begins and ends with every other one; the others
  /// keep what one commit has given them.
  private static func changeWords(_ contents: inout Contents, commit number: Int) {
    contents[word: 0] = UInt64(number) * 0x0101_0101
    contents[word: 1 + number % 22] = UInt64(number) << 50
    contents[word: 23] = number % 2 == 1 ? .max : 0
  }

  /// Bytes of which each says what it belongs to.
  private static func value(_ number: Int, _ byteCount: Int) -> [UInt8] {
    (0..<byteCount).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0 &* 7 &+ $0 / 251) }
  }
}
