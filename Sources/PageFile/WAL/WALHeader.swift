/// The first sector of a WAL file.
///
/// See docs/page-file-format.md, W-1 … W-4.
///
///     offset  size  field
///          0     8  magic: 89 'W' 'A' 'L' 0D 0A 1A 0A
///          8     4  format version
///         12     4  state: 1 in use, 2 empty
///         16    16  store id
///         32    16  generation
///         48     8  first LSN
///         56     8  the chain value that the first commit continues
///         64     8  checksum of bytes 0 ..< 64
///         72     8  settled LSN: all commits up to it are in the data file; 0 if not yet known
///         80     8  checksum of bytes 64 ..< 80
///         88     …  zeros up to 512
///
/// Commits begin at `commitsOffset`.
package struct WALHeader: Sendable, Equatable {
  package static let byteCount = 512
  /// Commits and watermarks begin at multiples of this size.
  package static let sectorByteCount = 512
  /// The offset of the first commit, one device block after the start of the header, so that
  /// writing a commit never rewrites the header's block.
  package static let commitsOffset = 4096
  static let magic: [UInt8] = [0x89, 0x57, 0x41, 0x4C, 0x0D, 0x0A, 0x1A, 0x0A]
  private static let checksumOffset = 64
  private static let settledOffset = 72
  private static let settledChecksumOffset = 80

  package internal(set) var storeID: StoreID
  package var isEmpty: Bool
  package var generation: Generation
  package var firstLSN: LSN
  package internal(set) var chain: UInt64
  /// The settled LSN, added to the header once the data file has the file's commits; zero before
  /// that.
  package var settledLSN = LSN.zero
  /// True for a sealed header that was read without the keys of its store: only the store id is
  /// known, and that is not proven.
  package internal(set) var isLocked = false

  package func encode() -> ByteBuffer {
    var buffer = ByteBuffer(capacity: Self.byteCount)
    buffer.append(Self.magic)
    buffer.append(littleEndian: MetaSlot.formatVersion)
    buffer.append(littleEndian: UInt32(isEmpty ? 2 : 1))
    buffer.append(storeID)
    buffer.append(generation)
    buffer.append(littleEndian: firstLSN.rawValue)
    buffer.append(littleEndian: chain)
    buffer.append(littleEndian: Self.checksum(buffer.bytes))
    if settledLSN != .zero {
      buffer.append(littleEndian: settledLSN.rawValue)
      buffer.append(littleEndian: Self.settledChecksum(buffer.bytes))
    }
    buffer.append(zeros: Self.byteCount - buffer.count)
    return buffer
  }

  private static func checksum(_ bytes: Bytes) -> UInt64 {
    Checksum.of(bytes.slice(0, checksumOffset), seed: Checksum.seed(0x5741_4C48))
  }

  /// Returns the checksum of the settled LSN.
  ///
  /// It also covers the header's checksum, so the mark counts only with its own header.
  private static func settledChecksum(_ bytes: Bytes) -> UInt64 {
    Checksum.of(
      bytes.slice(checksumOffset, settledChecksumOffset - checksumOffset),
      seed: Checksum.seed(0x5741_4C53))
  }

  /// Decodes a header; returns nil if the bytes are not a valid header.
  package init?(_ bytes: Bytes) {
    guard bytes.count >= Self.byteCount else { return nil }
    for (offset, byte) in Self.magic.enumerated() where bytes[offset] != byte { return nil }
    guard bytes.uint64(at: Self.checksumOffset) == Self.checksum(bytes) else { return nil }
    var reader = ByteReader(bytes, at: 8)
    guard reader.uint32() == MetaSlot.formatVersion, let state = reader.uint32(),
      state == 1 || state == 2, let storeID = reader.storeID(),
      let generation = reader.generation(), let firstLSN = reader.uint64(),
      let chain = reader.uint64(), firstLSN >= 1, firstLSN < Counter.limit,
      generation.counter < Counter.limit
    else { return nil }
    self.init(
      storeID: storeID, isEmpty: state == 2, generation: generation, firstLSN: LSN(firstLSN),
      chain: chain)
    // The field may hold remains of an earlier header.
    if bytes.uint64(at: Self.settledChecksumOffset) == Self.settledChecksum(bytes) {
      settledLSN = LSN(bytes.uint64(at: Self.settledOffset))
    }
  }

  package init(
    storeID: StoreID, isEmpty: Bool, generation: Generation, firstLSN: LSN, chain: UInt64
  ) {
    self.storeID = storeID
    self.isEmpty = isEmpty
    self.generation = generation
    self.firstLSN = firstLSN
    self.chain = chain
  }
}
