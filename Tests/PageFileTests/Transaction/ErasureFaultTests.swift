import PageFile
import Simulation
import Testing

/// Erasing meets faults: what cannot be erased now must not be taken for erased, and must not end
/// the use of a store that is otherwise sound.
struct ErasureFaultTests {
  private let text = Array("a text that nobody shall find again".utf8)

  private func isFound(in files: MemoryDirectory) -> Bool { files.holds(text, inStore: "x") }

  private func storeWithErasedText(_ directory: StagedDirectory) throws -> Database {
    let database = try Database(in: directory, name: "x", options: smallPages)
    let text = text
    try database.write(.full) { (source) throws(PageFileError) in try source.put([1], text) }
    try database.checkpoint()
    try database.write(.full) { (source) throws(PageFileError) in
      source.isErasing = true
      try source.remove([1])
    }
    return database
  }

  /// Zeros that a refused sync has left in the system's memory are not yet zeros on the medium.
  @Test func whatARefusedSyncLeftIsSyncedByTheNextCheckpoint() throws {
    let directory = StagedDirectory()
    let database = try storeWithErasedText(directory)
    let hasErased = Locked(false)
    directory.onCall { (call) throws(PageFileError) in
      // By now the zeros are written.
      if call.kind == .sync && call.name == "x" && !isFound(in: directory.files) {
        hasErased.withLock { $0 = true }
        throw .deviceLocked(call: "sync", path: "x")
      }
    }
    #expect(throws: PageFileError.self) { try database.checkpoint() }
    #expect(hasErased.withLock { $0 })
    directory.onCall(nil)
    try database.checkpoint()
    #expect(!isFound(in: directory.files))
    #expect(!isFound(in: directory.afterPowerCut()))
  }

  /// A free slot that cannot be read holds nothing that anybody needs.
  @Test func aFreeSlotThatCannotBeReadDoesNotPoison() throws {
    let directory = StagedDirectory()
    let database = try storeWithErasedText(directory)
    directory.onCall { (call) throws(PageFileError) in
      if call.kind == .read && call.name == "x" && call.offset >= 32768 {
        throw .ioError(call: "pread", errno: 5, path: "x")
      }
    }
    try? database.checkpoint()
    #expect(!database.isPoisoned)
    directory.onCall(nil)
    try database.checkpoint()
    #expect(!isFound(in: directory.files))
  }

  /// Zeros that cannot be written leave the store as sound as it was.
  @Test func aFreeSlotThatCannotBeWrittenDoesNotPoison() throws {
    let directory = StagedDirectory()
    let database = try storeWithErasedText(directory)
    let metaWrites = Locked(0)
    directory.onCall { (call) throws(PageFileError) in
      if call.kind != .write || call.name != "x" { return }
      if call.offset < 32768 { return metaWrites.withLock { $0 += 1 } }
      if metaWrites.withLock({ $0 }) >= 2 { throw .diskFull }
    }
    #expect(throws: PageFileError.diskFull) { try database.checkpoint() }
    #expect(!database.isPoisoned)
    directory.onCall(nil)
    try database.checkpoint()
    #expect(!isFound(in: directory.files))
  }
}
