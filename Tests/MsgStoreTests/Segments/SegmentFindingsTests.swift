import MsgStore
import MsgStoreTools
import PageFile
import Testing

/// What is wrong with segments and dictionaries is found, each once, and never a trap.
struct SegmentFindingsTests {
  private let directory = MemoryDirectory()

  /// A closed store whose messages lie in segments, and the segments.
  private func makeStore() throws -> [Cells.Cell] {
    let store = try memoryStore(
      directory, packing: PackingSizes(looseCount: 0, maximumSegmentByteCount: 130))
    try store.write { chat in
      try chat.declareAbsent(0...2, in: "room")
      for index in 0..<60 {
        try chat.insert(
          message(
            MessageID("m-\(100 + index)"), at: Int64(1000 + 10 * index), Int64(3 + index),
            text: "text \(index)"))
      }
    }
    try store.expectSound()
    try store.close()
    let segments = try Cells(directory).segments
    #expect(segments.count > 3)
    return segments
  }

  private func findings(_ files: MemoryDirectory) throws -> [String] {
    let store = try memoryStore(files)
    defer { try? store.close() }
    return try store.check().map(\.description)
  }

  /// A damaged store can be asked and told anything, and compacted or not, without a trap.
  private func use(_ files: MemoryDirectory) throws {
    let store = try memoryStore(
      files.copy(), packing: PackingSizes(looseCount: 0, maximumSegmentByteCount: 130))
    defer { try? store.close() }
    try attempt { _ = try store.read { try $0.thread("room").tail(100).map(\.text) } }
    for index in 0..<60 {
      let id = MessageID("m-\(100 + index)")
      try attempt { _ = try store.read { try $0.message(id, in: "room") } }
      try attempt { _ = try store.read { try $0.thread("room").around(id, count: 9).ids } }
      try attempt { try store.write { _ = try $0.delete(id, in: "room") } }
      for (name, time) in [("n", 1005 + 10 * index), ("o", 5000 + index)] {
        let new = message(MessageID("\(name)-\(index)"), at: Int64(time))
        try attempt { _ = try store.write { try $0.insert(new) } }
      }
    }
    try attempt { try store.compact() }
    _ = try store.check()
  }

  /// Runs what may only fail because the store is damaged.
  private func attempt(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch StoreError.corruptRecord {
    } catch StoreError.storage(.corruptPage) {
    } catch StoreError.message(.notFound, _, in: _) {
    }
  }

  private func key(_ position: MessagePosition) -> [UInt8] {
    let key = KeyEncoding.key(1, position)
    return key.bytes.array()
  }

  /// The record of a message that is stored alone.
  private func record() throws -> [UInt8] {
    var record = ByteBuffer()
    MessageRecord(flags: [], status: .sent, sender: 1, textByteCount: 0, payload: .empty)
      .append(to: &record)
    return record.bytes.array()
  }

  @Test func aCellWithinASegment() throws {
    _ = try makeStore()
    let place = Place.acknowledged(1015, sequence: 4)
    let changed = try Cells(directory).changed(
      [(key(MessagePosition(place, "x")), try record())], in: Cells.messagesTree)
    let found = try findings(changed)
    #expect(found.count { $0.contains("lies in a segment") } == 1, "\(found)")
    try use(changed)
    let store = try memoryStore(changed)
    #expect(throws: StoreError.self) { try store.compact() }
  }

  @Test func aSegmentWithinAnother() throws {
    let segments = try makeStore()
    // A copy of the second one under a key within the first one.
    let place = Place.acknowledged(1015, sequence: 4)
    let changed = try Cells(directory).changed(
      [
        (segments[1].key, nil), (key(MessagePosition(place, "m-1015")), segments[1].value),
      ], in: Cells.messagesTree)
    let found = try findings(changed)
    #expect(found.contains { $0.contains("lies in a segment") }, "\(found)")
    try use(changed)
  }

