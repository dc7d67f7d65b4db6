import Damage
import PageFile
import Simulation
import Testing

/// Logs with right checksums that no writer has made: what they ask for has limits.
struct CraftedLogTests {
  private static func options(_ access: DatabaseOptions.Access) -> DatabaseOptions {
    var options = DatabaseOptions()
    options.access = access
    options.backgroundWork = .caller
    return options
  }

  /// A store with one key, in use, and where its log goes on.
  private func store() throws -> (files: MemoryDirectory, name: String, header: WALHeader) {
    let files = MemoryDirectory()
    let database = try Database(in: files, name: "x", options: Self.options(.readWrite))
    try database.write(.full) { (source) throws(PageFileError) in try source.put([1], [1]) }
    try database.checkpoint()
    let copy = files.copy()
    var newest: (name: String, header: WALHeader)?
    for name in ["x-wal0", "x-wal1"] {
      guard let bytes = copy[name], let header = Bytes.with(bytes, { WALHeader($0) }),
        !header.isEmpty
      else { continue }
      if newest.map({ $0.header.generation.counter < header.generation.counter }) ?? true {
        newest = (name, header)
      }
    }
    let log = try #require(newest)
    return (copy, log.name, log.header)
  }

  /// Opens a store whose log has a commit of these frames.
  private func open(frameCount: Int, _ frames: borrowing ByteBuffer) throws -> Database {
    let (files, name, header) = try store()
    let commit = WALCommitHeader(
      frameCount: frameCount, lsn: header.firstLSN, durableLSN: .zero,
      generation: header.generation, framesByteCount: frames.count, roots: Roots())
    var buffer = ByteBuffer()
    _ = commit.encode(
      frames: frames.bytes, storeID: header.storeID, offset: WALHeader.commitsOffset,
      chain: header.chain, into: &buffer)
    var log = Array(try #require(files[name])[..<WALHeader.commitsOffset]) + buffer.bytes.array()
    log += [UInt8](repeating: 0, count: max(512, 256 << 10 - log.count))
    files[name] = log
    return try Database(in: files, name: "x", options: Self.options(.readOnly))
  }

  /// A few bytes would ask for a page each.
  @Test func freshPagesOfNothingAreRefusedOneByOne() throws {
    var frames = ByteBuffer()
    let count = 131_000
    for number in 1...count {
      frames.append(varint: UInt64(number))
      frames.append(2 as UInt8)
      frames.append(varint: 0)
    }
    let reason = "wrong page number or kind after replaying the log"
    #expect(throws: PageFileError.corruptPage(PageNumber(1), reason: reason)) {
      _ = try open(frameCount: count, frames)
    }
  }

