import PageFile
import Testing

/// The records that lie in a sector of their own come back as they were written, and one flipped bit
/// in what their checksum covers makes them unreadable.
struct SectorTests {
  private let id = StoreID(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)
  private let generation = Generation(counter: 77, random: 0xAAAA_5555_0F0F_F0F0)

  /// A buffer's content, taken while the buffer is alive.
  private func array(_ buffer: borrowing ByteBuffer) -> [UInt8] { buffer.bytes.array() }

  private var roots: Roots {
    var roots = Roots()
    roots.pageNumberEnd = 10_000
    for tree in 0..<Roots.maximumCount { roots[TreeNumber(tree)] = PageNumber(UInt32(tree * 300)) }
    for index in 0..<Words.count { roots.words[index] = UInt64(index + 1) << 56 | 0x1234_5678 }
    return roots
  }

  private func expectEqual(_ mine: Roots, _ theirs: Roots) {
    #expect(mine.pageNumberEnd == theirs.pageNumberEnd)
    for tree in (0..<Roots.maximumCount).map(TreeNumber.init) {
      #expect(mine[tree] == theirs[tree])
    }
  }

  /// Flips each bit alone.
  ///
  /// Within `covered` nothing is read any more, behind it all is as before.
  private func flipEveryBit(
    of bytes: [UInt8], covered: Range<Int>, isRead: (Bytes) -> Bool
  ) {
    var buffer = ByteBuffer()
    buffer.append(bytes)
    #expect(isRead(buffer.bytes))
    var wrong: [Int] = []
    for bit in 0..<bytes.count * 8 {
      buffer.mutableBytes[bit / 8] ^= 1 << UInt8(bit % 8)
      if isRead(buffer.bytes) == covered.contains(bit / 8) { wrong.append(bit) }
      buffer.mutableBytes[bit / 8] ^= 1 << UInt8(bit % 8)
    }
    #expect(wrong == [], "bits of which the flip does what it should not")
  }

  // MARK: WAL header

  private var walHeader: WALHeader {
    WALHeader(
      storeID: id, isEmpty: false, generation: generation, firstLSN: LSN(12), chain: 0xC0FFEE)
  }

  @Test func walHeaderComesBack() {
    var header = walHeader
    #expect(Bytes.with(array(header.encode())) { WALHeader($0) } == header)
    header.isEmpty = true
    let bytes = array(header.encode())
    #expect(Bytes.with(bytes) { WALHeader($0) } == header)
    #expect(Bytes.with(Array(bytes[..<511])) { WALHeader($0) } == nil)
    #expect(WALHeader(.empty) == nil)
  }

  /// The checksum covers all fields; the zeros that fill the sector mean nothing.
  @Test func flippedBitsMakeAWALHeaderUnreadable() {
    let header = walHeader
    flipEveryBit(of: array(header.encode()), covered: 0..<72) { WALHeader($0) == header }
  }

  @Test func walHeaderBeyondTheLimitsIsRefused() {
    func isRead(_ change: (inout WALHeader) -> Void) -> Bool {
      var header = walHeader
      change(&header)
      return Bytes.with(array(header.encode())) { WALHeader($0) } != nil
    }
    #expect(isRead { $0.firstLSN = LSN(1) })
    // Commits are numbered from 1, and a scan begins with the number before the first.
    #expect(!isRead { $0.firstLSN = LSN(0) })
    #expect(!isRead { $0.firstLSN = LSN(1 << 62) })
    #expect(!isRead { $0.generation = Generation(counter: 1 << 62, random: 0) })
  }

  // MARK: Commit header

  private func commitHeader(frames: [UInt8]) -> WALCommitHeader {
    WALCommitHeader(
      frameCount: 3, lsn: LSN(9), durableLSN: LSN(8), generation: generation,
      framesByteCount: frames.count, roots: roots)
  }

