import PageFile
import Testing

/// Page numbers and slots are used again; the page table grows and shrinks with what it has to hold.
struct SpaceTests {
  private let directory = MemoryDirectory()
  private let database: Database
  /// What is kept for a full device.
  private let spareSlotCount = 64

  init() throws { database = try Database(in: directory, name: "x", options: smallPages) }

  private var dataFileByteCount: Int { directory["x"]?.count ?? 0 }

  /// The greatest page number in use.
  private func maximumPageNumber() throws -> UInt32 {
    let transaction = try database.beginRead()
    try transaction.source.enter()
    defer { transaction.source.leave() }
    return pageNumbers(of: transaction.source).map(\.rawValue).max() ?? 0
  }

  @Test func fillingAndEmptyingDoesNotMakeTheFileGrow() throws {
    var random = SeededGenerator()
    var maximumByteCount = 0
    for round in 0..<200 {
      let keys = (0..<30).map { _ in [UInt8(random.below(256)), UInt8(random.below(256))] }
      try database.write { (source) throws(PageFileError) in
        for key in keys {
          try source.put(key, [UInt8](repeating: UInt8(round), count: 100 + 5 * Int(key[1])))
        }
      }
      #expect(try maximumPageNumber() <= 60)
      if round % 3 == 0 { try database.checkpoint() }
      try database.write { (source) throws(PageFileError) in
        for key in keys { try source.remove(key) }
      }
      #expect(try maximumPageNumber() == 0)
      if round % 5 == 0 { try database.checkpoint() }
      maximumByteCount = max(maximumByteCount, dataFileByteCount)
    }
    // Two versions of 30 pages with their table, what is set aside for the log and for a full device,
    // and a step of growth.
    #expect(maximumByteCount <= (200 + spareSlotCount) * 4096)
    #expect(try database.findings() == [])
    try database.checkpoint()
    try database.checkpoint()
    #expect(dataFileByteCount <= 32768 + (16 + spareSlotCount) * 4096)
  }

  /// A thread may be stopped between the end of its transaction and its letting go of it.
  @Test(arguments: [true, false])
  func aWriterWhoseTransactionIsOverKeepsNoSpace(commits: Bool) throws {
    try database.write { (source) throws(PageFileError) in
      for key in 0..<400 { try source.put(bigEndian(key), [UInt8](repeating: 1, count: 3000)) }
    }
    try database.checkpoint()
    let transaction = try database.beginWrite()
    let source = transaction.source
    if commits {
      try source.put(bigEndian(0), [2])
      _ = try transaction.commit(.full)
    } else {
      transaction.rollback()
    }
    try database.write { (source) throws(PageFileError) in
      for key in 0..<400 { try source.remove(bigEndian(key)) }
    }
    try database.compact()
    #expect(dataFileByteCount <= 32768 + (16 + spareSlotCount) * 4096)
    #expect(throws: PageFileError.snapshotExpired) { try source.enter() }
  }

  /// How many levels the published page table has.
  private func tableHeight() throws -> Int {
    let bytes = try #require(directory["x"])
    let metas = (0..<2).compactMap { slot -> MetaSlot? in
      let offset = MetaSlot.offset(of: slot)
      let reading = Bytes.with(Array(bytes[offset..<offset + MetaSlot.byteCount])) {
        MetaSlot.read($0)
      }
      return if case .valid(let meta) = reading { meta } else { nil }
    }
    return try #require(metas.max { $0.writeNumber < $1.writeNumber }).table.height
  }

  /// One overflow page for each value, and few others.
  private func setValueCount(from old: Int, to new: Int, _ expected: inout [[UInt8]: [UInt8]])
    throws
  {
    var changed = expected
    try database.write { (source) throws(PageFileError) in
      for number in min(old, new)..<max(old, new) {
        let key = bigEndian(number)
        if new > old {
          let value = [UInt8](repeating: UInt8(number % 255), count: 2500 + number % 1000)
          try source.put(key, value)
          changed[key] = value
        } else {
          try source.remove(key)
          changed[key] = nil
        }
      }
    }
    expected = changed
  }

  /// A table page of 4096 bytes has 508 entries.
  @Test func pageTableGrowsToASecondLevelAndShrinks() throws {
    var expected: [[UInt8]: [UInt8]] = [:]
    var count = 0
    for (next, height) in [(480, 1), (600, 2), (2200, 2), (3, 2), (0, 0), (520, 2)] {
      try setValueCount(from: count, to: next, &expected)
      count = next
      try database.checkpoint()
      #expect(try tableHeight() == height, "\(next) values")
      let isAsExpected = try database.contents() == expected
      #expect(isAsExpected)
      #expect(try database.findings() == [])
      let copy = try Database(in: directory.copy(), name: "x")
      #expect(try copy.contents().count == count)
    }
  }

  @Test func slotsOfAnEmptiedStoreAreGivenBack() throws {
    var expected: [[UInt8]: [UInt8]] = [:]
    try setValueCount(from: 0, to: 600, &expected)
    try database.checkpoint()
    #expect(dataFileByteCount > 600 * 4096)
    try setValueCount(from: 600, to: 0, &expected)
    try database.checkpoint()
    try database.close()
    #expect(dataFileByteCount <= 32768 + (8 + spareSlotCount) * 4096)
    let again = try Database(in: directory, name: "x")
    #expect(try again.contents().isEmpty)
    #expect(try again.findings() == [])
  }
}