  @Test func pagesThatAreNotInUseAreNotFreed() throws {
    var frames = ByteBuffer()
    let count = 4000
    for index in 1...count {
      frames.append(varint: UInt64(index) * 1021)
      frames.append(3 as UInt8)
    }
    let reason = "freed while not in use"
    #expect(throws: PageFileError.corruptPage(PageNumber(1021), reason: reason)) {
      _ = try open(frameCount: count, frames)
    }
  }

  @Test func noPageIsFreedTwice() throws {
    var frames = ByteBuffer()
    for _ in 0..<2 {
      frames.append(varint: 1)
      frames.append(3 as UInt8)
    }
    let reason = "freed while not in use"
    #expect(throws: PageFileError.corruptPage(PageNumber(1), reason: reason)) {
      _ = try open(frameCount: 2, frames)
    }
  }

  private func open(frames: [[UInt8]]) throws -> Database {
    var buffer = ByteBuffer()
    for frame in frames { buffer.append(frame) }
    return try open(frameCount: frames.count, buffer)
  }

  @Test func aFrameOfWordsCountsOnce() throws {
    #expect(try open(frames: [[0, 5, 2, 23, 1]]).state().contents == Contents(words: [23: 1]))
    let long: [UInt8] = [0, 5, 11, 0] + [UInt8](repeating: 0xFF, count: 9) + [1]
    #expect(try open(frames: [long]).state().contents == Contents(words: [0: .max]))
    let tooLong = Array(long.dropLast()) + [2]
    let refusal = PageFileError.corruptWAL(lsn: LSN(2), reason: "malformed frame of words")
    for frames: [[UInt8]] in [
      [[0, 5, 2, 3, 1], [0, 5, 2, 4, 1]], [[0, 5, 0]], [[0, 5, 4, 3, 1, 3, 1]],
      [[0, 5, 4, 4, 1, 3, 1]], [[0, 5, 2, 24, 1]], [[0, 5, 2, 255, 1]], [[0, 5, 1, 16]],
      [[0, 5, 3, 3, 1, 4]], [tooLong],
    ] {
      #expect(throws: refusal) { _ = try open(frames: frames) }
    }
    let malformed = PageFileError.corruptWAL(lsn: LSN(2), reason: "malformed frame")
    for frame: [UInt8] in [[1, 5, 2, 16, 1], [0, 1, 0], [0, 3], [0, 5, 9, 16, 1], [0, 6, 0]] {
      #expect(throws: malformed) { _ = try open(frames: [frame]) }
    }
  }

  /// Words follow from commit to commit, also past one that has no frame at all.
  @Test func wordsThatACommitDoesNotNameStayAsTheyWere() throws {
    let (files, name, header) = try store()
    var log = Array(try #require(files[name])[..<WALHeader.commitsOffset])
    var chain = header.chain
    let commits: [[UInt8]] = [[0, 5, 4, 3, 7, 20, 8], [], [0, 5, 4, 3, 0, 21, 9]]
    for (index, frames) in commits.enumerated() {
      let commit = WALCommitHeader(
        frameCount: frames.isEmpty ? 0 : 1, lsn: LSN(header.firstLSN.rawValue + UInt64(index)),
        durableLSN: .zero, generation: header.generation, framesByteCount: frames.count,
        roots: Roots())
      var buffer = ByteBuffer()
      chain = Bytes.with(frames) {
        commit.encode(
          frames: $0, storeID: header.storeID, offset: log.count, chain: chain, into: &buffer)
      }
      log += buffer.bytes.array()
    }
    files[name] = log + [UInt8](repeating: 0, count: 256 << 10)
    let database = try Database(in: files, name: "x", options: Self.options(.readOnly))
    let (lsn, contents) = try database.state()
    #expect(lsn == 4 && contents == Contents(words: [20: 8, 21: 9]))
  }

  /// A commit header in a file that is long and takes no room on the device.
  @Test func aCommitLongerThanAnyIsNotRead() throws {
    let header = try store().header
    let long = Scale.count(debug: 1 << 28, release: 1 << 30)
    for byteCount in [long, WALCommitHeader.maximumFramesByteCount + 1, 16 << 20] {
      let commit = WALCommitHeader(
        frameCount: 1, lsn: header.firstLSN, durableLSN: .zero, generation: header.generation,
        framesByteCount: byteCount, roots: Roots())
      let file = LongFile(byteCount: 1 << 31)
      file.write(header.encode().bytes, at: 0)
      var buffer = ByteBuffer()
      _ = Bytes.with([0]) {
        WALCommitHeader(
          frameCount: 1, lsn: commit.lsn, durableLSN: .zero, generation: commit.generation,
          framesByteCount: byteCount, roots: Roots()
        ).encode(
          frames: $0.slice(0, 0), storeID: header.storeID, offset: WALHeader.commitsOffset,
          chain: header.chain, into: &buffer)
      }
      file.write(buffer.bytes.slice(0, WALCommitHeader.byteCount), at: WALHeader.commitsOffset)
      var scan = try WALScan(file, header)
      let stop = try scan.next { (_) throws(PageFileError) in Issue.record("a commit was found") }
      #expect(stop != nil && stop != .end)
      // Not at once, and not at all where it is too long.
      #expect(file.longestRead.withLock { $0 } <= 1 << 20)
      let isTooLong = byteCount > WALCommitHeader.maximumFramesByteCount
      #expect(file.readByteCount.withLock { $0 } < (isTooLong ? 1024 : byteCount + 8192))
    }
  }

  /// A file of zeros but for its first pages.
  private final class LongFile: StorageFile {
    let path = "long"
    private let length: Int
    private let start = Locked([UInt8](repeating: 0, count: 8192))
    let longestRead = Locked(0)
    let readByteCount = Locked(0)

    init(byteCount: Int) { length = byteCount }

    func identity() -> FileIdentity { FileIdentity(device: 0, inode: 1, linkCount: 1) }
    func byteCount() -> Int { length }

    func read(into target: MutableBytes, at offset: Int) -> Int {
      longestRead.withLock { $0 = max($0, target.count) }
      readByteCount.withLock { $0 += target.count }
      target.zero(0, target.count)
      start.withLock { start in
        guard offset < start.count else { return }
        let count = min(target.count, start.count - offset)
        Bytes.with(Array(start[offset..<offset + count])) { target.copy($0, to: 0) }
      }
      return max(0, min(target.count, length - offset))
    }

    func write(_ bytes: Bytes, at offset: Int) {
      let array = bytes.array()
      start.withLock { $0.replaceSubrange(offset..<offset + array.count, with: array) }
    }

    func extend(to byteCount: Int) {}
    func truncate(to byteCount: Int) {}
    func sync() {}
    func tryLock() -> Bool { true }
    func close() {}
  }
}
