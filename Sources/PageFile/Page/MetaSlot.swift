/// One of the two root records of the data file.
///
/// See docs/page-file-format.md, M-1 … M-14.
///
///     offset  size  field
///          0     8  magic: 89 'P' 'G' 'F' 0D 0A 1A 0A
///          8     4  format version
///         12     4  page size in bytes
///         16    24  feature words, see `Features`
///         40    16  store id
///         56     8  number of this write
///         64     8  checkpoint LSN
///         72     8  chain value at the checkpoint LSN
///         80    16  generation of the WAL file that follows
///         96     1  written by: 1 a turn, 2 an opening
///         97     1  closed cleanly: 0 or 1
///         98     1  page table height
///         99     1  what was erased may still lie in free slots and in the log: 0 or 1
///        100     4  zero
///        104     8  page table root: slot and check
///        112     8  checksum of the page table's root page, all 64 bits
///        120    68  roots, and end of page numbers
///        188    64  words 0 to 7
///        252     8  number of seals under the data key; zero in a store that is not encrypted
///        260   128  words 8 to 23
///        388     …  zeros
///        504     8  checksum of bytes 0 ..< 504
///
/// For a store that is encrypted see `MetaSlot+Sealed.swift`: these are the bytes before sealing.
///
/// A slot fits in one 512-byte sector, so a torn write leaves either the old slot or the new one.
package struct MetaSlot: Sendable {
  package static let byteCount = 512
  /// Each slot has a region of this size to itself, so that no device writes both at once.
  package static let regionByteCount = 16384
  package static let formatVersion: UInt32 = 1
  package static let magic: [UInt8] = [0x89, 0x50, 0x47, 0x46, 0x0D, 0x0A, 0x1A, 0x0A]
  /// The offset of the store id, for callers that read it from a slot damaged elsewhere.
  package static let storeIDOffset = 40
  private static let checksumOffset = 504

  package enum Writer: UInt8, Sendable {
    case turn = 1
    case opening = 2
  }

  /// The features that a file uses beyond this version of the format, one bit each, grouped by how
  /// a reader that does not know them may treat the file.
  ///
  /// This version knows one, `encrypted`.
  package struct Features: Sendable, Equatable {
    /// The bit of `mustUnderstand` that says that the store is encrypted.
    package static let encrypted: UInt64 = 2
    /// The bits of `mustUnderstand` that this version knows.
    package static let understood = encrypted

    /// Features that allow reading the file but not writing it.
    package internal(set) var mayRead: UInt64 = 0
    /// Features that allow reading and writing the file; the bits are kept.
    package internal(set) var mayWrite: UInt64 = 0
    /// Features that forbid even reading the file.
    package var mustUnderstand: UInt64 = 0

    package var all: UInt64 { mayRead | mayWrite | mustUnderstand }

    package var isEncrypted: Bool { mustUnderstand & Self.encrypted != 0 }
  }

  package var features = Features()
  /// True if a checkpoint still has to overwrite erased content.
  package internal(set) var isErasurePending = false
  /// The number of seals under the data key so far; 0 in a store that is not encrypted.
  package internal(set) var sealCount: UInt64 = 0
  package var pageByteCount: Int
  package internal(set) var storeID: StoreID
  package var writeNumber: UInt64
  package var checkpointLSN: LSN
  package internal(set) var chain: UInt64
  package var generation: Generation
  package var writer: Writer
  package var isClean: Bool
  package var table: PageTableRoot
  package var roots: Roots

  /// Returns the offset of a meta slot in the data file.
  package static func offset(of index: Int) -> Int { index * regionByteCount }

  package func encode() -> ByteBuffer {
    var buffer = ByteBuffer(capacity: Self.byteCount)
    buffer.append(Self.magic)
    buffer.append(littleEndian: Self.formatVersion)
    buffer.append(littleEndian: UInt32(pageByteCount))
    buffer.append(littleEndian: features.mayRead)
    buffer.append(littleEndian: features.mayWrite)
    buffer.append(littleEndian: features.mustUnderstand)
    buffer.append(storeID)
    buffer.append(littleEndian: writeNumber)
    buffer.append(littleEndian: checkpointLSN.rawValue)
    buffer.append(littleEndian: chain)
    buffer.append(generation)
    buffer.append(writer.rawValue)
    buffer.append(isClean ? 1 : 0)
    buffer.append(UInt8(table.height))
    buffer.append(isErasurePending ? 1 : 0)
    buffer.append(zeros: 4)
    buffer.append(littleEndian: table.entry.rawValue)
    buffer.append(littleEndian: table.checksum)
    roots.append(to: &buffer)
    roots.words.append(0..<Words.lowCount, to: &buffer)
    buffer.append(littleEndian: sealCount)
    roots.words.append(Words.lowCount..<Words.count, to: &buffer)
    buffer.append(zeros: Self.checksumOffset - buffer.count)
    buffer.append(littleEndian: Self.checksum(buffer.bytes))
    return buffer
  }

  static func checksum(_ bytes: Bytes) -> UInt64 {
    Checksum.of(bytes.slice(0, checksumOffset), seed: Checksum.seed(0x4D45_5441))
  }

  /// The result of decoding the bytes of a slot.
  package enum Reading: Sendable {
    indirect case valid(MetaSlot)
    /// The first bytes belong to another kind of file.
    case foreign
    /// The slot has a newer format, or features that this version would have to know.
    case unsupported(version: UInt32, features: UInt64)
    case unreadable(reason: String)
    /// The slot is one of an encrypted store, whole, and was read without its key.
    case locked(Locked)
  }

  package static func read(_ bytes: Bytes) -> Reading {
    if bytes.count == 0 { return .foreign }
    for offset in 0..<min(magic.count, bytes.count) where bytes[offset] != magic[offset] {
      return .foreign
    }
    guard bytes.count == byteCount else { return .unreadable(reason: "shorter than a meta slot") }
    guard bytes.uint64(at: checksumOffset) == checksum(bytes) else {
      return .unreadable(reason: "checksum mismatch")
    }
    var reader = ByteReader(bytes, at: 8)
    guard let version = reader.uint32(), let pageByteCount = reader.uint32(),
      let mayRead = reader.uint64(), let mayWrite = reader.uint64(),
      let mustUnderstand = reader.uint64()
    else { return .unreadable(reason: "too short") }
    let features = Features(
      mayRead: mayRead, mayWrite: mayWrite, mustUnderstand: mustUnderstand)
    guard version == formatVersion, mustUnderstand & ~Features.understood == 0 else {
      return .unsupported(version: version, features: features.all)
    }
    if features.isEncrypted {
      guard let slot = Locked(bytes, pageByteCount: Int(pageByteCount)) else {
        return .unreadable(reason: "field out of range")
      }
      return .locked(slot)
    }
    guard let meta = MetaSlot(&reader, pageByteCount: Int(pageByteCount), features) else {
      return .unreadable(reason: "field out of range")
    }
    return .valid(meta)
  }

  /// Decodes the bytes of a slot as they were before it was sealed.
  init?(opened bytes: Bytes) {
    var reader = ByteReader(bytes, at: 12)
    guard let pageByteCount = reader.uint32(), let mayRead = reader.uint64(),
      let mayWrite = reader.uint64(), let mustUnderstand = reader.uint64()
    else { return nil }
    self.init(
      &reader, pageByteCount: Int(pageByteCount),
      Features(mayRead: mayRead, mayWrite: mayWrite, mustUnderstand: mustUnderstand))
  }

  private init?(_ reader: inout ByteReader, pageByteCount: Int, _ features: Features) {
    guard PageSize.allowed.contains(pageByteCount),
      let storeID = reader.storeID(), let writeNumber = reader.uint64(),
      let checkpointLSN = reader.uint64(), let chain = reader.uint64(),
      let generation = reader.generation(), let writer = reader.byte().flatMap(Writer.init),
      let clean = reader.byte(), clean <= 1,
      let height = reader.byte(), height <= TablePage.maximumHeight,
      let erasure = reader.byte(), erasure <= 1,
      reader.uint32() == 0, let entry = reader.uint64(),
      let checksum = reader.uint64(), var roots = Roots(&reader),
      roots.words.read(0..<Words.lowCount, &reader), let sealCount = reader.uint64(),
      roots.words.read(Words.lowCount..<Words.count, &reader),
      // A margin above any real store's counters keeps later arithmetic from overflowing.
      checkpointLSN < Counter.limit, writeNumber < Counter.limit,
      generation.counter < Counter.limit
    else { return nil }
    self.init(
      pageByteCount: pageByteCount, storeID: storeID, writeNumber: writeNumber,
      checkpointLSN: LSN(checkpointLSN), chain: chain, generation: generation, writer: writer,
      isClean: clean == 1,
      table: PageTableRoot(
        entry: TableEntry(rawValue: entry), checksum: checksum, height: Int(height)),
      roots: roots)
    isErasurePending = erasure == 1
    self.features = features
    if features.isEncrypted { self.sealCount = sealCount }
  }

  package init(
    pageByteCount: Int, storeID: StoreID, writeNumber: UInt64, checkpointLSN: LSN, chain: UInt64,
    generation: Generation, writer: Writer, isClean: Bool, table: PageTableRoot, roots: Roots
  ) {
    self.pageByteCount = pageByteCount
    self.storeID = storeID
    self.writeNumber = writeNumber
    self.checkpointLSN = checkpointLSN
    self.chain = chain
    self.generation = generation
    self.writer = writer
    self.isClean = isClean
    self.table = table
    self.roots = roots
  }
}

/// The root of a page table: the entry of its first page, and the checksum that proves that page.
package struct PageTableRoot: Sendable, Equatable {
  package var entry: TableEntry
  package var checksum: UInt64
  /// The number of levels; 0 for the empty table.
  package var height: Int

  package static var empty: PageTableRoot { PageTableRoot(entry: .none, checksum: 0, height: 0) }
}
