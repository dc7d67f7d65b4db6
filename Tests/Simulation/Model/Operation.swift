package import PageFile

/// One thing a program does with a store.
///
/// Keys are numbers, and a value is told by its length and by how many were written before: so a
/// list of operations is all there is to know of a run. Keys beyond those of the trees are words.
package enum Operation: Sendable, Hashable {
  /// Within a write transaction, which is begun if there is none.
  case put(Int, byteCount: Int)
  case delete(Int)
  /// Many values of neighbouring keys at once, so that pages split.
  case fill(Range<Int>, byteCount: Int)
  /// The opposite, so that they merge.
  case clear(Range<Int>)
  /// Ends the transaction; without one, an empty one is committed.
  case commit(SyncLevel)
  case rollback
  case checkpoint
  /// A checkpoint during which another thread commits: before the n-th write or sync of the data file.
  case checkpointBeside(Int, SyncLevel)
  /// Makes the store as small as it gets, step by step.
  case compact
  /// Does what a thread would do while nobody asks for anything.
  case background
  /// Closes and opens again.
  case reopen
  /// Lets go of the files, with or without a checkpoint, and takes them up again.
  case suspend(checkpoints: Bool)
  case openReader
  /// Reads all that the reader sees, which has to be what was there when it was opened.
  case closeReader
  /// The process dies; the next one opens what is in the page cache.
  case kill
  /// The power goes; the next process finds what was synced and nothing else.
  case cutPower
}

/// Keys, values and words as the store sees them.
enum Record {
  /// The number of keys in trees; each number from here on stands for a word.
  static let keyCount = 96
  /// The number of all keys and words.
  static let placeCount = keyCount + Words.count
  static let trees = [0, 1].map(TreeNumber.init)

  static func tree(of key: Int) -> TreeNumber { trees[key % 2] }

  /// The word that a key stands for; nil for a key in a tree.
  static func word(of key: Int) -> Int? {
    key < keyCount ? nil : (key - keyCount) % Words.count
  }

  /// The one of all keys and words that a key stands for.
  static func place(of key: Int) -> Int { word(of: key).map { keyCount + $0 } ?? key }

  /// Some keys are long, so that pages get prefixes and separators of different lengths.
  static func key(_ key: Int) -> [UInt8] {
    let short = [UInt8(key % 3), UInt8(key)]
    return key % 7 == 0 ? short + [UInt8](repeating: UInt8(key), count: 40 + key) : short
  }

  /// Bytes that no other stamp gives.
  static func fill(_ buffer: inout ByteBuffer, byteCount: Int, stamp: UInt64) {
    buffer.removeAll()
    var random = SeededRandom(seed: stamp)
    while buffer.count < byteCount { buffer.append(littleEndian: random.next()) }
    buffer.truncate(to: byteCount)
  }

  static func contentHash(_ tree: TreeNumber, _ key: Bytes, _ value: Bytes) -> UInt64 {
    let seed = Checksum.of(key, seed: UInt64(tree.rawValue))
    return SeededRandom.mix(Checksum.of(value, seed: seed))
  }

  /// The same for a word; 0 for one that is 0.
  static func contentHash(word: UInt64, _ index: Int) -> UInt64 {
    word == 0 ? 0 : SeededRandom.mix(SeededRandom.mix(UInt64(index) + 1) ^ word)
  }
}
