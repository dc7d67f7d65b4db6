import PageFile
import Simulation

/// The three files of a store as bytes, to be damaged and then made to look right again.
///
/// `repair` computes everything that proves something else: the checksums of pages, the checks in
/// the page table above them, meta slots, WAL headers, commit headers, watermarks, and the chain.
/// Without it nearly all damage would end at the first checksum, and the code behind would never
/// see bytes that a writer gone wrong, or somebody who means harm, could make.
struct StoreImage: Sendable {
  var data: [UInt8]
  var logs: [[UInt8]]
  /// Files that are not there: 0 the data file, 1 and 2 the WAL files.
  var missing: Set<Int> = []
  /// Files that are as long as their bytes here; the others, logs, are filled up with zeros.
  var isResized: Set<Int> = [0]
  let pageByteCount: Int

  static let names = ["x", "x-wal0", "x-wal1"]
  /// A log in use is never shorter.
  static let logByteCountMin = 256 << 10
  static let slotsOffset = 2 * MetaSlot.regionByteCount

  init(_ disk: SimulatedDisk, pageByteCount: Int) {
    data = disk.bytes(of: Self.names[0]) ?? []
    logs = Self.names.dropFirst().map { Self.withoutZeros(disk.bytes(of: $0) ?? []) }
    for (index, name) in Self.names.enumerated() where disk.bytes(of: name) == nil {
      missing.insert(index)
    }
    self.pageByteCount = pageByteCount
  }

  /// A log up to the last sector that holds something: zeros behind it are as good as none.
  private static func withoutZeros(_ log: [UInt8]) -> [UInt8] {
    let end = (log.lastIndex { $0 != 0 } ?? -1) + 1
    let sector = WALHeader.sectorByteCount
    return Array(log[..<min(log.count, (end + sector - 1) / sector * sector)])
  }

  var disk: SimulatedDisk {
    let files = zip(Self.names, [data] + logs).enumerated().map { index, file in
      let byteCount =
        isResized.contains(index)
        ? file.1.count : max(file.1.count, Self.logByteCountMin)
      return (name: file.0, bytes: file.1, byteCount: byteCount)
    }
    return SimulatedDisk(files.indices.filter { !missing.contains($0) }.map { files[$0] })
  }

  // MARK: Places

  var slotCount: Int { max(0, data.count - Self.slotsOffset) / pageByteCount }

  func offset(ofSlot slot: Int) -> Int { Self.slotsOffset + (slot - 1) * pageByteCount }

  /// Where the commits of a WAL file lie, one behind the other.
  func commitOffsets(_ log: Int) -> [Int] {
    var offsets: [Int] = []
    var offset = WALHeader.commitsOffset
    while isCommit(log, at: offset) {
      offsets.append(offset)
      offset += commitByteCount(log, at: offset)
    }
    return offsets
  }

  /// Where the next commit would be.
  func commitsEnd(_ log: Int) -> Int {
    guard let last = commitOffsets(log).last else { return WALHeader.commitsOffset }
    return last + commitByteCount(log, at: last)
  }

  func isCommit(_ log: Int, at offset: Int) -> Bool {
    logs[log].uint(4, at: offset) == 0x3154_4D43
  }

  func commitByteCount(_ log: Int, at offset: Int) -> Int {
    WALCommitHeader.paddedByteCount(framesByteCount: Int(logs[log].uint(4, at: offset + 40)))
  }

  // MARK: Repair

  mutating func repair() {
    repairPages()
    repairLogs()
    repairMetaSlots()
  }

  mutating func repairPages() {
    var done: Set<Int> = []
    for slot in 0..<2 {
      let meta = MetaSlot.offset(of: slot)
      let height = Int(data.uint(1, at: meta + 98))
      let root = Int(data.uint(4, at: meta + 104))
      guard height > 0, height <= TablePage.maximumHeight else { continue }
      guard let checksum = repairTable(root, level: height - 1, &done) else { continue }
      data.store(checksum & 0xFFFF_FFFF, 4, at: meta + 108)
      data.store(checksum, 8, at: meta + 112)
    }
  }

