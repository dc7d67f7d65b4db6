import PageFile
import Testing

/// A scan gives the commits up to the first that is not whole, and says what is in the way.
struct WALScanTests {
  private let id = StoreID(high: 1, low: 2)
  private let header = WALHeader(
    storeID: StoreID(high: 1, low: 2), isEmpty: false,
    generation: Generation(counter: 3, random: 4), firstLSN: LSN(5), chain: 6)

  /// A WAL file under construction.
  private struct Draft {
    let directory = MemoryDirectory()
    let file: any StorageFile
    var offset = WALHeader.commitsOffset
    var chain: UInt64
    var lsn: LSN
    var places: [Range<Int>] = []

    init(_ header: WALHeader) throws {
      file = try directory.open("wal", .create)
      try file.write(header.encode(), at: 0)
      chain = header.chain
      lsn = header.firstLSN
    }

    mutating func append(
      _ frames: [UInt8], _ header: WALHeader, durableLSN: LSN = .zero, lsn other: LSN? = nil
    ) throws {
      let commit = WALCommitHeader(
        frameCount: 1, lsn: other ?? lsn, durableLSN: durableLSN, generation: header.generation,
        framesByteCount: frames.count, roots: Roots())
      var buffer = ByteBuffer()
      chain = Bytes.with(frames) {
        commit.encode(
          frames: $0, storeID: header.storeID, offset: offset, chain: chain, into: &buffer)
      }
      try file.write(buffer, at: offset)
      places.append(offset..<offset + buffer.count)
      offset += buffer.count
      lsn = lsn.next
    }
  }

  private func draft(commitCount: Int, _ random: inout SeededGenerator) throws -> (Draft, [[UInt8]])
  {
    var draft = try Draft(header)
    var contents: [[UInt8]] = []
    for _ in 0..<commitCount {
      contents.append(random.bytes(1 + random.below(1500)))
      try draft.append(contents[contents.count - 1], header)
    }
    return (draft, contents)
  }

  /// All commits that a scan gives, and why it stopped.
  private func scan(_ file: any StorageFile) throws -> (frames: [[UInt8]], stop: WALScan.Stop) {
    var scan = try WALScan(file, header)
    var frames: [[UInt8]] = []
    while true {
      let before = scan.lsn
      let stop = try scan.next { commit in
        #expect(commit.header.lsn == before.next)
        frames.append(commit.frames.array())
      }
      guard let stop else { continue }
      #expect(scan.lsn == LSN(header.firstLSN.rawValue - 1 + UInt64(frames.count)))
      return (frames, stop)
    }
  }

  private func isBroken(_ stop: WALScan.Stop) -> Bool {
    if case .broken = stop { true } else { false }
  }

  @Test func givesEveryCommitInOrder() throws {
    var random = SeededGenerator()
    let (draft, contents) = try draft(commitCount: 20, &random)
    let (frames, stop) = try scan(draft.file)
    #expect(frames == contents && stop == .end)
    // What an earlier life of the file has left behind the end does not matter.
    var old = ByteBuffer()
    old.append(random.bytes(4000))
    try draft.file.write(old, at: draft.offset)
    #expect(try scan(draft.file).frames == contents)
  }

  @Test func emptyFileHasNoCommit() throws {
    let draft = try Draft(header)
    #expect(try scan(draft.file) == ([], .end))
    try draft.file.extend(to: 100_000)
    #expect(try scan(draft.file) == ([], .end))
  }

  /// A power cut leaves any of a commit's sectors unwritten.
  @Test func stopsBeforeATornCommit() throws {
    var random = SeededGenerator()
    for _ in 0..<60 {
      let (draft, contents) = try draft(commitCount: 4, &random)
      let torn = random.below(4)
      let place = draft.places[torn]
      let sector = place.lowerBound + 512 * random.below(place.count / 512)
      draft.directory["wal"]?.replaceSubrange(
        sector..<sector + 512, with: repeatElement(0, count: 512))
      let (frames, stop) = try scan(draft.directory.open("wal", .read))
      #expect(frames == Array(contents[..<torn]))
      // Without its header nothing looks like a commit.
      #expect(isBroken(stop) == (sector > place.lowerBound))
    }
  }

  @Test func stopsBeforeAnyFlippedBitThatCounts() throws {
    var random = SeededGenerator()
    let (draft, contents) = try draft(commitCount: 3, &random)
    let bytes = try #require(draft.directory["wal"])
    let place = draft.places[1]
    let counts = place.lowerBound..<place.lowerBound + 128 + contents[1].count + 8
    for _ in 0..<150 {
      let offset = Int.random(in: place, using: &random)
      draft.directory["wal"] = bytes
      draft.directory["wal"]?[offset] ^= 1 << UInt8(random.below(8))
      let (frames, _) = try scan(draft.directory.open("wal", .read))
      #expect(frames == (counts.contains(offset) ? Array(contents[..<1]) : contents))
    }
  }

  @Test func stopsBeforeACommitThatIsCutOff() throws {
    var random = SeededGenerator()
    let (draft, contents) = try draft(commitCount: 3, &random)
    for byteCount in stride(from: draft.places[2].lowerBound, to: draft.offset, by: 256) {
      try draft.file.truncate(to: draft.offset)
      try draft.file.truncate(to: byteCount)
      #expect(try scan(draft.file).frames == Array(contents[..<2]))
    }
  }

  @Test func stopsBeforeAnotherLifeAndAWrongNumber() throws {
    var another = header
    another.generation = Generation(counter: 2, random: 4)
    var draft = try Draft(header)
    try draft.append([1], header)
    try draft.append([2], another)
    #expect(try scan(draft.file) == ([[1]], .end))
    draft = try Draft(header)
    try draft.append([1], header)
    try draft.append([2], header, lsn: LSN(9))
    let (frames, stop) = try scan(draft.file)
    #expect(frames == [[1]] && stop == .broken(reason: "commit 9 follows commit 5"))
  }

  /// Headers and watermarks behind a break tell what was durable; those of another life do not.
  @Test func witnessesAreFoundBehindABreak() throws {
    var draft = try Draft(header)
    try draft.append([UInt8](repeating: 1, count: 2000), header)
    try draft.append([2], header, durableLSN: LSN(5))
    try draft.append([3], header, durableLSN: LSN(6))
    draft.directory["wal"]?[draft.places[0].lowerBound + 700] ^= 1
    let file = try draft.directory.open("wal", .readWrite)
    #expect(try scan(file).frames == [])
    func greatest(_ header: WALHeader?) throws -> LSN {
      try WALScan.greatestDurableLSN(in: file, header: header, storeID: id)
    }
    #expect(try greatest(header) == LSN(6))
    try file.extend(to: draft.offset + 1024)
    let watermark = WALWatermark(durableLSN: LSN(7), generation: header.generation)
    try file.write(watermark.encode(storeID: id, offset: draft.offset), at: draft.offset)
    #expect(try greatest(header) == LSN(7))
    #expect(try greatest(nil) == LSN(7))
    let old = WALWatermark(durableLSN: LSN(100), generation: Generation(counter: 1, random: 1))
    try file.write(old.encode(storeID: id, offset: draft.offset + 512), at: draft.offset + 512)
    #expect(try greatest(header) == LSN(7))
    // A watermark that was moved, as it lies beside its place.
    try file.write(watermark.encode(storeID: id, offset: 0), at: draft.offset)
    #expect(try greatest(header) == LSN(6))
  }
}
