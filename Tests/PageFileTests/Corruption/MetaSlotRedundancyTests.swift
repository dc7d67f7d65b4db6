import PageFile
import Testing

/// Each meta slot alone is enough: whichever of the two is destroyed, nothing is missing.
struct MetaSlotRedundancyTests {
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

  /// A checkpoint was cut between its two meta slots, and the opening after it before it writes one.
  ///
  /// Until the older slot is overwritten, its table and its log are all there.
  @Test func theOlderSlotIsEnoughWhileAnOpeningMovesTheLog() throws {
    let staged = StagedDirectory()
    let database = try Database(in: staged, name: "x", options: smallPages)
    // The last round has the fewest pages: they fit where only the older table has its own.
    try Rounds.write(2, to: database)
    try database.checkpoint()
    try Rounds.write(4, to: database)
    let killed = Locked<MemoryDirectory?>(nil)
    try atMetaWrite(2, of: staged) { (files) throws(PageFileError) in
      // The log of both slots goes on, so the opening has something to move.
      try Rounds.write(5, to: database)
      killed.withLock { $0 = files.copy() }
    } during: {
      try database.checkpoint()
    }
    let cut = try #require(killed.withLock { $0 })
    let newest = try #require(cut.newestMetaSlot).slot
    #expect(try Rounds.read(Database(in: destroy(newest, in: cut), name: "x")) == 5)

    let opening = StagedDirectory(cut)
    let moved = Locked<MemoryDirectory?>(nil)
    try atMetaWrite(2, of: opening) { files in
      moved.withLock { $0 = files.copy() }
    } during: {
      _ = try Database(in: opening, name: "x")
    }
    let halfway = try #require(moved.withLock { $0 })
    #expect(halfway.newestMetaSlot?.slot == newest)
    #expect(halfway["x"] != cut["x"], "pages were moved")
    #expect(try Rounds.read(Database(in: destroy(newest, in: halfway), name: "x")) == 5)
  }

  /// Has `moment` run before the n-th write of a meta slot.
  private func atMetaWrite(
    _ number: Int, of directory: StagedDirectory,
    _ moment: @escaping @Sendable (MemoryDirectory) throws(PageFileError) -> Void,
    during body: () throws -> Void
  ) throws {
    let count = Locked(0)
    directory.once { call in
      guard call.kind == .write, call.name == "x", call.offset < 2 * MetaSlot.regionByteCount
      else {
        return false
      }
      return count.withLock { count in
        count += 1
        return count == number
      }
    } _: { () throws(PageFileError) in
      try moment(directory.files)
    }
    try body()
    directory.onCall(nil)
  }
}
