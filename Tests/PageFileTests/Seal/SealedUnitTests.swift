import PageFile
import Simulation
import Testing

/// The context of each seal: a unit opens in its own context, and in no other.
///
/// On a whole store the check of a table entry and the page number hide a slot that is not bound,
/// so this is asked of each unit alone.
struct SealedUnitTests {
  private let seals = SealSource(seed: 3)
  private let storeID = StoreID(high: 0x1111_2222_3333_4444, low: 0x5555_6666_7777_8888)
  private var keys: StoreKeys {
    StoreKeys.make(for: storeID, pageByteCount: 4096, under: seals.cipher)
  }

  /// Calls `isOpen` with the bytes, and with each bit of them flipped.
  private func expectOnlyWhole(_ bytes: [UInt8], _ isOpen: ([UInt8]) -> Bool) {
    #expect(isOpen(bytes))
    var bytes = bytes
    for offset in bytes.indices {
      bytes[offset] ^= 1 << UInt8(offset % 8)
      if isOpen(bytes) { Issue.record("byte \(offset) of \(bytes.count) may change") }
      bytes[offset] ^= 1 << UInt8(offset % 8)
    }
  }

  private func array(_ buffer: consuming ByteBuffer) -> [UInt8] { buffer.bytes.array() }

  // MARK: Keys

  /// A unit of one kind can stand for none of another kind, whatever their contexts.
  @Test func pagesLogAndSlotsHaveKeysOfTheirOwn() {
    let keys = keys
    let ciphers = [keys.pages, keys.log, keys.metas]
    let context: [UInt8] = [1, 2, 3]
    for (index, cipher) in ciphers.enumerated() {
      var unit = ByteBuffer(capacity: 64)
      let target = unit.extend(by: 20 + SealedUnit.addedByteCount)
      Bytes.with([UInt8](repeating: 9, count: 20)) { plain in
        Bytes.with(context) { cipher.seal(plain, context: $0, into: target) }
      }
      for (other, cipher) in ciphers.enumerated() {
        var plain = ByteBuffer(capacity: 64)
        let opened = plain.extend(by: 20)
        let isOpen = Bytes.with(context) {
          cipher.open(unit.bytes, context: $0, into: opened)
        }
        #expect(isOpen == (index == other))
      }
    }
  }

  // MARK: Pages

  private func sealedPage(
    _ keys: StoreKeys, _ content: [UInt8], slot: UInt32, keeping check: UInt32? = nil
  ) -> (bytes: [UInt8], stamp: UInt64) {
    var page = ByteBuffer(capacity: 4096)
    let target = page.extend(by: 4096)
    let stamp = Bytes.with(content) {
      keys.seal($0, keeping: check, for: SlotNumber(slot), into: target)
    }
    return (page.bytes.array(), stamp)
  }

  private func content(_ keys: StoreKeys, _ page: [UInt8], slot: UInt32) -> [UInt8]? {
    var content = ByteBuffer(capacity: 4064)
    let target = content.extend(by: 4064)
    let isOpen = Bytes.with(page) { keys.open($0, of: SlotNumber(slot), into: target) }
    return isOpen ? content.bytes.array() : nil
  }

