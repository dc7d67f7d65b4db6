import PageFile
import Testing

/// Each meta slot alone is enough: whichever of the two is destroyed, nothing is missing.
@Suite struct MetaSlotRedundancyTests {
  private func destroy(_ slot: Int, in files: MemoryDirectory) -> MemoryDirectory {
    let copy = files.copy()
    guard var bytes = copy["x"] else { return copy }
    for offset in 0..<512 { bytes[slot * 16384 + offset] = 0xA5 }
    copy["x"] = bytes
    return copy
  }

  /// After checkpoints that have used slots again, with commits in the log, and after a clean close.
  @Test(arguments: 0..<2) func oneMetaSlotIsEnough(slot: Int) throws {
    let files = MemoryDirectory()
    var database = try Database(in: files, name: "x", options: smallPages)
    for round in 1...12 {
      try Rounds.write(round, to: database)
      #expect(try Rounds.read(Database(in: destroy(slot, in: files), name: "x")) == round)
      try database.checkpoint()
      #expect(try Rounds.read(Database(in: destroy(slot, in: files), name: "x")) == round)
      if round % 4 == 0 {
        try database.close()
        let damaged = try Database(in: destroy(slot, in: files), name: "x")
        #expect(try Rounds.read(damaged) == round)
        #expect(try damaged.findings().count <= 1)
        database = try Database(in: files, name: "x", options: smallPages)
      }
    }
  }
}
