import Damage
import PageFile
import Testing

/// Blocks of a log that a device has lost: they come back as zeros.
///
/// A witness outside of the block proves the loss. Commits and what speaks of them share blocks, though,
/// so the last block takes all of its commits in silence, whatever syncs acknowledged them
/// (`docs/design.md`, "Torn tail or damage").
struct LostBlockTests {
  private static let blockByteCount = 4096
  private static let names = ["x", "x-wal0", "x-wal1"]

  @Test func aLostBlockIsNoticedUnlessItHeldAllWitnesses() throws {
    let files = MemoryDirectory()
    let database = try Database(in: files, name: "x", options: smallPages)
    for number in UInt8(1)...38 {
      try database.write(.full) { (source) throws(PageFileError) in
        try source.put([number], [number])
      }
    }
    let killed = files.copy()
    var silentCount = 0
    var noticedCount = 0
    for name in Self.names.dropFirst() {
      let commits = Anatomy.commits(in: killed[name] ?? [])
      let end = commits.last.map { $0.offset + $0.header.paddedByteCount } ?? 0
      for start in stride(from: Self.blockByteCount, to: end, by: Self.blockByteCount) {
        let wiped = killed.copy()
        wiped[name]?.replaceSubrange(
          start..<start + Self.blockByteCount, with: repeatElement(0, count: Self.blockByteCount))
        // The watermark stands where the next commit would begin.
        if end < start + Self.blockByteCount {
          let first = commits.first { $0.offset + $0.header.paddedByteCount > start }
          try expect(lastLSN: (first?.header.lsn.rawValue ?? 0) - 1, in: wiped)
          silentCount += 1
        } else {
          try expectRefusal(of: wiped)
          noticedCount += 1
        }
      }
    }
    #expect(silentCount == 1)
    #expect(noticedCount > 3)
  }

  /// Each commit has put one key, so what is there says which commits are.
  private func expect(lastLSN: UInt64, in files: MemoryDirectory) throws {
    let database = try Database(in: files, name: "x", options: smallPages)
    #expect(database.statistics.lastLSN.rawValue == lastLSN)
    #expect(try database.contents().count == Int(lastLSN))
    #expect(try database.findings() == [])
  }

  private func expectRefusal(of files: MemoryDirectory) throws {
    let before = files.copy()
    var error: PageFileError?
    do throws(PageFileError) {
      _ = try Database(in: files, name: "x", options: smallPages)
    } catch let thrown {
      error = thrown
    }
    guard case .corruptWAL? = error else {
      Issue.record("opened, or \(String(describing: error))")
      return
    }
    for name in Self.names { #expect(files[name] == before[name]) }
  }
}