  @Test func aSegmentThatIsNoneIsReportedOnce() throws {
    let segments = try makeStore()
    for cut in [1, 3, 12, 40] {
      let changed = try Cells(directory).changed(
        [(segments[1].key, Array(segments[1].value.dropLast(cut)))], in: Cells.messagesTree)
      let found = try findings(changed)
      #expect(found.count { $0.contains("segment") } == 1, "\(found)")
      // Its messages have entries, and the conversation counts them.
      #expect(found.contains { $0.contains("message count 60, found") }, "\(found)")
      try use(changed)
    }
  }

  @Test func aSegmentOutOfOrder() throws {
    var run = MessageRun()
    for index in [0, 2, 1] {
      let key = key(MessagePosition(.acknowledged(Int64(1000 + index), sequence: nil), "m"))
      run.append2(key, try record())
    }
    var value = ByteBuffer()
    #expect(!SegmentEncoder(.none).encode(run, 0..<3, to: &value) && value.count == 0)
    // One of two messages that are the same.
    _ = try makeStore()
    var twice = MessageRun()
    for _ in 0..<2 {
      twice.append2(key(MessagePosition(.acknowledged(9, sequence: nil), "m")), try record())
    }
    #expect(!SegmentEncoder(.none).encode(twice, 0..<2, to: &value) && value.count == 0)
  }

  @Test func entriesThatLeadElsewhere() throws {
    _ = try makeStore()
    let cells = Cells(directory)
    let entries = try cells.all(Cells.idsTree)
    let missing = try cells.changed([(entries[20].key, nil)], in: Cells.idsTree)
    #expect(try findings(missing).count { $0.contains("is missing or leads elsewhere") } == 1)
    let swapped = try cells.changed([(entries[20].key, entries[21].value)], in: Cells.idsTree)
    let found = try findings(swapped)
    #expect(found.contains { $0.contains("is missing or leads elsewhere") }, "\(found)")
    try use(missing)
    try use(swapped)
  }

  @Test func aDictionaryThatIsNotThere() throws {
    let segments = try makeStore()
    let changed = try Cells(directory).changed(
      segments.map { cell in
        // Coding 8: LZ4 with dictionary 7.
        (cell.key, cell.value.prefix(2) + [8] + cell.value.dropFirst(3))
      }, in: Cells.messagesTree)
    let found = try findings(changed)
    #expect(
      found.count { $0.contains("dictionary 7: missing") } == segments.count, "\(found)")
    try use(changed)
  }

  /// Every byte of a segment, changed in several ways.
  @Test func anyByteOfASegment() throws {
    let segments = try makeStore()
    let cells = Cells(directory)
    let intact = try read(directory)
    var reportedCount = 0
    var differentCount = 0
    for offset in segments[1].value.indices {
      var value = segments[1].value
      value[offset] ^= 1 << UInt8(offset % 8)
      let changed = try cells.changed([(segments[1].key, value)], in: Cells.messagesTree)
      let isFound = try !findings(changed).isEmpty
      do {
        let seen = try read(changed)
        // A changed letter is a letter: only the page's checksum tells of that.
        if seen != intact { differentCount += 1 }
        #expect(seen.count == intact.count || isFound, "byte \(offset)")
      } catch StoreError.corruptRecord {
        reportedCount += 1
        #expect(isFound, "byte \(offset)")
      }
      if offset % 16 == 0 { try use(changed) }
    }
    #expect(reportedCount > 0)
    print("\(segments[1].value.count) bytes: \(reportedCount) errors, \(differentCount) differ")
  }

  private func read(_ files: MemoryDirectory) throws -> [String] {
    let store = try memoryStore(files.copy())
    defer { try? store.close() }
    return try store.read { try $0.thread("room").tail(100).map { "\($0)" } }
  }
}

extension MessageRun {
  fileprivate mutating func append2(_ key: [UInt8], _ record: [UInt8]) {
    Bytes.with(key) { key in Bytes.with(record) { append(key, $0) } }
  }
}
