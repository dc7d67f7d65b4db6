/// The header of a commit, which is the unit of the log: header, frames, one checksum over both.
///
/// See docs/page-file-format.md, W-5 … W-12.
///
///     offset  size  field
///          0     4  magic: 'C' 'M' 'T' '1'
///          4     4  frame count
///          8     8  LSN
///         16     8  durable LSN known when this was written
///         24    16  generation
///         40     4  byte count of the frames
///         44     4  flags: 1 if the commit erases
///         48    68  roots, and end of page numbers; a frame has the words that the commit changes
///        116     4  zero
///        120     8  checksum of bytes 0 ..< 120, seeded with store id and file offset
///        128     n  frames
///      128+n     8  chain value: checksum of bytes 0 ..< 128+n, seeded with the chain value before
///                …  zeros up to a multiple of 512
///
/// The header has its own checksum, so it can be found and believed after a break in the chain.
/// That tells damage from a torn tail.
package struct WALCommitHeader: Sendable {
  package static let byteCount = 128
  package static let trailerByteCount = 8
  /// The most bytes of frames that a writer makes for one commit: its pages are at most 64 MiB, and
  /// the rest is enough for ten million freed pages.
  ///
  /// See W-6.
  package static let maximumFramesByteCount = 128 << 20
  static let magic: UInt32 = 0x3154_4D43
  private static let checksumOffset = 120

  package internal(set) var frameCount: Int
  package var lsn: LSN
  package var durableLSN: LSN
  package var generation: Generation
  package internal(set) var framesByteCount: Int
  /// The roots after this commit; read from the bytes of a header, without the words.
  package var roots: Roots
  /// True if the content that the commit removes has to be overwritten everywhere.
  package var isErasing = false

  /// The size of header, frames and trailer, and the zeros after them.
  package var paddedByteCount: Int { Self.paddedByteCount(framesByteCount: framesByteCount) }

  package static func paddedByteCount(framesByteCount: Int) -> Int {
    let byteCount = byteCount + framesByteCount + trailerByteCount
    return (byteCount + WALHeader.sectorByteCount - 1) / WALHeader.sectorByteCount
      * WALHeader.sectorByteCount
  }

  private static func checksum(_ bytes: Bytes, _ id: StoreID, _ offset: Int) -> UInt64 {
    Checksum.of(
      bytes.slice(0, checksumOffset),
      seed: Checksum.seed(0x434D_5431, id.high, id.low, UInt64(offset)))
  }

  /// Encodes a whole commit for an offset in a WAL file and returns the chain value that it ends
  /// with.
  package func encode(
    frames: Bytes, storeID: StoreID, offset: Int, chain: UInt64, into buffer: inout ByteBuffer
  ) -> UInt64 {
    buffer.removeAll()
    buffer.append(zeros: Self.byteCount)
    buffer.append(frames)
    var header = ByteBuffer(capacity: Self.byteCount)
    return complete(&buffer, storeID: storeID, offset: offset, chain: chain, using: &header)
  }

  /// Completes a commit in place, in a buffer that has room for the header followed by the frames.
  ///
  /// - Parameter header: A scratch buffer, which saves an allocation.
  /// - Returns: The chain value that the commit ends with.
  func complete(
    _ commit: inout ByteBuffer, storeID: StoreID, offset: Int, chain: UInt64,
    using header: inout ByteBuffer
  ) -> UInt64 {
    append(to: &header, storeID: storeID, offset: offset)
    commit.mutableBytes.copy(header.bytes, to: 0)
    let newChain = Self.chain(commit.bytes, after: chain)
    commit.append(littleEndian: newChain)
    commit.append(zeros: paddedByteCount - commit.count)
    return newChain
  }

  private func append(to buffer: inout ByteBuffer, storeID: StoreID, offset: Int) {
    buffer.removeAll()
    buffer.append(littleEndian: Self.magic)
    appendFields(to: &buffer)
    buffer.append(zeros: Self.checksumOffset - buffer.count)
    buffer.append(littleEndian: Self.checksum(buffer.bytes, storeID, offset))
  }

  /// Appends bytes 4 ..< 116.
  func appendFields(to buffer: inout ByteBuffer) {
    buffer.append(littleEndian: UInt32(frameCount))
    buffer.append(littleEndian: lsn.rawValue)
    buffer.append(littleEndian: durableLSN.rawValue)
    buffer.append(generation)
    buffer.append(littleEndian: UInt32(framesByteCount))
    buffer.append(littleEndian: UInt32(isErasing ? 1 : 0))
    roots.append(to: &buffer)
  }

  /// Returns the chain value of a commit whose header and frames are `bytes`.
  package static func chain(_ bytes: Bytes, after chain: UInt64) -> UInt64 {
    Checksum.of(bytes, seed: chain)
  }

  /// Decodes the header at `offset`; returns nil if it is malformed or its checksum does not match.
  package init?(_ bytes: Bytes, storeID: StoreID, offset: Int) {
    guard bytes.count >= Self.byteCount, bytes.uint32(at: 0) == Self.magic,
      bytes.uint64(at: Self.checksumOffset) == Self.checksum(bytes, storeID, offset)
    else { return nil }
    self.init(fields: bytes.dropFirst(4))
  }

  /// Decodes bytes 4 ..< 116, which are proven; returns nil if a field is out of range.
  init?(fields: Bytes) {
    var reader = ByteReader(fields)
    guard let frameCount = reader.uint32(), let lsn = reader.uint64(),
      let durableLSN = reader.uint64(), let generation = reader.generation(),
      let framesByteCount = reader.uint32(), let flags = reader.uint32(), flags <= 1,
      let roots = Roots(&reader),
      lsn < Counter.limit, durableLSN < Counter.limit
    else { return nil }
    self.init(
      frameCount: Int(frameCount), lsn: LSN(lsn), durableLSN: LSN(durableLSN),
      generation: generation, framesByteCount: Int(framesByteCount), roots: roots,
      isErasing: flags == 1)
  }

  package init(
    frameCount: Int, lsn: LSN, durableLSN: LSN, generation: Generation, framesByteCount: Int,
    roots: Roots, isErasing: Bool = false
  ) {
    self.isErasing = isErasing
    self.frameCount = frameCount
    self.lsn = lsn
    self.durableLSN = durableLSN
    self.generation = generation
    self.framesByteCount = framesByteCount
    self.roots = roots
  }
}

