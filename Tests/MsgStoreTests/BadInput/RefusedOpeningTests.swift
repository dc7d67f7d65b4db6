import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// An opening that is refused leaves the files as they were, also those of a store that was killed.
struct RefusedOpeningTests {
  private static let names = ["store", "store-wal0", "store-wal1"]

  private func options(_ member: MemberID = "me") -> StoreOptions {
    var options = StoreOptions(localMember: member)
    options.worksInBackground = false
    options.pageByteCount = 4096
    return options
  }

  private func killed() throws -> MemoryDirectory {
    let directory = MemoryDirectory()
    let store = try MessageStore(in: directory, name: "store", options: options())
    for number in 0..<40 {
      try store.write { writer in
        try writer.insert(
          Message(
            id: MessageID("m\(number)"), in: ConversationID("c\(number % 5)"),
            from: number % 3 == 0 ? "me" : "ann", text: "text \(number)",
            serverTimestamp: Timestamp(microseconds: Int64(1_000_000 + number))))
      }
      if number == 25 { try store.checkpoint() }
    }
    return directory.copy()
  }

  private func bytes(_ files: MemoryDirectory) -> [[UInt8]?] { Self.names.map { files[$0] } }

  /// Every page of a killed store is made unreadable in turn; some of them the opening itself reads.
  @Test func aDamagedPageThatTheOpeningMeetsChangesNothing() throws {
    let files = try killed()
    let slotCount = try #require(files["store"].map { ($0.count - 32768) / 4096 })
    var refusedCount = 0
    for slot in 0..<slotCount {
      let damaged = files.copy()
      var data = try #require(damaged["store"])
      for offset in 0..<4096 { data[32768 + slot * 4096 + offset] = 0 }
      damaged["store"] = data
      let before = bytes(damaged)
      do {
        let store = try MessageStore(in: damaged, name: "store", options: options())
        try store.suspend(checkpoints: false)
        #expect(bytes(damaged) == before, "slot \(slot): opening has changed the files")
      } catch {
        refusedCount += 1
        #expect(bytes(damaged) == before, "slot \(slot): refused with \(error), but changed")
      }
    }
    #expect(refusedCount > 0)
  }

  @Test func anotherLocalMemberIsRefusedWithNothingChanged() throws {
    let files = try killed()
    let before = bytes(files)
    #expect(throws: StoreError.opening(.localMemberDiffers(stored: "me", given: "ann"))) {
      try MessageStore(in: files, name: "store", options: options("ann"))
    }
    #expect(bytes(files) == before)
    let store = try MessageStore(in: files, name: "store", options: options())
    #expect(try store.check() == [])
  }
}
