import PageFile

/// One simulated process: plays its script on the shared store, and holds what it meets against the
/// oracle.
///
/// Every commit writes the version after the one it has read in the same transaction, so an owner that
/// sees something stale gives itself away.
final class Actor {
  static let storeName = "x"
  static let movedName = "y"

  private let process: Int
  private let directory: ProcessDirectory
  private let disk: SharedDisk
  private let scheduler: Scheduler
  private let oracle: Oracle
  private let random: Locked<SplitMix>
  private let seenMove: Locked<Bool>
  private var database: Database?
  private var isReader = false
  private var held: Held?
  private var step = ScriptStep.exit

  private final class Held {
    let transaction: ReadTransaction
    var version: Int?
    let least: Int
    init(_ transaction: consuming ReadTransaction, least: Int) {
      self.transaction = transaction
      self.least = least
    }
  }

  init(
    _ process: Int, _ disk: SharedDisk, _ scheduler: Scheduler, _ oracle: Oracle, seed: UInt64,
    seenMove: Locked<Bool>
  ) {
    self.process = process
    self.disk = disk
    self.scheduler = scheduler
    self.oracle = oracle
    self.seenMove = seenMove
    random = Locked(SplitMix(seed: seed &* 31 &+ UInt64(process)))
    directory = ProcessDirectory(disk, process: process, scheduler)
  }

  func play(_ script: Script) {
    for step in script {
      self.step = step
      disk.beginWatching(for: process)
      do throws(PageFileError) {
        try play(step)
      } catch {
        // Whatever a process that is no more has met.
        if !scheduler.wasKilled(process) { judge(error) }
      }
      if scheduler.wasKilled(process) { break }
      oracle.count("\(step)")
    }
    held = nil
    database = nil
    // Its process ends now.
    scheduler.exit(process)
  }

  private var options: DatabaseOptions {
    var options = DatabaseOptions()
    options.backgroundWork = .caller
    options.cacheByteCount = 64 * 4096
    options.random = { [random] in random.withLock { $0.next() } }
    return options
  }

  private func play(_ step: ScriptStep) throws(PageFileError) {
    switch step {
    // Under a name whose store is gone another one would be made.
    case .open: if database == nil && !hasMoved { try open(.readWrite) }
    case .openForReading: if database == nil && !hasMoved { try open(.readOnly) }
    case .write: try write(.full)
    case .writeRelaxed: try write(.relaxed)
    case .read: if let database { try read(database) }
    case .hold: if let database { try hold(database) }
    case .readHeld: if let held { try readAgain(held) }
    case .checkpoint: if let database, !isReader { try database.checkpoint() }
    case .suspend: try suspend(checkpoints: true)
    case .suspendWithoutCheckpoint: try suspend(checkpoints: false)
    case .resume: if let database { try resume(database) }
    case .close:
      defer {
        held = nil
        database = nil
      }
      try database?.close()
      expectNothingHeld()
    case .exit: scheduler.exit(process)
    case .moveStore: try moveStore()
    }
  }

  private var hasMoved: Bool { seenMove.withLock { $0 } }

  // MARK: Calls

  private func open(_ access: DatabaseOptions.Access) throws(PageFileError) {
    var options = options
    options.access = access
    isReader = access == .readOnly
    let least = oracle.lastAcknowledged
    let isThere = disk.exists(Self.storeName)
    let opened: Database
    do throws(PageFileError) {
      opened = try Database(in: directory, name: Self.storeName, options: options)
    } catch .ioError("open", 2, _) where isReader && !isThere {
      return
    }
    if hasMoved { return }
    database = opened
    try lookAround(opened, least: least)
  }

  private func resume(_ database: Database) throws(PageFileError) {
    let least = oracle.lastAcknowledged
    try database.resume()
    try lookAround(database, least: least)
  }

  /// What an opening has found.
  private func lookAround(_ database: Database, least: Int) throws(PageFileError) {
    if isReader { return try read(database) }
    let transaction = try database.beginRead()
    let version = try Versions.read(transaction.source)
    if !scheduler.wasKilled(process) { oracle.ownerSees(version, describe()) }
  }

  private func write(_ level: SyncLevel) throws(PageFileError) {
    guard let database, !isReader else { return }
    let transaction = try database.beginWrite()
    let version = try Versions.read(transaction.source)
    if scheduler.wasKilled(process) { return }
    oracle.ownerSees(version, describe())
    guard let version else { return transaction.rollback() }
    try Versions.write(version + 1, to: transaction.source)
    if scheduler.wasKilled(process) { return }
    oracle.willCommit(version + 1)
    _ = try transaction.commit(level)
    if !scheduler.wasKilled(process) { oracle.didCommit(version + 1) }
  }

  private func read(_ database: Database) throws(PageFileError) {
    let least = oracle.lastAcknowledged
    let transaction = try database.beginRead()
    let version = try Versions.read(transaction.source)
    if !scheduler.wasKilled(process) { oracle.readerSees(version, least: least, describe()) }
  }

  private func hold(_ database: Database) throws(PageFileError) {
    held = nil
    let least = oracle.lastAcknowledged
    held = Held(try database.beginRead(), least: least)
  }

  /// What was seen once is seen again, as long as anything is.
  private func readAgain(_ held: Held) throws(PageFileError) {
    let version = try Versions.read(held.transaction.source)
    if scheduler.wasKilled(process) { return }
    oracle.readerSees(version, least: held.least, describe())
    if let before = held.version, before != version {
      oracle.violate("\(describe()) saw version \(before) before")
    }
    held.version = version
  }

  private func suspend(checkpoints: Bool) throws(PageFileError) {
    guard let database else { return }
    try database.suspend(checkpoints: checkpoints)
    expectNothingHeld()
  }

  private func expectNothingHeld() {
    if scheduler.wasKilled(process) { return }
    let (openCount, lockCount) = disk.holdings(of: process)
    if openCount > 0 || lockCount > 0 {
      oracle.violate("\(describe()) leaves \(openCount) files open and \(lockCount) locked")
    }
  }

  private func moveStore() throws(PageFileError) {
    for suffix in ["", "-wal0", "-wal1"] {
      try directory.ask()
      if disk.exists(Self.storeName + suffix) {
        seenMove.withLock { $0 = true }
        disk.move(Self.storeName + suffix, to: Self.movedName + suffix)
      }
    }
  }

  // MARK: Errors

  private func describe() -> String { "process \(process), \(step)," }

  /// Whether an error was right at that moment.
  private func judge(_ error: PageFileError) {
    let met = disk.met(by: process)
    let isRight =
      switch error {
      // A store that is being made is somebody's before its lock is taken.
      case .busy: isReader ? met.change : met.lock || met.change
      case .suspended: database != nil
      case .snapshotExpired: true
      case .fileReplaced, .mainFileMissing, .poisoned, .walMismatch, .ioError("open", 2, _):
        hasMoved
      // A store made anew between the moves of the three files loses its log to the last of them:
      // whoever opens it then is told so. One that is open never says this.
      case .corruptWAL: hasMoved && [.open, .openForReading].contains(step) && database == nil
      // A checkpoint that finds the files moved poisons the log. What was written at `relaxed`
      // before cannot be promised then.
      case .commitUnknown: hasMoved && step == .suspendWithoutCheckpoint
      default: false
      }
    oracle.count(name(of: error))
    if !isRight { oracle.violate("\(describe()) throws \(error)") }
  }

  private func name(of error: PageFileError) -> String {
    String("\(Mirror(reflecting: error).children.first?.label ?? "\(error)")".prefix(16))
  }
}
