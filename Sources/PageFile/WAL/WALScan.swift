/// Reads the commits of one WAL file in order, as far as the chain is unbroken.
///
/// Whether what lies behind the last good commit is a torn tail or damage is decided in
/// `WALRecovery`, with the witnesses that this file's other half finds.
package struct WALScan: ~Copyable {
  /// Why a scan stopped.
  package enum Stop: Sendable, Hashable {
    /// Nothing that looks like a commit follows.
    case end
    /// Something follows that does not continue the chain.
    case broken(reason: String)
  }

  let file: any StorageFile
  let header: WALHeader
  package private(set) var offset = WALHeader.commitsOffset
  package private(set) var chain: UInt64
  package private(set) var lsn: LSN
  private var buffer = ByteBuffer(capacity: 4096)
  private let byteCount: Int

  package init(_ file: any StorageFile, _ header: WALHeader) throws(PageFileError) {
    self.file = file
    self.header = header
    chain = header.chain
    lsn = LSN(header.firstLSN.rawValue - 1)
    byteCount = try file.byteCount()
  }

  /// Goes on behind the last commit that was read.
  package init(
    _ file: any StorageFile, _ header: WALHeader, after lsn: LSN, chain: UInt64, at offset: Int
  ) throws(PageFileError) {
    self.file = file
    self.header = header
    self.lsn = lsn
    self.chain = chain
    self.offset = offset
    byteCount = try file.byteCount()
  }

  /// One commit of the file; its frames are valid until the next is read.
  package struct Commit {
    package let header: WALCommitHeader
    package let offset: Int
    package let frames: Bytes
  }

  /// Reads the next commit, or says why there is none.
  package mutating func next(_ body: (Commit) throws(PageFileError) -> Void) throws(PageFileError)
    -> Stop?
  {
    guard byteCount - offset >= WALHeader.sectorByteCount else { return .end }
    try read(WALHeader.sectorByteCount)
    guard
      let commit = WALCommitHeader(buffer.bytes, storeID: header.storeID, offset: offset)
    else {
      return buffer.bytes.uint32(at: 0) == WALCommitHeader.magic
        ? .broken(reason: "commit header at \(offset) is damaged") : .end
    }
    let isOfThisLife = commit.generation == header.generation
    guard isOfThisLife || Defect.generationIgnored.isPlanted else { return .end }
    guard commit.lsn == lsn.next || Defect.commitNumberIgnored.isPlanted else {
      return .broken(reason: "commit \(commit.lsn) follows commit \(lsn)")
    }
    guard commit.paddedByteCount <= byteCount - offset else {
      return .broken(reason: "commit \(commit.lsn) is longer than the file")
    }
    guard commit.framesByteCount <= WALCommitHeader.framesByteCountMax else {
      return .broken(reason: "commit \(commit.lsn) is longer than any writer makes one")
    }
    try read(commit.paddedByteCount)
    let covered = WALCommitHeader.byteCount + commit.framesByteCount
    let newChain = WALCommitHeader.chain(buffer.bytes.slice(0, covered), after: chain)
    let isProven = buffer.bytes.uint64(at: covered) == newChain
    guard isProven || Defect.chainIgnored.isPlanted else {
      return .broken(reason: "commit \(commit.lsn) does not match its checksum")
    }
    try body(
      Commit(
        header: commit, offset: offset,
        frames: buffer.bytes.slice(WALCommitHeader.byteCount, commit.framesByteCount)))
    offset += commit.paddedByteCount
    chain = newChain
    lsn = commit.lsn
    return nil
  }

  /// How much is read at once: a commit that claims to be long gets memory as far as there are bytes.
  private static let pieceByteCount = 1 << 20
  /// A buffer that is longer is not kept for the next commit.
  private static let keptByteCountMax = 1 << 20

  private mutating func read(_ count: Int) throws(PageFileError) {
    buffer.removeAll()
    if buffer.room > Self.keptByteCountMax { buffer = ByteBuffer(capacity: 4096) }
    // Addresses only; memory comes with what is read.
    buffer.reserve(count)
    while buffer.count < count {
      let start = buffer.count
      let piece = buffer.extend(by: min(Self.pieceByteCount, count - start))
      guard try file.readFully(into: piece, at: offset + start) else {
        throw .ioError(call: "pread", errno: 5, path: file.path)
      }
    }
  }

  /// The greatest durable LSN that any commit header or watermark in a WAL file names, at any place
  /// where one may begin.
  ///
  /// With a readable file header only its own generation counts: older ones are remains of lives
  /// whose commits have long been checkpointed.
  package static func greatestDurableLSN(
    in file: any StorageFile, header: WALHeader?, storeID: StoreID
  ) throws(PageFileError) -> LSN {
    let byteCount = try file.byteCount()
    let sector = WALHeader.sectorByteCount
    var buffer = ByteBuffer(capacity: 64 << 10)
    buffer.append(zeros: 64 << 10)
    var greatest = LSN.zero
    var start = WALHeader.commitsOffset
    while start + sector <= byteCount {
      let read = try file.read(into: buffer.mutableBytes, at: start)
      for place in stride(from: 0, through: read - sector, by: sector) {
        let bytes = buffer.bytes.slice(place, sector)
        if let (lsn, generation) = witness(bytes, storeID, start + place),
          header == nil || generation == header?.generation
            || Defect.oldWitnessesBelieved.isPlanted
        {
          greatest = max(greatest, lsn)
        }
      }
      if read < sector { break }
      start += read / sector * sector
    }
    return greatest
  }

  private static func witness(
    _ bytes: Bytes, _ storeID: StoreID, _ offset: Int
  ) -> (LSN, Generation)? {
    switch bytes.uint32(at: 0) {
    case WALCommitHeader.magic:
      WALCommitHeader(bytes, storeID: storeID, offset: offset).map {
        ($0.durableLSN, $0.generation)
      }
    case WALWatermark.magic:
      WALWatermark(bytes, storeID: storeID, offset: offset).map { ($0.durableLSN, $0.generation) }
    default: nil
    }
  }
}
