import PageFile
import Simulation

/// One run of a plot under one choice.
struct InterleavingRun {
  /// What came of it.
  struct Outcome {
    var violation: String?
    var events: [Int: Int] = [:]
    var stepCount = 0
    var traceHash: UInt64 = 0
    var trace: [String] = []
    var tally: [String: Int] = [:]
  }

  /// Stores to begin with, made once.
  final class Beginnings {
    private var made: [Beginning: (disk: SimulatedDisk, ledger: Ledger)] = [:]

    subscript(beginning: Beginning) -> (disk: SimulatedDisk, ledger: Ledger) {
      if let known = made[beginning] { return known }
      let store = try? InterleavingRun.make(beginning)
      guard let store else { preconditionFailure("no store can be made") }
      made[beginning] = store
      return store
    }
  }

  static func play(
    _ plot: Plot, _ choice: Choice, _ beginnings: Beginnings, isTraced: Bool = false
  ) -> Outcome {
    let (disk, ledger) = beginnings[plot.beginning]
    let conductor = Conductor(choice, favouredFile: plot.favouredFile, isTraced: isTraced)
    let stage = Stage(conductor, ledger.copy(), plot, disk)
    conductor.run { perform(stage) }
    var outcome = Outcome(
      violation: conductor.failure ?? stage.ledger.violations.first, events: conductor.events,
      stepCount: conductor.stepCount, traceHash: conductor.traceHash, trace: conductor.trace,
      tally: stage.ledger.tally)
    if outcome.violation == nil { outcome.violation = judgeCut(stage) }
    return outcome
  }

  /// The first thread: opens the store, has the others play, and looks at what is left.
  private static func perform(_ stage: Stage) {
    do throws(PageFileError) {
      stage.database = try Database(
        in: stage.directory, name: Stage.storeName, options: stage.options)
      // What lies under the first page of the table is in the cache, and the second page is not.
      if stage.plot.beginning == .wide { Actor("main", [Act(.get, 0, 41)], stage).play() }
      let members = stage.plot.parts.enumerated().map { index, acts in
        let actor = Actor("thread \(index)", acts, stage)
        return stage.conductor.add("thread \(index)") { actor.play() }
      }
      stage.conductor.decide(until: members)
      try lookAround(stage)
    } catch {
      stage.ledger.violate("whoever comes last gets \(error)")
    }
    stage.database = nil
    let last = stage.ledger.acknowledged
    if stage.ledger.violations.isEmpty,
      let violation = Stage.judge(
        stage.directory.inner.disk, stage.ledger, least: last, "the store that was closed")
    {
      stage.ledger.violate(violation)
    }
    if let misuse = stage.directory.inner.misuse { stage.ledger.violate(misuse) }
    if stage.directory.inner.openFileCount > 0 { stage.ledger.violate("files are left open") }
  }

  private static func lookAround(_ stage: Stage) throws(PageFileError) {
    guard let database = stage.database else { return }
    let ledger = stage.ledger
    let livingCount = database.livingPageCount
    if livingCount > ledger.maximumLivingCount {
      ledger.violate("at last \(livingCount) images are in memory, of \(ledger.maximumLivingCount)")
    }
    if !stage.hasClosed {
      try database.resume()
      let transaction = try database.beginRead()
      if let contents = ledger.seen(transaction.lsn, least: ledger.acknowledged, "at last"),
        try !Cells.areAllRight(contents, ledger, transaction.source)
      {
        ledger.violate("at last there are wrong contents")
      }
      try database.check { ledger.violate("at last: \($0)") }
    }
    try database.close()
    // All transactions have ended, and no checkpoint runs.
    let strayCount = database.strayImageCount
    if strayCount > 0 { ledger.violate("\(strayCount) images are kept by nobody") }
  }

  /// What a power cut, or a kill, at one moment would have left.
  private static func judgeCut(_ stage: Stage) -> String? {
    guard let (disk, ledger) = stage.cut else { return nil }
    let after = stage.ledger
    var random = SeededRandom(seed: UInt64(stage.plot.cutCall))
    let crash = CrashChoices().crash(disk, &random)
    guard case .powerCut(let cut) = crash else {
      return Stage.judge(disk, after, least: ledger.acknowledged, "the store of a killed process")
    }
    return Stage.judge(
      disk.afterPowerCut(cut, .worst), after, least: ledger.durable, "the store after a power cut")
  }

  private static func make(
    _ beginning: Beginning
  ) throws(PageFileError) -> (disk: SimulatedDisk, ledger: Ledger) {
    let directory = SimulatedDirectory()
    var options = DatabaseOptions()
    options.backgroundWork = .caller
    options.random = { [directory] in directory.draw() }
    let database = try Database(in: directory, name: Stage.storeName, options: options)
    let ledger = Ledger(lsn: try database.beginRead().lsn.rawValue)
    func write(_ act: Act) throws(PageFileError) {
      let transaction = try database.beginWrite()
      let lsn = transaction.lsn
      guard var contents = ledger.newest(lsn, "the first") else { return transaction.rollback() }
      try Cells.change(act, &contents, ledger, transaction.source)
      ledger.willCommit(contents, on: lsn, pageCount: 0)
      ledger.didCommit(try transaction.commit(), isDurable: true)
    }
    switch beginning {
    case .empty: break
    case .small, .unclosed:
      try write(Act(.put, 0, 24, 300))
      try database.checkpoint()
      try write(Act(.put, 3, 5, 700))
    case .wide:
      for first in stride(from: 0, to: 640, by: 64) { try write(Act(.put, first, 64, 4000)) }
      try database.checkpoint()
      for first in stride(from: 40, to: 560, by: 104) { try write(Act(.remove, first, 104)) }
      // Without room below its end, so that slots which become free are written anew at once.
      try database.compact()
      ledger.hasSilentCommits = true
      try write(Act(.put, 0))
    }
    if beginning != .unclosed { try database.close() }
    ledger.settle()
    return (directory.disk, ledger)
  }
}