  /// Makes a table page and all below it right, and answers its checksum.
  private mutating func repairTable(_ slot: Int, level: Int, _ done: inout Set<Int>) -> UInt64? {
    guard slot >= 1, slot <= slotCount else { return nil }
    let offset = offset(ofSlot: slot)
    guard done.insert(slot).inserted else { return data.uint(8, at: offset) }
    for index in 0..<TablePage.entryCount(pageByteCount: pageByteCount) {
      let entry = offset + TablePage.entryOffset(index)
      let child = Int(data.uint(4, at: entry))
      if child == 0 { continue }
      let checksum =
        level > 0 ? repairTable(child, level: level - 1, &done) : repairPage(child, &done)
      if let checksum { data.store(checksum & 0xFFFF_FFFF, 4, at: entry + 4) }
    }
    return storePageChecksum(slot)
  }

  private mutating func repairPage(_ slot: Int, _ done: inout Set<Int>) -> UInt64? {
    guard slot >= 1, slot <= slotCount else { return nil }
    guard done.insert(slot).inserted else { return data.uint(8, at: offset(ofSlot: slot)) }
    return storePageChecksum(slot)
  }

  private mutating func storePageChecksum(_ slot: Int) -> UInt64 {
    let offset = offset(ofSlot: slot)
    let seed = Checksum.seed(
      data.uint(8, at: 40), data.uint(8, at: 48),
      data.uint(4, at: offset + PageHeader.numberOffset),
      data.uint(1, at: offset + PageHeader.kindOffset))
    let checksum = data.checksum(
      offset + PageHeader.lsnOffset..<offset + pageByteCount, seed: seed)
    data.store(checksum, 8, at: offset)
    return checksum
  }

  mutating func repairMetaSlots() {
    for slot in 0..<2 {
      let offset = MetaSlot.offset(of: slot)
      guard offset + MetaSlot.byteCount <= data.count else { continue }
      let checksum = data.checksum(offset..<offset + 504, seed: Checksum.seed(0x4D45_5441))
      data.store(checksum, 8, at: offset + 504)
    }
  }

  /// The log that was begun first comes first: what goes on from its last commit, the other log or
  /// the meta slots, has the chain value that it ends with.
  mutating func repairLogs() {
    let order = [0, 1].sorted { logs[$0].uint(8, at: 32) < logs[$1].uint(8, at: 32) }
    if let end = repairLog(order[0]) {
      if logs[order[1]].uint(8, at: 48) == end.lsn &+ 1 {
        logs[order[1]].store(end.chain, 8, at: 56)
      }
      for slot in 0..<2 where data.uint(8, at: MetaSlot.offset(of: slot) + 64) == end.lsn {
        data.store(end.chain, 8, at: MetaSlot.offset(of: slot) + 72)
      }
    }
    _ = repairLog(order[1])
  }

  /// Makes a WAL file right, and answers which LSN and chain value it ends with.
  private mutating func repairLog(_ log: Int) -> (lsn: UInt64, chain: UInt64)? {
    guard logs[log].count >= WALHeader.byteCount else { return nil }
    logs[log].store(logs[log].checksum(0..<64, seed: Checksum.seed(0x5741_4C48)), 8, at: 64)
    var lsn = logs[log].uint(8, at: 48) &- 1
    var chain = logs[log].uint(8, at: 56)
    var offset = WALHeader.commitsOffset
    var isChained = true
    while offset + WALHeader.sectorByteCount <= logs[log].count {
      repairSector(log, at: offset)
      let covered = offset + WALCommitHeader.byteCount + Int(logs[log].uint(4, at: offset + 40))
      isChained = isChained && isCommit(log, at: offset) && covered + 8 <= logs[log].count
      if isChained {
        chain = logs[log].checksum(offset..<covered, seed: chain)
        logs[log].store(chain, 8, at: covered)
        lsn = logs[log].uint(8, at: offset + 8)
        offset += commitByteCount(log, at: offset)
      } else {
        offset += WALHeader.sectorByteCount
      }
    }
    return (lsn, chain)
  }

  /// The checksum of the commit header or watermark that a sector may hold.
  private mutating func repairSector(_ log: Int, at offset: Int) {
    let kinds: [(magic: UInt64, seed: UInt64, byteCount: Int)] = [
      (0x3154_4D43, 0x434D_5431, 120), (0x4B52_4D57, 0x574D_524B, 32),
    ]
    for kind in kinds where logs[log].uint(4, at: offset) == kind.magic {
      let seed = Checksum.seed(
        kind.seed, logs[log].uint(8, at: 16), logs[log].uint(8, at: 24), UInt64(offset))
      let checksum = logs[log].checksum(offset..<offset + kind.byteCount, seed: seed)
      logs[log].store(checksum, 8, at: offset + kind.byteCount)
    }
  }
}