  @Test func aPageOpensInItsSlotOnly() {
    let keys = keys
    let plain = (0..<4064).map { UInt8(truncatingIfNeeded: $0 / 3) }
    let page = sealedPage(keys, plain, slot: 7)
    let opened = content(keys, page.bytes, slot: 7)
    let isSame = opened?[8...] == plain[8...]
    #expect(isSame)
    #expect(opened.map { Bytes.with($0) { $0.uint64(at: 0) } } == page.stamp)
    #expect(page.bytes[4092...].allSatisfy { $0 == 0 })
    for slot: UInt32 in [0, 6, 8, 0x0700] { #expect(content(keys, page.bytes, slot: slot) == nil) }
    expectOnlyWhole(page.bytes) { content(keys, $0, slot: 7) != nil }
    let others = StoreKeys.make(for: storeID, pageByteCount: 4096, under: seals.cipher)
    #expect(content(others, page.bytes, slot: 7) == nil, "another data key")
  }

  @Test func aPageThatIsWrittenTwiceHasTwoStampsAndOneThatMovesKeepsItsCheck() {
    let keys = keys
    let plain = [UInt8](repeating: 4, count: 4064)
    let first = sealedPage(keys, plain, slot: 1)
    let second = sealedPage(keys, plain, slot: 1)
    let check = UInt32(truncatingIfNeeded: first.stamp)
    #expect(UInt32(truncatingIfNeeded: second.stamp) != check)
    #expect(first.bytes[..<12] != second.bytes[..<12])
    let moved = sealedPage(keys, plain, slot: 2, keeping: check)
    #expect(UInt32(truncatingIfNeeded: moved.stamp) == check && moved.stamp != first.stamp)
    #expect(content(keys, first.bytes, slot: 2) == nil)
  }

  // MARK: The log

  private let generation = Generation(counter: 5, random: 77)

  private func commit(
    _ keys: StoreKeys, frames: [UInt8], offset: Int, chain: UInt64
  ) -> (bytes: [UInt8], chain: UInt64) {
    let form = LogForm(storeID, keys)
    var roots = Roots()
    roots.pageNumberEnd = 9
    roots[TreeNumber(2)] = PageNumber(4)
    let header = WALCommitHeader(
      frameCount: 3, lsn: LSN(12), durableLSN: LSN(11), generation: generation,
      framesByteCount: frames.count, roots: roots, isErasing: true)
    var buffer = ByteBuffer(capacity: 4096)
    buffer.append(zeros: form.framesOffset)
    buffer.append(frames)
    var scratch = ByteBuffer(capacity: 128)
    let newChain = form.complete(&buffer, header, offset: offset, chain: chain, using: &scratch)
    return (buffer.bytes.array(), newChain)
  }

  private func frames(
    _ keys: StoreKeys, _ commit: [UInt8], offset: Int, chain: UInt64
  ) -> (frames: [UInt8], chain: UInt64)? {
    let form = LogForm(storeID, keys)
    var buffer = ByteBuffer(capacity: commit.count)
    buffer.append(commit)
    guard let header = form.commitHeader(buffer.bytes, at: offset),
      let newChain = form.open(buffer.mutableBytes, header, at: offset, chain: chain)
    else { return nil }
    let frames = buffer.bytes.slice(form.framesOffset(in: header), header.framesByteCount)
    return (frames.array(), newChain)
  }

  @Test(arguments: [0, 1, 300, 356, 357, 848, 900])
  func aCommitOpensAtItsOffsetBehindItsChainOnly(byteCount: Int) throws {
    let keys = keys
    let plain = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &+ 1) }
    let (bytes, chain) = commit(keys, frames: plain, offset: 4096, chain: 99)
    #expect(bytes.count == (byteCount <= 356 ? 512 : byteCount <= 848 ? 1024 : 1536))
    let opened = try #require(frames(keys, bytes, offset: 4096, chain: 99))
    #expect(opened.frames == plain && opened.chain == chain)
    #expect(frames(keys, bytes, offset: 4096, chain: 98) == nil)
    #expect(frames(keys, bytes, offset: 4608, chain: 99) == nil)
    expectOnlyWhole(bytes) { frames(keys, $0, offset: 4096, chain: 99) != nil }
  }

  /// Witnesses are read behind a place where the chain is broken.
  @Test(arguments: [3, 500])
  func aCommitHeaderOpensWithoutTheChain(byteCount: Int) throws {
    let keys = keys
    let form = LogForm(storeID, keys)
    let plain = [UInt8](repeating: 3, count: byteCount)
    let (bytes, _) = commit(keys, frames: plain, offset: 8192, chain: 1234)
    let header = try #require(Bytes.with(bytes) { form.commitHeader($0, at: 8192) })
    #expect(header.lsn == LSN(12) && header.durableLSN == LSN(11) && header.isErasing)
    #expect(header.generation == generation && header.frameCount == 3)
    #expect(header.roots[TreeNumber(2)] == PageNumber(4) && header.roots.pageNumberEnd == 9)
    #expect(Bytes.with(bytes) { form.commitHeader($0, at: 8704) } == nil)
    // A commit of one sector is one unit.
    let end = byteCount == 3 ? 512 : 148
    expectOnlyWhole(Array(bytes[..<end])) { changed in
      Bytes.with(changed + bytes[end...]) { form.commitHeader($0, at: 8192) } != nil
    }
  }

  /// The header of one commit does not stand before the body of another.
  @Test func aBodyIsBoundToItsHeader() {
    let keys = keys
    let frames = [UInt8](repeating: 1, count: 500)
    let (one, _) = commit(keys, frames: frames, offset: 4096, chain: 5)
    let (other, _) = commit(keys, frames: frames.map { $0 + 1 }, offset: 4096, chain: 5)
    let mixed = Array(one[..<148]) + other[148...]
    #expect(self.frames(keys, mixed, offset: 4096, chain: 5) == nil)
  }

  /// A commit of one sector cannot be taken for the header of a longer one, nor the reverse.
  @Test func theNumberOfSectorsIsPartOfTheSeal() {
    let keys = keys
    let form = LogForm(storeID, keys)
    for byteCount in [3, 500] {
      let frames = [UInt8](repeating: 9, count: byteCount)
      let (bytes, _) = commit(keys, frames: frames, offset: 0, chain: 5)
      for count: UInt8 in [0, 1, 2, 3] where count != bytes[4] {
        var changed = bytes
        changed[4] = count
        #expect(Bytes.with(changed) { form.commitHeader($0, at: 0) } == nil)
      }
    }
  }

  @Test func twoCommitsThatDifferWithinASectorHaveOneLength() {
    let keys = keys
    for (counts, length) in [([0, 1, 355, 356], 512), ([357, 500, 847, 848], 1024)] {
      let commits = counts.map { count in
        commit(keys, frames: [UInt8](repeating: 1, count: count), offset: 4096, chain: 5).bytes
      }
      #expect(commits.allSatisfy { $0.count == length })
      #expect(Set(commits.map { Array($0[..<8]) }).count == 1, "the clear bytes are the same")
      // No run of zeros tells where the frames end.
      #expect(commits.allSatisfy { $0[8...].suffix(24).contains { $0 != 0 } })
    }
  }

  @Test func aWatermarkOpensAtItsOffsetOnly() throws {
    let form = LogForm(storeID, keys)
    let bytes = array(
      form.encode(WALWatermark(durableLSN: LSN(8), generation: generation), offset: 4608))
    #expect(bytes.count == 56)
    let sector = bytes + [UInt8](repeating: 0, count: 456)
    let read = try #require(Bytes.with(sector) { form.watermark($0, at: 4608) })
    #expect(read.durableLSN == LSN(8) && read.generation == generation)
    #expect(Bytes.with(sector) { form.watermark($0, at: 5120) } == nil)
    expectOnlyWhole(bytes) { changed in
      Bytes.with(changed) { form.watermark($0, at: 4608) } != nil
    }
  }

  @Test func aWALHeaderIsProvenInAllOfItsSector() throws {
    let keys = keys
    var header = WALHeader(
      storeID: storeID, isEmpty: false, generation: generation, firstLSN: LSN(3), chain: 44)
    header.settledLSN = LSN(2)
    let bytes = array(header.encode(keys))
    #expect(bytes.count == 512)
    #expect(Bytes.with(bytes) { WALHeader.read($0, keys) } == header)
    expectOnlyWhole(bytes) { changed in
      // Of another store's header nothing is known but that.
      Bytes.with(changed) { WALHeader.read($0, keys) }.map { $0.storeID == storeID } ?? false
    }
    #expect(Bytes.with(bytes) { WALHeader.read($0, nil) }?.generation == Generation.none)
    #expect(Bytes.with(array(header.encode())) { WALHeader.read($0, keys) } == nil, "a plain one")
  }

  // MARK: Meta slots

  private func meta() -> MetaSlot {
    var roots = Roots()
    roots.pageNumberEnd = 500
    roots[TreeNumber(1)] = PageNumber(3)
    roots.words[3] = 300
    roots.words[20] = .max
    var table = PageTableRoot.empty
    table.entry = TableEntry(slot: SlotNumber(8), check: 9)
    table.checksum = 10
    table.height = 2
    var meta = MetaSlot(
      pageByteCount: 4096, storeID: storeID, writeNumber: 6, checkpointLSN: LSN(40), chain: 7,
      generation: generation, writer: .turn, isClean: true,
      table: table, roots: roots)
    meta.features.mustUnderstand = MetaSlot.Features.encrypted
    return meta
  }

  private func withChecksum(_ slot: [UInt8]) -> [UInt8] {
    Bytes.with(Array(slot[..<504])) { bytes in
      var buffer = ByteBuffer(capacity: 512)
      buffer.append(bytes)
      buffer.append(littleEndian: Checksum.of(bytes, seed: Checksum.seed(0x4D45_5441)))
      return buffer.bytes.array()
    }
  }

  private func isValid(_ bytes: [UInt8], _ index: Int, _ keys: StoreKeys) -> Bool {
    let reading = Bytes.with(bytes) { MetaSlot.read($0, index: index, keys) }
    if case .valid = reading { return true }
    return false
  }

  @Test func aMetaSlotOpensAtItsIndexOnly() throws {
    let keys = keys
    let bytes = array(meta().encode(keys, index: 1))
    #expect(bytes.count == 512)
    guard case .valid(let read) = Bytes.with(bytes, { MetaSlot.read($0, index: 1, keys) }) else {
      Issue.record("does not open")
      return
    }
    #expect(read.writeNumber == 6 && read.checkpointLSN == LSN(40) && read.chain == 7)
    #expect(read.generation == generation && read.isClean && read.writer == .turn)
    #expect(read.table == meta().table && read.features == meta().features)
    #expect(read.roots[TreeNumber(1)] == PageNumber(3) && read.roots.pageNumberEnd == 500)
    #expect(read.roots.words == meta().roots.words)
    #expect(read.sealCount == keys.sealCount && read.sealCount > 0)
    #expect(!isValid(bytes, 0, keys))
    // Somebody who changes a byte can make the checksum anew.
    expectOnlyWhole(Array(bytes[..<504])) { isValid(withChecksum($0 + [0]), 1, keys) }
    expectOnlyWhole(bytes) { isValid($0, 1, keys) }
  }

  @Test func aMetaSlotShowsItsClearBytesWithoutAKey() {
    let bytes = array(meta().encode(keys, index: 0))
    guard case .locked(let slot) = Bytes.with(bytes, { MetaSlot.read($0) }) else {
      Issue.record("not locked")
      return
    }
    #expect(slot.storeID == storeID && slot.pageByteCount == 4096)
  }

  /// No unit of one kind stands for one of another, and no two contexts have the same bytes.
  @Test func labelsDiffer() {
    #expect(Set(SealLabel.allCases.map(\.rawValue)).count == SealLabel.allCases.count)
  }

  // MARK: The key record

  @Test func aRecordOpensForItsStoreOnly() {
    let keys = keys
    let record = keys.record
    func unlocks(
      _ bytes: [UInt8], _ id: StoreID, _ pageByteCount: Int, _ seals: SealSource
    ) -> Bool {
      let record = Bytes.with(bytes) { KeyRecord($0) }
      let result = StoreKeys.unlock(
        [record], of: id, pageByteCount: pageByteCount, under: seals.cipher)
      if case .unlocked = result { return true } else { return false }
    }
    #expect(record.bytes.count == KeyRecord.byteCount)
    expectOnlyWhole(record.bytes) { unlocks($0, storeID, 4096, seals) }
    #expect(!unlocks(record.bytes, StoreID(high: 1, low: storeID.low), 4096, seals))
    #expect(!unlocks(record.bytes, storeID, 8192, seals))
    #expect(!unlocks(record.bytes, storeID, 4096, SealSource(seed: 3, key: 2)))
  }

  @Test func aBrokenRecordIsNotTakenForAWrongKey() {
    var bytes = keys.record.bytes
    bytes[70] ^= 1
    let record = Bytes.with(bytes) { KeyRecord($0) }
    let result = StoreKeys.unlock([record], of: storeID, pageByteCount: 4096, under: seals.cipher)
    if case .broken = result {} else { Issue.record("\(result)") }
    let other = SealSource(seed: 3, key: 2).cipher
    let wrong = StoreKeys.unlock([record], of: storeID, pageByteCount: 4096, under: other)
    if case .wrongKey = wrong {} else { Issue.record("\(wrong)") }
  }
}
