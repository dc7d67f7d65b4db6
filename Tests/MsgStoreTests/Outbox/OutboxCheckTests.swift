import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// What is wrong with an outbox is found.
struct OutboxCheckTests {
  private static let workTree = Cells.workTree
  private let directory = MemoryDirectory()

  /// A store with entries of every state and kind of index, and its cells.
  private func makeStore() throws -> [Cells.Cell] {
    let clock = TestClock(0)
    let store = try clock.outboxStore(directory)
    try store.write {
      try $0.insert(message("r", at: 1))
      try $0.send(ownWithFiles("m", ["f", "g"]))
      _ = try $0.edit("m", in: "room", text: "x")
      _ = try $0.markRead("room")
      _ = try $0.setTitle("T", of: "room")
      for room in ["a", "b", "c"] as [ConversationID] {
        try $0.send(own(MessageID("\(room)1"), in: room))
      }
      _ = try $0.createGroup("new", participants: ["you", "ann"])
      try $0.send(own("n", in: "new"))
      _ = try $0.outbox.enter("x")
    }
    let upload = try store.take()
    try store.fail(upload, .invalid)
    try store.fail(try store.take())
    let held = try store.entryID(.send, "b1")
    try store.write { _ = try $0.outbox.hold(held) }
    _ = try store.take()
    try store.expectSound()
    try store.close()
    return try Cells(directory).all(Self.workTree)
  }

  private func isLane(_ cell: Cells.Cell) -> Bool { cell.key[0] == 2 && cell.key.count == 5 }

  private func findings(
    _ changes: [(key: [UInt8], value: [UInt8]?)]
  ) throws -> [String] {
    let files = try Cells(directory).changed(changes, in: Self.workTree)
    let store = try TestClock(0).outboxStore(files)
    defer { try? store.close() }
    let found = try store.check().map(\.description)
    // It can be used without a trap.
    for _ in 0..<20 {
      guard let item = try? store.next() else { break }
      _ = try? store.done(item)
    }
    _ = try? store.write { try $0.outbox.releaseAndRetryAll() }
    _ = try? store.entries()
    _ = try? store.counts("room")
    return found
  }

  @Test func everyCellThatIsMissingIsFound() throws {
    let cells = try makeStore()
    #expect(Set(cells.map { $0.key[0] }) == [1, 2, 3])
    for cell in cells {
      let found = try findings([(cell.key, nil)])
      #expect(!found.isEmpty, "\(cell.key)")
      #expect(found.allSatisfy { $0.contains("outbox") }, "\(found)")
    }
  }

  @Test func keysThatBelongToNothingAreFound() throws {
    let cells = try makeStore()
    for (index, cell) in cells.enumerated() where cell.key.count > 1 {
      var key = cell.key
      key[[1, key.count / 2, key.count - 1][index % 3]] ^= 0x41
      #expect(try !findings([(key, cell.value)]).isEmpty, "\(key)")
      let other = index % 2 == 0 ? cell.key.dropLast() : cell.key + [1]
      #expect(try !findings([(other, cell.value)]).isEmpty, "\(other)")
    }
    for prefix in 9...255 as ClosedRange<UInt8> where prefix % 50 == 9 {
      #expect(try findings([([prefix, 1, 2], [])]).count == 1)
    }
    #expect(try findings([([5, 0], [])]).count == 1)
  }

  @Test func valuesThatAreNoRecordAreFound() throws {
    let cells = try makeStore()
    for cell in cells where [1, 5].contains(cell.key[0]) || isLane(cell) {
      for value in [[], [1], [2] + cell.value.dropFirst(), cell.value + [0], cell.value.dropLast()]
        as [[UInt8]]
      {
        // The texts of some records go to the end.
        if cell.key[0] == 1, OutboxRecord.isOne(value) { continue }
        #expect(try !findings([(cell.key, value)]).isEmpty, "\(cell.key) \(value)")
      }
    }
    for cell in cells where [2, 3].contains(cell.key[0]) && !isLane(cell) {
      #expect(try !findings([(cell.key, [1])]).isEmpty)
    }
  }

