import Damage
import PageFile
import Simulation
import Testing

/// A store that is read beside its owner follows what the owner commits, at the cost of what was
/// committed, and within its own budget.
struct RefreshTests {
  private static let loggedCount = 400

  /// An owner whose log holds some hundred pages.
  private func owner(_ files: any StorageDirectory) throws -> Database {
    var options = DatabaseOptions()
    options.backgroundWork = .caller
    let owner = try Database(in: files, name: "x", options: options)
    try owner.write { (source) throws(PageFileError) in
      for index in 0..<1600 { try source.put(key(index), value(0)) }
    }
    try owner.checkpoint()
    try owner.write { (source) throws(PageFileError) in
      for index in stride(from: 0, to: 1600, by: 4) { try source.put(key(index), value(1)) }
    }
    #expect(owner.statistics.loggedPageCount >= Self.loggedCount - 10)
    return owner
  }

  private func reader(_ files: any StorageDirectory, budget: Int = 64) throws -> Database {
    var options = DatabaseOptions()
    options.backgroundWork = .caller
    options.access = .readOnly
    options.cacheByteCount = budget * 4096
    return try Database(in: files, name: "x", options: options)
  }

  private func key(_ index: Int) -> [UInt8] { [UInt8(index >> 8), UInt8(index & 255)] }
  private func value(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 900) }

  private func read(_ index: Int, _ transaction: borrowing ReadTransaction) throws -> UInt8? {
    let source = transaction.source
    try source.enter()
    defer { source.leave() }
    var value = ByteBuffer()
    let isFound = try Bytes.with(key(index)) { (key) throws(PageFileError) in
      try BTree(source, TreeNumber(0)).value(of: key, appendTo: &value)
    }
    return isFound ? value.bytes[0] : nil
  }

  @Test func followingACommitReadsThatCommit() throws {
    let files = MemoryDirectory()
    let owner = try owner(files)
    let readCount = Locked(0)
    let hooked = HookedDirectory(files) { (call, _) throws(PageFileError) in
      if call.kind == .read { readCount.withLock { $0 += 1 } }
    }
    let reader = try reader(hooked)
    _ = try reader.beginRead()
    for round in 0..<20 {
      try owner.write { (source) throws(PageFileError) in
        try source.put(key(4 * round), value(UInt8(100 + round)))
      }
      readCount.withLock { $0 = 0 }
      let transaction = try reader.beginRead()
      // Meta slots and headers twice, the commit, and what follows it.
      #expect(readCount.withLock { $0 } <= 14)
      #expect(transaction.lsn == owner.statistics.lastLSN)
      #expect(try read(4 * round, transaction) == UInt8(100 + round))
    }
  }

  /// A transaction that is kept keeps what it sees, and not the whole log once for each commit.
  @Test(arguments: [false, true])
  func aReaderBesideTheOwnerStaysWithinItsMemory(ownerCheckpoints: Bool) throws {
    let files = MemoryDirectory()
    let owner = try owner(files)
    let reader = try reader(files, budget: 400)
    let kept = try reader.beginRead()
    let before = try read(8, kept)
    var peak = 0
    for round in 0..<60 {
      try owner.write { (source) throws(PageFileError) in
        for index in 0..<5 { try source.put(key(round * 5 + index), value(UInt8(round))) }
      }
      if ownerCheckpoints && round % 4 == 3 { try owner.checkpoint() }
      let transaction = try reader.beginRead()
      #expect(try read(round * 5, transaction) == UInt8(round))
      peak = max(peak, reader.livingPageCount)
    }
    print("reader beside the owner: at most \(peak) pages, log \(owner.statistics.loggedPageCount)")
    // The log as it is, once more for the transaction that is kept, the cache, and what waits.
    #expect(peak < 2 * (Self.loggedCount + 60) + 400 + 100)
    if !ownerCheckpoints { #expect(try read(8, kept) == before) }
  }

  /// Every moment that a reader has seen stays what it was, whatever is applied later.
  @Test func whatIsHeldStaysAsItWas() throws {
    var random = SeededGenerator(printedFor: #function)
    let files = MemoryDirectory()
    let owner = try owner(files)
    let reader = try reader(files, budget: 2000)
    var held: [(transaction: Held, contents: [[UInt8]: [UInt8]])] = []
    for _ in 0..<120 {
      for _ in 0...random.below(2) {
        try owner.write { (source) throws(PageFileError) in
          for _ in 0...random.below(3) {
            let key = key(random.below(300))
            switch random.below(4) {
            case 0: try source.remove(key)
            case 1: try source.put(key, random.bytes(1 + random.below(9000)))
            default: try source.put(key, random.bytes(1 + random.below(500)))
            }
          }
        }
      }
      if random.below(25) == 0 { try owner.checkpoint() }
      let transaction = try reader.beginRead()
      #expect(transaction.lsn == owner.statistics.lastLSN)
      if random.below(3) == 0 {
        let contents = try contents(of: transaction.source)
        #expect(try contents.hasSameBytes(as: owner.contents()))
        held.append((Held(transaction), contents))
      }
      if held.count > 6 { held.remove(at: random.below(held.count)) }
      for entry in held where random.below(4) == 0 {
        do throws(PageFileError) {
          let contents = try PageFileTests.contents(of: entry.transaction.value.source)
          #expect(contents.hasSameBytes(as: entry.contents))
        } catch {
          #expect(error == .snapshotExpired)
        }
      }
    }
    held = []
    _ = try reader.beginRead()
    let cachedCount = reader.statistics.cachedPageCount + reader.statistics.loggedPageCount
    #expect(reader.livingPageCount <= cachedCount)
    #expect(try reader.findings() == [])
  }

  private final class Held {
    let value: ReadTransaction
    init(_ value: consuming ReadTransaction) { self.value = value }
  }

  private func overwrite(
    _ name: String, of files: MemoryDirectory, with bytes: [UInt8]
  ) throws {
    let file = try files.open(name, .readWrite)
    try Bytes.with(bytes) { (bytes) throws(PageFileError) in try file.write(bytes, at: 0) }
  }

  /// A commit that is not whole yet is not seen; those before it are, and nothing is lost of them.
  @Test func aCommitThatIsHalfWrittenWaits() throws {
    let files = MemoryDirectory()
    let owner = try owner(files)
    let shown = files.copy()
    // Room for the log twice: reading all of it anew gives maps that share nothing with those before.
    let reader = try reader(shown, budget: 2000)
    let before = try reader.beginRead()
    let lsn = before.lsn
    for round in 1...2 {
      try owner.write { (source) throws(PageFileError) in
        try source.put(key(round), value(UInt8(50 + round)))
      }
    }
    let whole = files.copy()
    for name in ["x-wal0", "x-wal1"] {
      let old = try #require(shown[name])
      var new = try #require(whole[name])
      // In the chain value of the later commit; behind it lie zeros, where there may have been others.
      guard
        let last = new.indices.last(where: {
          ($0 >= old.count || new[$0] != old[$0]) && new[$0] != 0
        })
      else { continue }
      new[last] ^= 1
      try overwrite(name, of: shown, with: new)
    }
    for _ in 0..<3 {
      let transaction = try reader.beginRead()
      #expect(transaction.lsn == lsn.next)
      #expect(try read(1, transaction) == 51 && read(2, transaction) == 0)
    }
    for name in ["x-wal0", "x-wal1"] {
      try overwrite(name, of: shown, with: #require(whole[name]))
    }
    #expect(try read(2, reader.beginRead()) == 52)
    #expect(try read(1, before) == 0)
  }
}
