/// The header of a WAL file of an encrypted store.
///
///     offset  size  field
///          0     8  magic, as in a plain header
///          8     4  format version
///         12     4  zero, which no plain header has here
///         16    16  store id
///         32    84  key record
///        116    12  nonce
///        128   368  sealed: state u32, zero u32, generation, first LSN u64, chain value u64,
///                   settled LSN u64, zeros
///        496    16  tag
///
/// The context of the seal has the clear bytes. The seal takes the rest of the sector, so every
/// byte of the header is proven.
extension WALHeader {
  private static let stateOffset = 12
  private static let storeIDOffset = 16
  private static let recordOffset = 32
  private static let unitOffset = 116
  private static let contentByteCount = 368

  /// Encodes the header, sealed if the store is encrypted.
  package func encode(_ keys: StoreKeys?) -> ByteBuffer {
    guard let keys else { return encode() }
    keys.countSeals()
    var buffer = ByteBuffer(capacity: Self.byteCount)
    buffer.append(Self.magic)
    buffer.append(littleEndian: MetaSlot.formatVersion)
    buffer.append(zeros: 4)
    buffer.append(storeID)
    if Defect.recordOnlyInSlots.isPlanted {
      buffer.append(zeros: KeyRecord.byteCount)
    } else {
      buffer.append(keys.record.bytes)
    }
    var content = ByteBuffer(capacity: Self.contentByteCount)
    content.append(littleEndian: UInt32(isEmpty ? 2 : 1))
    content.append(zeros: 4)
    content.append(generation)
    content.append(littleEndian: firstLSN.rawValue)
    content.append(littleEndian: chain)
    content.append(littleEndian: settledLSN.rawValue)
    content.append(zeros: Self.contentByteCount - content.count)
    let unit = buffer.extend(by: Self.contentByteCount + SealedUnit.addedByteCount)
    let clear = buffer.bytes.slice(0, Self.unitOffset)
    SealContext.with(.walHeader, 0, clear: clear) { context in
      keys.log.seal(content.bytes, context: context, into: unit)
    }
    return buffer
  }

  /// Decodes the header of a WAL file; returns nil if it cannot be read.
  ///
  /// A header that says in the clear that it is another store's is returned as a locked one, in
  /// use and of no generation: nobody may overwrite that store's log. A locked header of the store
  /// itself cannot be read.
  package static func read(_ bytes: Bytes, _ keys: StoreKeys?) -> WALHeader? {
    if let plain = WALHeader(bytes) {
      // Somebody without the key could make a plain header of this store.
      return keys.map { $0.storeID == plain.storeID } ?? false ? nil : plain
    }
    guard let (storeID, _) = locked(bytes) else { return nil }
    guard let keys, storeID == keys.storeID else {
      var header = WALHeader(
        storeID: storeID, isEmpty: false, generation: .none, firstLSN: LSN(1), chain: 0)
      header.isLocked = true
      return header
    }
    var content = ByteBuffer(capacity: contentByteCount)
    let target = content.extend(by: contentByteCount)
    let unit = bytes.slice(unitOffset, contentByteCount + SealedUnit.addedByteCount)
    let isOpen = SealContext.with(.walHeader, 0, clear: bytes.slice(0, unitOffset)) { context in
      keys.log.open(unit, context: context, into: target)
    }
    return isOpen ? WALHeader(content.bytes, of: storeID) : nil
  }

  private init?(_ content: Bytes, of storeID: StoreID) {
    var reader = ByteReader(content)
    guard let state = reader.uint32(), state == 1 || state == 2, reader.uint32() == 0,
      let generation = reader.generation(), let firstLSN = reader.uint64(),
      let chain = reader.uint64(), let settledLSN = reader.uint64(),
      firstLSN >= 1, firstLSN < Counter.limit, generation.counter < Counter.limit,
      settledLSN < Counter.limit
    else { return nil }
    self.init(
      storeID: storeID, isEmpty: state == 2, generation: generation, firstLSN: LSN(firstLSN),
      chain: chain)
    self.settledLSN = LSN(settledLSN)
  }

  /// Returns the store id and the key record in the clear part of a sealed header; nil for any
  /// other bytes.
  package static func locked(_ bytes: Bytes) -> (storeID: StoreID, record: KeyRecord)? {
    guard bytes.count >= byteCount else { return nil }
    for (offset, byte) in magic.enumerated() where bytes[offset] != byte { return nil }
    var reader = ByteReader(bytes, at: storeIDOffset)
    guard bytes.uint32(at: 8) == MetaSlot.formatVersion, bytes.uint32(at: stateOffset) == 0,
      let storeID = reader.storeID()
    else { return nil }
    return (storeID, KeyRecord(bytes.slice(recordOffset, KeyRecord.byteCount)))
  }
}