  private func encode(_ header: WALCommitHeader, _ frames: [UInt8], offset: Int = 4096) -> [UInt8] {
    var buffer = ByteBuffer()
    Bytes.with(frames) {
      _ = header.encode(frames: $0, storeID: id, offset: offset, chain: 5, into: &buffer)
    }
    return buffer.bytes.array()
  }

  private func readCommit(_ bytes: [UInt8], offset: Int = 4096) -> WALCommitHeader? {
    Bytes.with(bytes) { WALCommitHeader($0, storeID: id, offset: offset) }
  }

  @Test(arguments: [0, 1, 375, 376, 377, 888, 5000])
  func commitHeaderComesBack(framesByteCount: Int) throws {
    let frames = [UInt8](repeating: 0xEE, count: framesByteCount)
    let bytes = encode(commitHeader(frames: frames), frames)
    #expect(bytes.count % WALHeader.sectorByteCount == 0)
    #expect(bytes.count >= framesByteCount + 136 && bytes.count < framesByteCount + 136 + 512)
    let header = try #require(readCommit(bytes))
    #expect(header.paddedByteCount == bytes.count && header.framesByteCount == framesByteCount)
    #expect(header.frameCount == 3 && header.lsn == LSN(9) && header.durableLSN == LSN(8))
    #expect(header.generation == generation)
    expectEqual(header.roots, roots)
    // Words are in a frame of the commits that change them.
    #expect(header.roots.words == Words())
  }

  /// The header's own checksum covers the header; frames and trailer are the chain's concern.
  @Test func flippedBitsMakeACommitHeaderUnreadable() {
    let frames: [UInt8] = [1, 2, 3]
    let bytes = Array(encode(commitHeader(frames: frames), frames)[..<160])
    flipEveryBit(of: bytes, covered: 0..<128) {
      WALCommitHeader($0, storeID: id, offset: 4096) != nil
    }
  }

  @Test func commitHeaderCountsInItsPlaceOnly() {
    let bytes = encode(commitHeader(frames: []), [])
    #expect(readCommit(bytes, offset: 4608) == nil)
    let other = StoreID(high: id.low, low: id.high)
    #expect(Bytes.with(bytes) { WALCommitHeader($0, storeID: other, offset: 4096) } == nil)
    #expect(readCommit(Array(bytes[..<127])) == nil)
  }

  @Test func commitHeaderBeyondTheLimitsIsRefused() {
    var header = commitHeader(frames: [])
    header.roots[TreeNumber(3)] = PageNumber(header.roots.pageNumberEnd)
    #expect(readCommit(encode(header, [])) == nil)
    header = commitHeader(frames: [])
    header.roots.pageNumberEnd = 0
    #expect(readCommit(encode(header, [])) == nil)
    header = commitHeader(frames: [])
    header.lsn = LSN(1 << 62)
    #expect(readCommit(encode(header, [])) == nil)
    header = commitHeader(frames: [])
    header.durableLSN = LSN(.max)
    #expect(readCommit(encode(header, [])) == nil)
  }

  // MARK: Watermark

