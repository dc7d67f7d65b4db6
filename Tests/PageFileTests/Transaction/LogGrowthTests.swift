import PageFile
import Testing

/// The log grows beside commits, which do not wait for it.
struct LogGrowthTests {
  private func write(_ key: UInt8, _ byteCount: Int, to database: Database) throws(PageFileError) {
    try database.write { (source) throws(PageFileError) in
      try source.put([key], [UInt8](repeating: key, count: byteCount))
    }
  }

  /// The device takes its time for the sync, and meanwhile the first length of the log is used up.
  @Test func commitsGoOnDuringTheSyncOfALogThatHasGrown() throws {
    let directory = SlowDirectory()
    let database = try Database(in: directory, name: "x")
    try write(0, 1, to: database)
    directory.holdNextSync()
    try write(1, 140_000, to: database)
    directory.waitUntilHeld()
    let aside = Aside()
    aside.begin { try? self.write(2, 150_000, to: database) }
    #expect(aside.hasEnded(withinMilliseconds: 20_000))
    directory.letGo()
    #expect(try database.contents().count == 3)
    try database.close()
  }
}
