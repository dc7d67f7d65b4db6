import PageFile
import Simulation

/// What the threads of a run share.
final class Stage: @unchecked Sendable {
  // Unchecked: only touched by whoever has the turn.
  static let storeName = "s"

  let conductor: Conductor
  let ledger: Ledger
  let plot: Plot
  let directory: WatchedDirectory
  var database: Database?
  /// Whether somebody has begun to close or suspend it, or to let go of it.
  var hasClosed = false
  var hasSuspended = false
  /// A copy of the disk at one moment, and what had been promised then.
  private(set) var cut: (disk: SimulatedDisk, ledger: Ledger)?
  private var callCount = 0

  init(_ conductor: Conductor, _ ledger: Ledger, _ plot: Plot, _ disk: SimulatedDisk) {
    self.conductor = conductor
    self.ledger = ledger
    self.plot = plot
    let inner = SimulatedDirectory(disk)
    directory = WatchedDirectory(inner, conductor)
    directory.stage = self
    ledger.hasSilentCommits = plot.parts.contains { $0.contains { $0.verb == .compact } }
  }

  /// Whether a reader may be told that its moment is not kept any more: somebody has ended the use of
  /// the files, or there is more to keep than memory has room for.
  var mayExpire: Bool {
    hasClosed || hasSuspended || ledger.hasSilentCommits
      || ledger.pageCount > Ledger.budgetPageCount
  }

  var options: DatabaseOptions {
    var options = DatabaseOptions()
    options.cacheByteCount = Ledger.budgetPageCount * options.pageByteCount
    options.random = { [directory] in directory.inner.draw() }
    return options
  }

  /// A call is about to change the disk.
  func willChangeDisk() {
    callCount += 1
    if callCount == plot.cutCall { cut = (directory.inner.disk, ledger.copy()) }
  }

  /// Whether a store on a disk holds one of the moments that it may, and is sound.
  static func judge(
    _ disk: SimulatedDisk, _ ledger: Ledger, least: UInt64, _ what: String
  ) -> String? {
    let directory = SimulatedDirectory(disk)
    var options = DatabaseOptions()
    options.backgroundWork = .caller
    options.random = { [directory] in directory.draw() }
    do throws(PageFileError) {
      let database = try Database(in: directory, name: storeName, options: options)
      let transaction = try database.beginRead()
      let lsn = transaction.lsn.rawValue
      guard ledger.mayBeSeen(lsn, least: least), let contents = ledger.contents(at: lsn) else {
        return "\(what) has commit \(lsn) where one of \(least)...\(ledger.attempted) belongs"
      }
      guard try Cells.areAllRight(contents, ledger, transaction.source) else {
        return "\(what) has wrong contents at commit \(lsn)"
      }
      var finding: String?
      try database.check { finding = finding ?? "\(what) is not sound: \($0)" }
      return finding
    } catch {
      return "\(what) cannot be opened: \(error)"
    }
  }
}