/// A record of how far the log was durable, written where the next commit will begin.
///
/// See docs/page-file-format.md, W-18 … W-20.
///
///     offset  size  field
///          0     4  magic: 'W' 'M' 'R' 'K'
///          4     4  zero
///          8     8  durable LSN
///         16    16  generation
///         32     8  checksum of bytes 0 ..< 32, seeded with store id and file offset
///
/// It is not synced by itself. In the place of the next commit it adds no block to the next sync.
/// In the file's header it made a durable commit half again as slow.
package struct WALWatermark: Sendable {
  static let magic: UInt32 = 0x4B52_4D57
  package static let byteCount = 40
  /// The length of what it says: durable LSN and generation.
  static let contentByteCount = 24
  private static let checksumOffset = 32

  package var durableLSN: LSN
  package var generation: Generation

  private static func checksum(_ bytes: Bytes, _ id: StoreID, _ offset: Int) -> UInt64 {
    Checksum.of(
      bytes.slice(0, checksumOffset),
      seed: Checksum.seed(0x574D_524B, id.high, id.low, UInt64(offset)))
  }

  package func encode(storeID: StoreID, offset: Int) -> ByteBuffer {
    var buffer = ByteBuffer(capacity: Self.byteCount)
    buffer.append(littleEndian: Self.magic)
    buffer.append(zeros: 4)
    buffer.append(littleEndian: durableLSN.rawValue)
    buffer.append(generation)
    buffer.append(littleEndian: Self.checksum(buffer.bytes, storeID, offset))
    return buffer
  }

  package init(durableLSN: LSN, generation: Generation) {
    self.durableLSN = durableLSN
    self.generation = generation
  }

  package init?(_ bytes: Bytes, storeID: StoreID, offset: Int) {
    guard bytes.count >= Self.byteCount, bytes.uint32(at: 0) == Self.magic,
      bytes.uint64(at: Self.checksumOffset) == Self.checksum(bytes, storeID, offset)
    else { return nil }
    var reader = ByteReader(bytes, at: 8)
    guard let durable = reader.uint64(), let generation = reader.generation() else { return nil }
    self.init(durableLSN: LSN(durable), generation: generation)
  }
}
