import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// An index of the outbox that says something else than the entries.
struct OutboxIndexTests {
  private func key(due time: Int64, _ ordinal: UInt64) -> [UInt8] {
    var key = ByteBuffer()
    key.append(OutboxKey.duePrefix)
    key.append(bigEndian: UInt64(bitPattern: time) ^ (1 << 63))
    key.append(bigEndian: ordinal)
    return key.bytes.array()
  }

  /// A closed store with one entry, which has failed if it is said so.
  private func files(isFailed: Bool) throws -> (MemoryDirectory, UInt64) {
    let files = MemoryDirectory()
    let store = try memoryStore(files)
    let ordinal = try store.write { chat in
      try chat.send(message("m", at: nil, from: "me"))
      let item = try #require(try chat.outbox.next(for: "worker"))
      if isFailed { _ = try chat.outbox.fail(item, because: SendFailure(.permission)) }
      return item.id.rawValue
    }
    try store.close()
    return (files, ordinal)
  }

  /// It was handed out as failed for the second time, and again, and would have been 2^62 times.
  @Test(arguments: [true, false]) func anEntryThatIsNotDueEndsNothing(_ isFailed: Bool) throws {
    let (files, ordinal) = try files(isFailed: isFailed)
    let changed = try Cells(files).changed([(key(due: 5, ordinal), [])], in: Cells.workTree)
    var options = StoreOptions(localMember: "me", clock: { time(1_000_000) }).makingConversations
    options.outbox.maximumAttemptCount = 1
    let store = try MessageStore(in: changed, name: "store", options: options)
    #expect(
      throws: StoreError.corruptRecord(
        tree: "work", reason: "outbox entry \(ordinal): not due at 5")
    ) {
      try store.write { _ = try $0.outbox.next(for: "worker") }
    }
    #expect(try store.check().contains { $0.description.contains("is due at 5") })
    try store.close()
  }

  /// A closed store with one entry, scheduled if it is said so, which no count has.
  private func uncounted(isScheduled: Bool, _ clock: TestClock) throws -> MemoryDirectory {
    let files = MemoryDirectory()
    let store = try clock.outboxStore(files)
    try store.write { _ = try $0.send(message("m", at: nil, from: "me")) }
    if isScheduled {
      let entry = try store.entryID(.send)
      try store.write { _ = try $0.outbox.schedule(entry, at: time(2_000_000)) }
    }
    try store.close()
    return try Cells(files).changed([isScheduled ? .heldEntries : .queuedEntries: 0])
  }

  /// Whoever waited for work looked again after each millisecond, and was never told.
  @Test(arguments: [true, false]) func anEntryThatIsNotCountedEndsTheWait(
    _ isScheduled: Bool
  ) async throws {
    let clock = TestClock(1_000_000)
    let store = try clock.outboxStore(try uncounted(isScheduled: isScheduled, clock))
    let fault = StoreError.corruptRecord(
      tree: "work", reason: "outbox: an entry is in the index, and none is counted")
    #expect(throws: fault) { try store.nextTime() }
    await #expect(throws: fault) {
      for try await _ in store.work(for: "worker") {}
    }
    try await store.close()
  }
}
