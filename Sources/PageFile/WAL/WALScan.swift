/// A scan of one WAL file, which reads its commits in order as far as the chain is unbroken.
///
/// `WALRecovery` decides if the bytes after the last good commit are a torn tail or damage, with
/// the witnesses that `greatestDurableLSN` finds.
package struct WALScan: ~Copyable {
  /// The reason why a scan stopped.
  package enum Stop: Sendable, Equatable {
    /// The next bytes do not look like a commit of this log.
    case end
    /// The next bytes look like a commit but do not continue the chain.
    case broken(reason: String)
  }

  let file: any StorageFile
  let header: WALHeader
  private let form: LogForm
  package private(set) var offset = WALHeader.commitsOffset
  package private(set) var chain: UInt64
  package private(set) var lsn: LSN
  private var buffer = ByteBuffer(capacity: 4096)
  private let byteCount: Int

  package init(
    _ file: any StorageFile, _ header: WALHeader, _ keys: StoreKeys? = nil
  ) throws(PageFileError) {
    self.file = file
    self.header = header
    form = LogForm(header.storeID, keys)
    chain = header.chain
    lsn = LSN(header.firstLSN.rawValue - 1)
    byteCount = try file.byteCount()
  }

  /// Continues after the last commit of an earlier scan.
  package init(
    _ file: any StorageFile, _ header: WALHeader, _ keys: StoreKeys?, after lsn: LSN,
    chain: UInt64, at offset: Int
  ) throws(PageFileError) {
    self.file = file
    self.header = header
    form = LogForm(header.storeID, keys)
    self.lsn = lsn
    self.chain = chain
    self.offset = offset
    byteCount = try file.byteCount()
  }

  /// One commit of the file; its frames are valid until the next one is read.
  package struct Commit {
    package let header: WALCommitHeader
    package let offset: Int
    package let byteCount: Int
    package let frames: Bytes
  }

  /// Reads the next commit and passes it to `body`, or returns the reason why the scan stopped.
  package mutating func next(_ body: (Commit) throws(PageFileError) -> Void) throws(PageFileError)
    -> Stop?
  {
    guard byteCount - offset >= WALHeader.sectorByteCount else { return .end }
    try read(WALHeader.sectorByteCount)
    guard let commit = form.commitHeader(buffer.bytes, at: offset) else {
      return buffer.bytes.uint32(at: 0) == WALCommitHeader.magic
        ? .broken(reason: "offset \(offset): damaged commit header") : .end
    }
    let isOfThisLife = commit.generation == header.generation
    guard isOfThisLife || Defect.generationIgnored.isPlanted else { return .end }
    guard commit.lsn == lsn.next || Defect.commitNumberIgnored.isPlanted else {
      return .broken(reason: "commit \(commit.lsn) follows commit \(lsn)")
    }
    let commitByteCount = form.byteCount(framesByteCount: commit.framesByteCount)
    guard commitByteCount <= byteCount - offset else {
      return .broken(reason: "commit \(commit.lsn): longer than the file")
    }
    guard commit.framesByteCount <= WALCommitHeader.maximumFramesByteCount else {
      return .broken(reason: "commit \(commit.lsn): longer than the limit")
    }
    try read(commitByteCount)
    guard let newChain = form.open(buffer.mutableBytes, commit, at: offset, chain: chain) else {
      return .broken(reason: "commit \(commit.lsn): checksum mismatch")
    }
    try body(
      Commit(
        header: commit, offset: offset, byteCount: commitByteCount,
        frames: buffer.bytes.slice(form.framesOffset(in: commit), commit.framesByteCount)))
    offset += commitByteCount
    chain = newChain
    lsn = commit.lsn
    return nil
  }

  /// The number of bytes read at once, so that a commit that claims to be long takes no more memory
  /// than there are bytes to read.
  private static let pieceByteCount = 1 << 20
  /// The largest buffer that is kept for the next commit.
  private static let maximumKeptByteCount = 1 << 20

  private mutating func read(_ count: Int) throws(PageFileError) {
    buffer.removeAll()
    if buffer.room > Self.maximumKeptByteCount { buffer = ByteBuffer(capacity: 4096) }
    // Reserves addresses only; memory is committed as bytes are read.
    buffer.reserve(count)
    while buffer.count < count {
      let start = buffer.count
      let piece = buffer.extend(by: min(Self.pieceByteCount, count - start))
      guard try file.readFully(into: piece, at: offset + start) else {
        throw .ioError(call: "pread", errno: 5, path: file.path)
      }
    }
  }

  /// Returns the greatest durable LSN that any commit header or watermark in a WAL file names, at
  /// any offset where one may begin.
  ///
  /// If the file header is readable, only its own generation counts: older ones are remains of
  /// lives whose commits have long been checkpointed.
  package static func greatestDurableLSN(
    in file: any StorageFile, header: WALHeader?, storeID: StoreID, _ keys: StoreKeys? = nil
  ) throws(PageFileError) -> LSN {
    let form = LogForm(storeID, keys)
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
        if let (lsn, generation) = witness(bytes, form, start + place),
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
    _ bytes: Bytes, _ form: LogForm, _ offset: Int
  ) -> (LSN, Generation)? {
    switch bytes.uint32(at: 0) {
    case WALCommitHeader.magic:
      // Behind a broken chain nobody knows the chain value before.
      Defect.chainInHeader.isPlanted && form.keys != nil
        ? nil : form.commitHeader(bytes, at: offset).map { ($0.durableLSN, $0.generation) }
    case WALWatermark.magic:
      form.watermark(bytes, at: offset).map { ($0.durableLSN, $0.generation) }
    default: nil
    }
  }
}
