import PageFile
import Testing

/// Threads of one process that read a store beside its owner.
struct ReaderThreadsTests {
  /// One thread looks for what the owner wrote, at any moment of which another goes on with what it
  /// had begun to read: what the owner has written over in the meantime is no damage.
  @Test func whatTheOwnerHasWrittenOverIsNotTakenForDamage() throws {
    let files = MemoryDirectory()
    let owner = try Database(in: files, name: "x", options: smallPages)
    try Rounds.write(1, to: owner)
    try owner.checkpoint()
    let directory = SlowDirectory(files)
    var options = smallPages
    options.access = .readOnly
    for round in 2...20 {
      // A new one each time: what it has read once it would not read again.
      let reader = try Database(in: directory, name: "x", options: options)
      let transaction = try reader.beginRead()
      for _ in 0..<3 {
        try Rounds.write(round, to: owner)
        try owner.checkpoint()
      }
      var errors: [PageFileError] = []
      directory.beforeReads {
        do throws(PageFileError) { _ = try contents(of: transaction.source) } catch {
          errors.append(error)
        }
      }
      #expect(try Rounds.read(reader) == round)
      directory.beforeReads(nil)
      #expect(errors.allSatisfy { $0 == .snapshotExpired }, "round \(round)")
    }
  }
}
