import PageFile
import Simulation
import Testing

/// Every byte that an encrypted store writes, looked at where it is written: clear fields that the
/// format lists, zeros, and units that open with the key, and nothing else.
struct SealedWritesTests {
  private let seals = SealSource(seed: 4, isCollecting: true)

  /// A text that is in every key and value.
  private static let canary = Array("canary-text-of-23-bytes".utf8)

  @Test func everyWriteIsZerosOrUnitsThatOpen() throws {
    let directory = RecordingDirectory()
    try play(in: directory)
    let account = WriteAccount(seals, directory.writes)
    #expect(account.unaccounted == [])
    for (unit, count) in account.counts { #expect(count > 0, "\(unit)") }
    #expect(seals.sealCount > 50 && seals.repeatedCount == 0)
  }

  @Test func noTextAndNoKeyIsInTheFiles() throws {
    let directory = RecordingDirectory()
    try play(in: directory)
    let needles = [Array(Self.canary[..<12]), [UInt8](repeating: 1, count: 12)]
    for write in directory.writes {
      for needle in needles where contains(write.bytes, needle) {
        Issue.record("\(write.name), offset \(write.offset): \(needle) can be read")
      }
    }
    // The search finds what is there.
    let plain = RecordingDirectory()
    try play(in: plain, encrypted: false)
    #expect(plain.writes.contains { contains($0.bytes, needles[0]) })
  }

  /// Two stores that were made with the same source of ids and generations share no byte of noise.
  @Test func nothingSecretComesFromTheOptions() throws {
    let files = try (0..<2).map { _ in
      let directory = RecordingDirectory()
      try play(in: directory, random: { 7 })
      return try #require(directory.files["x"])
    }
    #expect(files[0][..<56] == files[1][..<56], "the same store id")
    #expect(files[0][100..<140] != files[1][100..<140], "another data key")
    let slots = 32768..<min(files[0].count, files[1].count)
    for start in stride(from: slots.lowerBound, to: slots.upperBound, by: 4096) {
      let (one, other) = (files[0][start..<start + 4092], files[1][start..<start + 4092])
      #expect(one != other || one.allSatisfy { $0 == 0 })
    }
  }

  private func contains(_ bytes: [UInt8], _ needle: [UInt8]) -> Bool {
    var start = 0
    while let first = bytes[start...].firstIndex(of: needle[0]) {
      if bytes[first...].starts(with: needle) { return true }
      start = first + 1
    }
    return false
  }

  /// Commits, checkpoints, an erasure, a kill, a compaction, and a clean close.
  private func play(
    in directory: RecordingDirectory, encrypted: Bool = true,
    random: (@Sendable () -> UInt64)? = nil
  ) throws {
    var options = DatabaseOptions()
    options.encryption = encrypted ? seals.encryption : nil
    options.backgroundWork = .caller
    if let random { options.random = random }
    var database = try Database(in: directory, name: "x", options: options)
    for round in 0..<12 {
      try database.write(round % 3 == 0 ? .full : .relaxed) { (source) throws(PageFileError) in
        source.isErasing = round == 7
        for key in 0..<20 {
          let isLong = (key + round) % 7 == 0
          let value = (0..<(isLong ? 300 : 9)).flatMap { _ in Self.canary }
          try source.put(Self.canary + bigEndian(key), value)
        }
        for key in min(round, 10)..<10 { try source.remove(Self.canary + bigEndian(key)) }
      }
      if round % 4 == 2 { try database.checkpoint() }
      if round == 5 {
        try database.suspend(checkpoints: false)
        database = try Database(in: directory, name: "x", options: options)
      }
    }
    try database.compact()
    try database.close()
  }
}

/// The kind of each write of an encrypted store.
private struct WriteAccount {
  private(set) var counts = [
    "meta slot": 0, "page": 0, "header": 0, "commit": 0, "watermark": 0, "zeros": 0,
  ]
  private(set) var unaccounted: [String] = []
  private var keys: StoreKeys?
  private var chains: [String: (offset: Int, chain: UInt64)] = [:]

  init(_ seals: SealSource, _ writes: [RecordingDirectory.Write]) {
    for write in writes {
      if keys == nil { keys = Self.keys(seals, write.bytes) }
      guard let keys, let unit = unit(write, keys) else {
        unaccounted.append("\(write.name), offset \(write.offset), \(write.bytes.count) bytes")
        continue
      }
      counts[unit, default: 0] += 1
    }
  }

  private static func keys(_ seals: SealSource, _ slot: [UInt8]) -> StoreKeys? {
    guard case .locked(let locked) = Bytes.with(slot, { MetaSlot.read($0) }) else { return nil }
    let record = Bytes.with(Array(slot[56..<140])) { KeyRecord($0) }
    let result = StoreKeys.unlock(
      [record], of: locked.storeID, pageByteCount: locked.pageByteCount, under: seals.cipher)
    if case .unlocked(let keys) = result { return keys }
    return nil
  }

  private mutating func unit(_ write: RecordingDirectory.Write, _ keys: StoreKeys) -> String? {
    if write.bytes.allSatisfy({ $0 == 0 }) { return "zeros" }
    return Bytes.with(write.bytes) { bytes in
      if !write.name.contains("-wal") { return dataUnit(bytes, write.offset, keys) }
      return logUnit(bytes, write, keys)
    }
  }

  private func dataUnit(_ bytes: Bytes, _ offset: Int, _ keys: StoreKeys) -> String? {
    if offset < 32768 {
      guard offset % 16384 == 0, bytes.count == 512,
        case .valid = MetaSlot.read(bytes, index: offset / 16384, keys)
      else { return nil }
      return "meta slot"
    }
    guard (offset - 32768) % 4096 == 0, bytes.count % 4096 == 0 else { return nil }
    var content = ByteBuffer(capacity: 4064)
    content.append(zeros: 4064)
    for start in stride(from: 0, to: bytes.count, by: 4096) {
      let slot = SlotNumber(UInt32((offset + start - 32768) / 4096 + 1))
      let page = bytes.slice(start, 4096)
      if page.firstNonzero(at: 0) == 4096 { continue }
      guard keys.open(page, of: slot, into: content.mutableBytes) else { return nil }
    }
    return "page"
  }

  private mutating func logUnit(
    _ bytes: Bytes, _ write: RecordingDirectory.Write, _ keys: StoreKeys
  ) -> String? {
    if write.offset == 0 {
      guard let header = WALHeader.read(bytes, keys), header.storeID == keys.storeID else {
        return nil
      }
      chains[write.name] = (4096, header.chain)
      return "header"
    }
    let form = LogForm(keys.storeID, keys)
    if bytes.count == 56 { return form.watermark(bytes, at: write.offset).map { _ in "watermark" } }
    guard let header = form.commitHeader(bytes, at: write.offset),
      let (offset, chain) = chains[write.name], offset == write.offset,
      form.byteCount(framesByteCount: header.framesByteCount) == bytes.count
    else { return nil }
    var commit = ByteBuffer(capacity: bytes.count)
    commit.append(bytes)
    guard let next = form.open(commit.mutableBytes, header, at: offset, chain: chain) else {
      return nil
    }
    chains[write.name] = (offset + bytes.count, next)
    return "commit"
  }
}
