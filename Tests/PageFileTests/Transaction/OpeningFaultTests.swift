import PageFile
import Testing

/// What an opening owes to the processes before it, and what it leaves behind when it fails.
struct OpeningFaultTests {
  private func put(_ database: Database) throws(PageFileError) {
    try database.write(.full) { (source) throws(PageFileError) in try source.put([1], [2]) }
  }

  /// Whoever made the files was killed before the directory was synced, at each such moment.
  @Test(arguments: 0...2) func namesOfFilesThatWereFoundAreMadeDurable(syncCount: Int) throws {
    let directory = FailingDirectory()
    directory.failSyncs(ofNamesAfter: syncCount)
    _ = try? put(Database(in: directory, name: "x", options: smallPages))
    directory.failSyncs()
    let database = try Database(in: directory, name: "x", options: smallPages)
    try put(database)
    let rest = try Database(in: directory.afterPowerCut(), name: "x", options: smallPages)
    #expect(try rest.contents() == [[1]: [2]])
  }

  /// A WAL file's name that outlives the data file's would make the store look robbed.
  @Test func noWALFileIsMadeBesideAnUnsyncedName() throws {
    let directory = FailingDirectory()
    directory.failSyncs(ofNamesAfter: 0)
    for _ in 0..<2 {
      #expect(throws: PageFileError.self) {
        try put(Database(in: directory, name: "x", options: smallPages))
      }
    }
    #expect(directory.identity(of: "x-wal0") == nil)
  }

  @Test func anOpeningThatFailsClosesEachFileOnce() throws {
    let files = FailingDirectory()
    let database = try Database(in: files, name: "x", options: smallPages)
    try put(database)
    let crashed = files.files.copy()
    for syncCount in 0..<8 {
      let directory = FailingDirectory(crashed.copy())
      directory.failSyncs(ofFilesAfter: syncCount)
      _ = try? Database(in: directory, name: "x", options: smallPages)
      #expect(directory.maximumCloseCount == 1)
    }
  }

  /// A checkpoint that was cut short leaves commits in both WAL files, and pages that are in both.
  ///
  /// Only a release build has ever failed here.
  @Test func pagesInBothWALFilesAreRecovered() throws {
    let directory = FailingDirectory()
    let database = try Database(in: directory, name: "x", options: smallPages)
    try Rounds.write(1, to: database)
    try database.checkpoint()
    try Rounds.write(2, to: database)
    directory.refusePages(true)
    #expect(throws: PageFileError.diskFull) { try database.checkpoint() }
    try Rounds.write(3, to: database)
    let copy = try Database(in: directory.files.copy(), name: "x", options: smallPages)
    #expect(try Rounds.read(copy) == 3)
    #expect(try copy.findings() == [])
    directory.refusePages(false)
  }
}
