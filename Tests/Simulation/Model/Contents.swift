import PageFile

/// What a store holds, known by hashes: of each key with its value, of each word, and of all
/// of them.
struct Contents: Sendable {
  /// By key; 0 for a key that is not there, and for a word that is 0.
  private var hashes = [UInt64](repeating: 0, count: Record.placeCount)
  /// The same for the same content, in whatever order it came about.
  private(set) var digest: UInt64 = 0

  subscript(key: Int) -> UInt64 {
    get { hashes[Record.place(of: key)] }
    set {
      let place = Record.place(of: key)
      digest = digest &- hashes[place] &+ newValue
      hashes[place] = newValue
    }
  }

  /// Some key that is there, or else a word that is not 0.
  var firstKey: Int? { hashes.firstIndex { $0 != 0 } }

  /// The digest of what a transaction sees.
  static func digest(of source: PageSource) throws(PageFileError) -> UInt64 {
    try source.enter()
    defer { source.leave() }
    var digest: UInt64 = 0
    var key = ByteBuffer(capacity: 512)
    var value = ByteBuffer(capacity: 16384)
    for tree in Record.trees {
      var cursor = Cursor(source, tree)
      var isAtCell = try cursor.first()
      while isAtCell {
        key.removeAll()
        value.removeAll()
        cursor.appendKey(to: &key)
        try cursor.appendValue(to: &value)
        digest &+= Record.contentHash(tree, key.bytes, value.bytes)
        isAtCell = try cursor.next()
      }
    }
    for index in 0..<Words.count {
      digest &+= Record.contentHash(word: source.word(index), index)
    }
    return digest
  }

  static func digest(of database: Database) throws(PageFileError) -> UInt64 {
    let transaction = try database.beginRead()
    return try digest(of: transaction.source)
  }
}

/// Every commit that was ever asked for, and how far the store has promised each of them.
///
/// After a crash a store has to hold the contents after some commit: no earlier one than the last it
/// has promised, no later one than the last that was attempted. Of a commit whose fate was told as
/// unknown, either is right; what is seen is what counts from then on.
package struct History: Sendable {
  /// Contents after each commit; first the empty store.
  private(set) var commits = [Contents()]
  /// The last commit that a power cut may not take back.
  private(set) var durable = 0
  /// The last commit that may not be lost as long as the power stays.
  private(set) var visible = 0
  /// How many values were ever written, so that no two are alike.
  var stamp: UInt64 = 0

  package init() {}

  var newest: Contents { commits[commits.count - 1] }
  var attempted: Int { commits.count - 1 }

  mutating func attempt(_ contents: Contents) { commits.append(contents) }

  /// The last attempt was given up before it had an effect.
  mutating func withdraw() { commits.removeLast() }

  /// All up to a commit was made durable.
  mutating func makeDurable(_ index: Int) {
    durable = max(durable, index)
    visible = max(visible, index)
  }

  /// The last attempt, and with it all before, was promised at a level.
  mutating func acknowledge(_ level: SyncLevel) {
    visible = attempted
    if level == .full { durable = attempted }
  }

  /// The last commit whose contents have this digest.
  func commit(with digest: UInt64) -> Int? {
    commits.indices.last { commits[$0].digest == digest }
  }

  /// Whether these may be the contents after a crash.
  func allows(_ digest: UInt64) -> Bool { (commit(with: digest) ?? -1) >= visible }

  /// What was not durable need not be there any more.
  var afterPowerCut: History {
    var history = self
    history.visible = durable
    return history
  }

  /// A disk that lies keeps no promise.
  var afterLies: History {
    var history = self
    history.visible = 0
    history.durable = 0
    return history
  }

  /// An opening has shown the contents after a commit: what came later is gone.
  ///
  /// What is there may be in the system's memory only, until something is written.
  mutating func adopt(_ index: Int) {
    commits.removeLast(commits.count - 1 - index)
    visible = index
    durable = min(durable, index)
  }
}