  @Test func watermarkComesBackInItsPlaceOnly() throws {
    let bytes = array(
      WALWatermark(durableLSN: LSN(41), generation: generation).encode(storeID: id, offset: 8192))
    #expect(bytes.count == WALWatermark.byteCount)
    let watermark = try #require(
      Bytes.with(bytes) { WALWatermark($0, storeID: id, offset: 8192) })
    #expect(watermark.durableLSN == LSN(41) && watermark.generation == generation)
    #expect(Bytes.with(bytes) { WALWatermark($0, storeID: id, offset: 8704) } == nil)
    flipEveryBit(of: bytes, covered: 0..<40) { WALWatermark($0, storeID: id, offset: 8192) != nil }
  }

  // MARK: Meta slot

  private var meta: MetaSlot {
    var table = PageTableRoot.empty
    table.entry = TableEntry(slot: SlotNumber(17), check: 0xABCD_EF01)
    table.checksum = 0x1122
    table.height = 2
    return MetaSlot(
      pageByteCount: 8192, storeID: id, writeNumber: 1234, checkpointLSN: LSN(99), chain: 0xBEEF,
      generation: generation, writer: .turn, isClean: true,
      table: table, roots: roots)
  }

  private func readMeta(_ bytes: [UInt8]) -> MetaSlot? { Bytes.with(bytes) { readMeta($0) } }

  private func readMeta(_ bytes: Bytes) -> MetaSlot? {
    if case .valid(let meta) = MetaSlot.read(bytes) { meta } else { nil }
  }

  @Test func metaSlotComesBack() throws {
    for (writer, isClean) in [(MetaSlot.Writer.turn, true), (.opening, false)] {
      var expected = meta
      expected.writer = writer
      expected.isClean = isClean
      let found = try #require(readMeta(array(expected.encode())))
      #expect(found.pageByteCount == 8192 && found.storeID == id && found.writeNumber == 1234)
      #expect(found.checkpointLSN == LSN(99) && found.chain == 0xBEEF)
      #expect(found.generation == generation && found.table == expected.table)
      #expect(found.writer == writer && found.isClean == isClean)
      expectEqual(found.roots, roots)
      #expect(found.roots.words == roots.words)
      #expect(array(found.encode()) == array(expected.encode()))
    }
  }

  /// The whole slot is covered: its sum lies at its very end.
  @Test func flippedBitsMakeAMetaSlotUnreadable() {
    flipEveryBit(of: array(meta.encode()), covered: 0..<MetaSlot.byteCount) { (bytes: Bytes) in
      readMeta(bytes) != nil
    }
  }

  @Test func metaSlotBeyondTheLimitsIsRefused() {
    func isRead(_ change: (inout MetaSlot) -> Void) -> Bool {
      var meta = meta
      change(&meta)
      return readMeta(array(meta.encode())) != nil
    }
    #expect(!isRead { $0.pageByteCount = 5000 } && !isRead { $0.pageByteCount = 0 })
    #expect(!isRead { $0.writeNumber = 1 << 62 } && !isRead { $0.checkpointLSN = LSN(1 << 62) })
    #expect(!isRead { $0.generation = Generation(counter: .max, random: 0) })
    #expect(isRead { $0.table.height = 4 } && !isRead { $0.table.height = 5 })
    for tree in [0, 7, 15] {
      #expect(isRead { $0.roots[TreeNumber(tree)] = PageNumber(9999) })
      #expect(!isRead { $0.roots[TreeNumber(tree)] = PageNumber(10_000) })
    }
  }

  /// Eight words come before the number of seals, and the others behind it.
  @Test func wordsLieInTheirTwoPlacesInAMetaSlot() {
    let bytes = array(meta.encode())
    let offsets = (0..<8).map { 188 + 8 * $0 } + (0..<16).map { 260 + 8 * $0 }
    let words = Bytes.with(bytes) { bytes in offsets.map { bytes.uint64(at: $0) } }
    #expect(words == (0..<Words.count).map { roots.words[$0] })
    #expect(bytes[252..<260].allSatisfy { $0 == 0 })
    #expect(bytes[388..<504].allSatisfy { $0 == 0 })
    var old = meta
    old.roots.words = Words()
    let zeros = array(old.encode())
    #expect(zeros[188..<504].allSatisfy { $0 == 0 })
    #expect(readMeta(zeros)?.roots.words == Words())
  }

  @Test func otherFilesAreForeignAndCutOnesUnreadable() {
    func kind(_ bytes: [UInt8]) -> String {
      switch Bytes.with(bytes, { MetaSlot.read($0) }) {
      case .valid: "valid"
      case .foreign: "foreign"
      case .unsupported: "unsupported"
      case .unreadable: "unreadable"
      case .locked: "locked"
      }
    }
    let bytes = array(meta.encode())
    #expect(kind(bytes) == "valid")
    #expect(kind([]) == "foreign" && kind(Array("SQLite format 3".utf8)) == "foreign")
    for count in [1, 8, 511] { #expect(kind(Array(bytes[..<count])) == "unreadable") }
  }
}
