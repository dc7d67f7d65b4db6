import PageFile

/// One thread of a plot: does its acts, and holds what it meets against the ledger.
final class Actor: @unchecked Sendable {
  // Unchecked: belongs to one thread.
  private let name: String
  private let acts: [Act]
  private let stage: Stage
  private var ledger: Ledger { stage.ledger }
  private var held: Held?
  private var beside: Database?

  private final class Held {
    let transaction: ReadTransaction
    let least: UInt64
    init(_ transaction: consuming ReadTransaction, least: UInt64) {
      self.transaction = transaction
      self.least = least
    }
  }

  init(_ name: String, _ acts: [Act], _ stage: Stage) {
    self.name = name
    self.acts = acts
    self.stage = stage
  }

  func play() {
    for act in acts {
      do throws(PageFileError) {
        try play(act)
        ledger.count(act.verb.rawValue)
      } catch {
        judge(error, act)
      }
    }
    held = nil
    beside = nil
  }

  private func who(_ act: Act) -> String { "\(name), \(act.words)," }

  private func play(_ act: Act) throws(PageFileError) {
    switch act.verb {
    case .put, .putRelaxed, .remove, .erase, .rollback, .putAndLetGo, .rollbackAndLetGo:
      try write(act)
    case .get, .walk: try read(act)
    case .hold: try hold()
    case .reread: if let held { try compare(held.transaction, act, least: held.least) }
    case .drop: held = nil
    case .getBeside: try readBeside(act)
    case .closeBeside: beside = nil
    case .checkpoint: try checkpoint()
    case .compact: try compact()
    case .check:
      try stage.database?.check { ledger.violate("\(who(act)) finds: \($0)") }
    case .suspend, .suspendAsItIs: try suspend(checkpoints: act.verb == .suspend)
    case .resume: try stage.database?.resume()
    case .close:
      let last = ledger.acknowledged
      stage.hasClosed = true
      try stage.database?.close()
      if stage.database != nil { ledger.madeDurable(last) }
    }
  }

  // MARK: Writing

  private func write(_ act: Act) throws(PageFileError) {
    guard let transaction = try begin() else { return }
    let lets = act.verb == .putAndLetGo || act.verb == .rollbackAndLetGo
    if lets {
      stage.hasClosed = true
      stage.database = nil
    }
    let lsn = transaction.lsn
    guard var contents = ledger.newest(lsn, who(act)) else { return transaction.rollback() }
    if act.verb == .erase { transaction.eraseSecurely() }
    try Cells.change(act, &contents, ledger, transaction.source)
    if act.count > 1 && act.pageCount > Ledger.budgetPageCount { takeTime() }
    if act.verb == .rollback || act.verb == .rollbackAndLetGo { return transaction.rollback() }
    ledger.willCommit(contents, on: lsn, pageCount: act.pageCount)
    let level = act.verb == .putRelaxed ? SyncLevel.relaxed : .full
    ledger.didCommit(try transaction.commit(level), isDurable: level == .full)
  }

  /// In a function of its own, so that nothing here holds on to the database.
  @inline(never)
  private func begin() throws(PageFileError) -> WriteTransaction? {
    guard let database = stage.database else { return nil }
    return try database.beginWrite()
  }

  /// Keeps a long transaction open while others go on, as an import does that waits for more.
  private func takeTime() {
    for _ in 0..<20 { Interleaving.strand?.pause() }
  }

  // MARK: Reading

  private func read(_ act: Act) throws(PageFileError) {
    guard let database = stage.database else { return }
    let least = ledger.acknowledged
    try compare(try database.beginRead(), act, least: least)
  }

  private func hold() throws(PageFileError) {
    held = nil
    guard let database = stage.database else { return }
    let least = ledger.acknowledged
    held = Held(try database.beginRead(), least: least)
  }

  private func compare(
    _ transaction: borrowing ReadTransaction, _ act: Act, least: UInt64
  ) throws(PageFileError) {
    guard let contents = ledger.seen(transaction.lsn, least: least, who(act)) else { return }
    let source = transaction.source
    let isRight =
      act.verb == .walk
      ? try Cells.areAllRight(contents, ledger, source)
      : try Cells.areRight(act.keys, contents, ledger, source)
    if !isRight { ledger.violate("\(who(act)) reads what commit \(transaction.lsn) has not") }
  }

  private func readBeside(_ act: Act) throws(PageFileError) {
    let least = ledger.acknowledged
    if beside == nil {
      var options = stage.options
      options.access = .readOnly
      beside = try Database(in: stage.directory, name: Stage.storeName, options: options)
    }
    guard let beside else { return }
    try compare(try beside.beginRead(), act, least: least)
  }

  // MARK: The rest

  private func checkpoint() throws(PageFileError) {
    guard let database = stage.database else { return }
    let last = ledger.acknowledged
    try database.checkpoint()
    ledger.madeDurable(last)
  }

  private func compact() throws(PageFileError) {
    var compaction = Compaction()
    var stepCount = 0
    while let database = stage.database, try database.compact(&compaction) {
      stepCount += 1
      if stepCount > 200 { return ledger.violate("\(name), compact, goes on for ever") }
    }
  }

  private func suspend(checkpoints: Bool) throws(PageFileError) {
    guard let database = stage.database else { return }
    stage.hasSuspended = true
    try database.suspend(checkpoints: checkpoints)
  }

  // MARK: Errors

  /// Whether an error was right at that moment.
  private func judge(_ error: PageFileError, _ act: Act) {
    let isBeside = act.verb == .getBeside
    let isRight =
      switch error {
      case .closed: stage.hasClosed
      case .suspended: stage.hasSuspended
      case .snapshotExpired: stage.mayExpire || isBeside
      case .busy: isBeside
      default: false
      }
    ledger.count(isRight ? "expected \(label(error))" : "violation")
    if !isRight { ledger.violate("\(who(act)) throws \(error)") }
  }

  private func label(_ error: PageFileError) -> String {
    String("\(error)".prefix { $0 != "(" })
  }
}