  @Test func recordsThatSayOtherThingsAreFound() throws {
    let cells = try makeStore()
    func change(_ cell: Cells.Cell, _ body: (inout OutboxRecord) -> Void) throws {
      guard var record = Bytes.with(cell.value, { OutboxRecord($0) }) else { return }
      let old = record
      body(&record)
      guard record != old else { return }
      #expect(try !findings([(cell.key, record.bytes)]).isEmpty, "\(old) \(record)")
    }
    for cell in cells where cell.key[0] == 1 {
      // Whether the file of an upload that is held or has failed was prepared is said nowhere else.
      try change(cell) { record in
        if case .upload = record.subject, [.held, .failed].contains(record.state) { return }
        record.isBlocked.toggle()
      }
      try change(cell) { $0.state = .held }
      try change(cell) { $0.state = .queued }
      try change(cell) { $0.state = .failed }
      try change(cell) { $0.state = .waiting(until: 77) }
      try change(cell) { $0.state = .running(lease: 99, expiry: 5, owner: "x") }
      try change(cell) { $0.conversation = 99 }
      try change(cell) { $0.conversation = 0 }
      try change(cell) { $0.subject = .createConversation }
      try change(cell) { $0.subject = .receipt(.delivered) }
      try change(cell) { $0.subject = .upload("q", attachment: "z") }
    }
  }

  @Test func countsAndNewestEntriesThatAreWrongAreFound() throws {
    let cells = try makeStore()
    for cell in cells where isLane(cell) {
      let lane = try #require(Bytes.with(cell.value) { OutboxLane($0) })
      let changes: [(inout OutboxLane) -> Void] = [
        { $0.counts.queued += 1 }, { $0.counts.held += 1 }, { $0.counts.running += 1 },
        { $0.counts.waiting += 1 }, { $0.counts.failed += 1 }, { $0.creation += 1 },
        { $0.readReceipt += 1 }, { $0.deliveredReceipt += 1 }, { $0.title += 1 },
        { $0.avatar += 1 }, { $0.due = .init(ordinal: 1, time: 9) },
      ]
      for change in changes {
        var new = lane
        change(&new)
        #expect(try !findings([(cell.key, new.bytes)]).isEmpty)
      }
    }
    let queued = try Cells(directory).word(.queuedEntries)
    let changes: [[StoreWord: UInt64]] = [
      [.queuedEntries: queued + 1], [.failedEntries: 0], [.nextEntry: 3], [.nextLease: 1],
    ]
    for words in changes {
      let store = try TestClock(0).outboxStore(try Cells(directory).changed(words))
      #expect(try !store.check().isEmpty)
      try store.close()
    }
  }

  @Test func aReceiptWithNothingToTellIsFound() throws {
    _ = try makeStore()
    let pending = try Cells(directory).index(.pendingReceipts).map(\.key)
    #expect(!pending.isEmpty)
    var found: [String] = []
    for key in pending {
      let files = try Cells(directory).changed([(key, nil)], in: Cells.indexTree)
      let store = try TestClock(0).outboxStore(files)
      found += try store.check().map(\.description).filter { $0.contains("outbox") }
      try store.close()
    }
    #expect(!found.isEmpty)
  }
}

extension OutboxRecord {
  static func isOne(_ bytes: [UInt8]) -> Bool { Bytes.with(bytes) { OutboxRecord($0) } != nil }

  var bytes: [UInt8] {
    var buffer = ByteBuffer()
    append(to: &buffer)
    return buffer.bytes.array()
  }
}

extension OutboxLane {
  var bytes: [UInt8] {
    var buffer = ByteBuffer()
    append(to: &buffer)
    return buffer.bytes.array()
  }
}
