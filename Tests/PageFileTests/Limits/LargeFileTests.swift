import Damage
import PageFile
import Testing

/// Slots and page numbers far beyond what tests can fill: offsets over 4 GiB, numbers up to 2^32.
struct LargeFileTests {
  private func options(_ access: DatabaseOptions.Access = .readWrite) -> DatabaseOptions {
    var options = DatabaseOptions()
    options.access = access
    options.backgroundWork = .caller
    return options
  }

  /// A leaf with two keys under page number `number`, in slot `slot` of a file that ends behind it.
  private func store(number: UInt32, slot: UInt32, pageByteCount: Int) throws -> SparseDirectory {
    var forge = Forge(try #require(try Forge.emptyMeta(pageByteCount: pageByteCount)))
    forge.meta.checkpointLSN = LSN(5)
    forge.meta.roots.pageNumberEnd = number + 1
    forge.meta.roots[TreeNumber(0)] = PageNumber(number)
    forge.pages[number] = forge.leaf([([1], [2]), ([3], [4])])
    forge.firstSlot = slot
    let directory = SparseDirectory()
    let file = try directory.open(Specimen.storeName, .create)
    forge.write { offset, bytes in
      try? Bytes.with(bytes) { (bytes) throws(PageFileError) in try file.write(bytes, at: offset) }
    }
    return directory
  }

  /// Around the offsets 2 GiB and 4 GiB, and further out.
  @Test(arguments: [524_279, 524_280, 1_048_567, 1_048_568, 2_097_152])
  func slotsBeyondFourGibibytesAreReadWrittenAndGivenBack(slot: UInt32) throws {
    let directory = try store(number: 1, slot: slot, pageByteCount: 4096)
    let file = try directory.open(Specimen.storeName, .read)
    #expect(try file.byteCount() > Int(slot) * 4096)
    var database = try Database(in: directory, name: Specimen.storeName, options: options())
    #expect(try database.contents() == [[1]: [2], [3]: [4]])
    for round in 0..<3 {
      try database.write(.full) { (source) throws(PageFileError) in
        try source.put([1], [UInt8](repeating: UInt8(round), count: 9000))
        try source.put([5], [UInt8(round)])
      }
      try database.checkpoint()
      #expect(try database.findings() == [])
    }
    try database.close()
    // Everything has moved to the front.
    #expect(try file.byteCount() < 1 << 20)
    database = try Database(in: directory, name: Specimen.storeName, options: options())
    #expect(try database.contents().count == 3)
    #expect(try database.findings() == [])
  }

  /// The greatest slot number there is, at 16 to 128 tebibytes.
  @Test(arguments: [4096, 8192, 16384, 32768])
  func theLastSlotIsRead(pageByteCount: Int) throws {
    // Behind the page lie the pages of the table.
    let directory = try store(number: 1, slot: .max - 3, pageByteCount: pageByteCount)
    let database = try Database(
      in: directory, name: Specimen.storeName, options: options(.readOnly))
    #expect(try database.contents() == [[1]: [2], [3]: [4]])
    #expect(try database.findings() == [])
  }

  /// Around the edges of the page table's heights and of 31 bits, up to the greatest page number.
  @Test(arguments: [
    507, 508, 258_063, 258_064, 131_096_511, 131_096_512, 2_147_483_647, 2_147_483_648,
    4_294_967_294,
  ])
  func anyPageNumberIsReadChangedFreedAndGivenAgain(number: UInt32) throws {
    let directory = try store(number: number, slot: 1, pageByteCount: 4096)
    var database = try Database(in: directory, name: Specimen.storeName, options: options())
    #expect(try database.contents() == [[1]: [2], [3]: [4]])
    try database.write { (source) throws(PageFileError) in try source.put([1], [9]) }
    try database.checkpoint()
    #expect(try database.findings() == [])
    try database.write { (source) throws(PageFileError) in
      try source.remove([1])
      try source.remove([3])
    }
    try database.checkpoint()
    try database.write { (source) throws(PageFileError) in
      for key in 0..<200 { try source.put([7, UInt8(key)], [UInt8](repeating: 7, count: 500)) }
    }
    try database.close()
    database = try Database(in: directory, name: Specimen.storeName, options: options())
    #expect(try database.contents().count == 200)
    #expect(try database.findings() == [])
  }

  /// A file that is said to be long, of which hardly anything is used, takes no memory for what is not.
  @Test func aSparseFileIsWrittenTo() throws {
    let directory = try store(number: 1, slot: 7, pageByteCount: 4096)
    let file = try directory.open(Specimen.storeName, .read)
    try file.extend(to: 8 << 40)
    let start = ContinuousClock.now
    let database = try Database(in: directory, name: Specimen.storeName, options: options())
    try database.write(.full) { (source) throws(PageFileError) in try source.put([5], [6]) }
    // A bit for each slot took half a minute.
    #expect(ContinuousClock.now - start < .seconds(5))
    #expect(try database.contents() == [[1]: [2], [3]: [4], [5]: [6]])
    try database.close()
    #expect(try file.byteCount() < 1 << 20)
  }

  @Test func aSparseFileWithOnePageFarBehindIsOnlyRead() throws {
    let directory = try store(number: 1, slot: 1 << 30, pageByteCount: 4096)
    let reader = try Database(
      in: directory, name: Specimen.storeName, options: options(.readOnly))
    #expect(try reader.contents() == [[1]: [2], [3]: [4]])
    do throws(PageFileError) {
      let database = try Database(in: directory, name: Specimen.storeName, options: options())
      _ = try database.beginWrite()
      Issue.record("written to")
    } catch {
      guard case .limitExceeded = error else { throw error }
    }
  }
}
