import PageFile

/// A program that uses one store on a simulated disk, and knows at every moment what it has been
/// promised.
///
/// It plays operations, compares each answer with the history, and goes on through kills and power
/// cuts. Where calls are made to fail it does what a program would: it tries again, or opens anew.
package final class Player {
  package let setting: StoreSetting
  package private(set) var directory: SimulatedDirectory
  package internal(set) var history: History
  package internal(set) var counts = PlayCounts()
  /// How many calls had been made to fail when the store was opened last.
  private var faultCountAtOpening = 0
  /// Whether tree pages are counted after each commit.
  var countsPages = false

  /// Gets the disk before each call that changes it.
  var observer: (SimulatedDisk, _ faultCount: Int) -> Void = { _, _ in } {
    didSet { directory.observe(observer) }
  }

  var database: Database?
  var transaction: OpenTransaction?
  var readers: [OpenReader] = []
  private var value = ByteBuffer(capacity: 16384)
  private var violation: Violation?
  /// A commit has ended as unknown, and nobody has looked yet what is there.
  var isUnknown = false
  /// The commit that the last opening has shown, until something is written; and whether the log had
  /// pages then.
  var foundIndex: Int?
  private var hasLog = false
  /// Whether a commit has succeeded since the store was opened.
  var hasRoomBeforehand = false

  /// A write transaction with what it will have made of the store.
  final class OpenTransaction {
    private var transaction: WriteTransaction?
    let source: PageSource
    var contents: Contents

    init(_ transaction: consuming WriteTransaction, on contents: Contents) {
      source = transaction.source
      self.contents = contents
      self.transaction = consume transaction
    }

    func useReserve() { source.usesReserve = true }

    func commit(_ level: SyncLevel) throws(PageFileError) {
      if let transaction = transaction.take() { _ = try transaction.commit(level) }
    }
  }

  /// A transaction kept open, with the digest of what it has to see.
  final class OpenReader {
    let transaction: ReadTransaction
    let digest: UInt64

    init(_ transaction: consuming ReadTransaction, _ digest: UInt64) {
      self.transaction = transaction
      self.digest = digest
    }
  }

  package init(
    _ disk: SimulatedDisk, _ history: History, _ setting: StoreSetting, _ trouble: Trouble? = nil
  ) {
    self.setting = setting
    self.history = history
    directory = SimulatedDirectory(disk, setting.profile)
    directory.set(trouble)
  }

  deinit { die() }

  /// What the process had in memory is gone, and nothing of it reaches the disk any more.
  package func die() {
    counts.add(directory.counts)
    directory.die()
    transaction = nil
    // Closing would try to write; this lets go at once.
    try? database?.suspend(checkpoints: false)
    dropStore()
  }

  func dropStore() {
    if let database { counts.checkpointCount += database.statistics.checkpointCount }
    readers = []
    transaction = nil
    database = nil
  }

  /// The next process finds what a crash has left.
  func restart(_ disk: SimulatedDisk, _ history: History) {
    die()
    self.history = history
    faultCountAtOpening = 0
    directory = SimulatedDirectory(disk, setting.profile)
    directory.observe(observer)
  }

  // MARK: Opening and comparing

  /// Opens the store, which has to show the last commit that was promised or a later one.
  package func open() throws(Violation) {
    try show { () throws(PageFileError) in
      try Database(in: directory, name: "s", options: options)
    }
  }

  /// Takes the store up in some way, and sees what it shows.
  func show(_ open: () throws(PageFileError) -> Database) throws(Violation) {
    history = historyAfterTroubles
    faultCountAtOpening = directory.faultCount
    hasRoomBeforehand = false
    do throws(PageFileError) {
      let opened = try open()
      let digest = try Contents.digest(of: opened)
      if let index = history.commit(with: digest) {
        if index < history.visible {
          note(
            .lostCommit,
            "commit \(index) of \(history.attempted) and \(history.visible) was promised")
        }
        history.adopt(index)
        database = opened
        foundIndex = index
        hasLog = opened.statistics.loggedPageCount > 0
      } else {
        note(
          .noCommit, "no commit left this; \(history.visible) of \(history.attempted) was promised")
      }
    } catch {
      dropStore()
      meet(error, .notReadable, "opening")
    }
    try throwNoted()
  }

  private var options: DatabaseOptions {
    var options = DatabaseOptions()
    options.pageByteCount = setting.pageByteCount
    options.cacheByteCount = setting.cacheByteCount
    options.backgroundWork = .caller
    options.encryption = setting.seals?.encryption
    let directory = directory
    options.random = { directory.draw() }
    return options
  }

  /// Whether the last opening has succeeded.
  var isOpen: Bool { database != nil }

  /// What is read is what was committed last, and every page is where it belongs.
  package func compare(checkingPages: Bool = true) throws(Violation) {
    guard let database else { return }
    do throws(PageFileError) {
      if try Contents.digest(of: database) != history.newest.digest {
        note(.wrongAnswer, "not what commit \(history.attempted) has left")
      }
      if checkingPages {
        var finding: String?
        try database.check { if finding == nil { finding = "\($0)" } }
        // A page that cannot be read because somebody makes reads fail is a finding, too.
        if let finding, !hasFault { note(.finding, finding) }
      }
    } catch {
      meet(error, .notReadable, "reading")
    }
    try throwNoted()
  }

  // MARK: What goes wrong

  /// Whether some call was made to fail since the store was opened, or while it was.
  var hasFault: Bool { isAfterOpening(directory.faultCount) }

  func isAfterOpening(_ faultCount: Int) -> Bool { faultCount > faultCountAtOpening }

  /// What the next opening has to show: after a failed sync, or a loss that no sync has told of yet,
  /// nothing is promised but what was durable before.
  var historyAfterTroubles: History { hasFault ? history.afterPowerCut : history }

  func note(_ kind: Violation.Kind, _ detail: String) {
    if violation == nil { violation = Violation(kind, detail) }
  }

  func throwNoted() throws(Violation) {
    if let misuse = directory.misuse { note(.misuse, misuse) }
    if let violation { throw violation }
  }

  /// An error is a broken promise unless somebody makes calls fail.
  func meet(_ error: PageFileError, _ kind: Violation.Kind, _ what: String) {
    if !hasFault { note(kind, "\(what) threw \(error)") }
  }

  // MARK: Writing

  /// The open transaction, or a new one.
  func openTransaction(_ database: Database) throws(PageFileError) -> OpenTransaction {
    if let transaction { return transaction }
    let begun = OpenTransaction(try database.beginWrite(), on: history.newest)
    transaction = begun
    noteRecovery()
    return begun
  }

  /// The first write has moved the log that was found to the data file: what the opening showed is
  /// durable now.
  func noteRecovery() {
    guard let foundIndex else { return }
    history.makeDurable(foundIndex)
    self.foundIndex = nil
    if hasLog { counts.recoveryCount += 1 }
  }

  func put(_ key: Int, byteCount: Int, _ open: OpenTransaction) throws(PageFileError) {
    history.stamp += 1
    if let index = Record.word(of: key) {
      open.source.setWord(index, to: history.stamp)
      open.contents[key] = Record.contentHash(word: history.stamp, index)
      return
    }
    Record.fill(&value, byteCount: byteCount, stamp: history.stamp)
    let tree = Record.tree(of: key)
    try open.source.enter()
    defer { open.source.leave() }
    try Bytes.with(Record.key(key)) { (bytes) throws(PageFileError) in
      _ = try BTree(open.source, tree).insert(bytes, value.bytes)
      open.contents[key] = Record.contentHash(tree, bytes, value.bytes)
    }
  }

  func delete(_ key: Int, _ open: OpenTransaction) throws(PageFileError) {
    if let index = Record.word(of: key) {
      open.source.setWord(index, to: 0)
      open.contents[key] = 0
      return
    }
    try open.source.enter()
    defer { open.source.leave() }
    try Bytes.with(Record.key(key)) { (bytes) throws(PageFileError) in
      _ = try BTree(open.source, Record.tree(of: key)).remove(bytes)
    }
    open.contents[key] = 0
  }
}
