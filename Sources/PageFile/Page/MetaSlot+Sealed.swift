/// The meta slots of an encrypted store.
///
///     offset  size  field
///          0    56  as in a plain slot, with the feature `encrypted`
///         56    84  key record
///        140    12  nonce
///        152   336  sealed: bytes 56 ..< 392 of a plain slot
///        488    16  tag
///        504     8  checksum of bytes 0 ..< 504, as in a plain slot
///
/// The context of the seal has the index of the slot and its clear bytes. The checksum holds
/// without a key: so a version that does not know the feature can say so, and a torn slot is told
/// from one under another key.
extension MetaSlot {
  private static let recordOffset = 56
  private static let unitOffset = 140
  private static let contentByteCount = 336

  /// The clear part of a sealed slot.
  package struct Locked: Sendable {
    package let storeID: StoreID
    package let pageByteCount: Int
    package let record: KeyRecord

    /// Decodes the clear part of a slot whose checksum holds; nil if a field is out of range.
    init?(_ bytes: Bytes, pageByteCount: Int) {
      var reader = ByteReader(bytes, at: MetaSlot.storeIDOffset)
      guard PageSize.allowed.contains(pageByteCount), let storeID = reader.storeID() else {
        return nil
      }
      self.storeID = storeID
      self.pageByteCount = pageByteCount
      record = KeyRecord(bytes.slice(MetaSlot.recordOffset, KeyRecord.byteCount))
    }

    /// Takes the places of the fields of a slot whose checksum does not hold; nil without a slot.
    package init?(unproven bytes: Bytes) {
      guard bytes.count >= MetaSlot.byteCount else { return nil }
      var reader = ByteReader(bytes, at: MetaSlot.storeIDOffset)
      guard let storeID = reader.storeID() else { return nil }
      self.storeID = storeID
      pageByteCount = 0
      record = KeyRecord(bytes.slice(MetaSlot.recordOffset, KeyRecord.byteCount))
    }
  }

  private static func word(of index: Int) -> UInt64 {
    Defect.slotIndexUnbound.isPlanted ? 0 : UInt64(index)
  }

  /// Encodes the slot for its index; sealed if the store is encrypted.
  package func encode(_ keys: StoreKeys?, index: Int) -> ByteBuffer {
    guard let keys else { return encode() }
    keys.countSeals()
    var meta = self
    meta.sealCount = keys.sealCount
    let plain = meta.encode()
    var buffer = ByteBuffer(capacity: Self.byteCount)
    buffer.append(plain.bytes.slice(0, Self.recordOffset))
    buffer.append(keys.record.bytes)
    let content = plain.bytes.slice(Self.recordOffset, Self.contentByteCount)
    let unit = buffer.extend(by: Self.contentByteCount + SealedUnit.addedByteCount)
    let clear = buffer.bytes.slice(0, Self.unitOffset)
    SealContext.with(.metaSlot, Self.word(of: index), clear: clear) { context in
      keys.metas.seal(content, context: context, into: unit)
    }
    buffer.append(littleEndian: Self.checksum(buffer.bytes))
    return buffer
  }

  /// Decodes the slot of an index: sealed if the store is encrypted, plain if it is not.
  ///
  /// A plain slot beside keys is unreadable: somebody without the key could make one.
  @inline(never)
  package static func read(_ bytes: Bytes, index: Int, _ keys: StoreKeys?) -> Reading {
    let reading = read(bytes)
    guard let keys else { return reading }
    switch reading {
    case .locked(let slot)
    where Defect.lockedSlotRewritten.isPlanted && slot.record.name != keys.record.name:
      return .unreadable(reason: "under another key of the app")
    case .locked: return open(bytes, index: index, keys)
    case .valid: return .unreadable(reason: "not sealed, in an encrypted store")
    case .foreign, .unsupported, .unreadable: return reading
    }
  }

  private static func open(_ bytes: Bytes, index: Int, _ keys: StoreKeys) -> Reading {
    var plain = ByteBuffer(capacity: byteCount)
    plain.append(bytes.slice(0, recordOffset))
    let content = plain.extend(by: contentByteCount)
    let unit = bytes.slice(unitOffset, contentByteCount + SealedUnit.addedByteCount)
    let isOpen = SealContext.with(
      .metaSlot, word(of: index), clear: bytes.slice(0, unitOffset)
    ) { context in
      keys.metas.open(unit, context: context, into: content)
    }
    guard isOpen else { return .unreadable(reason: "seal does not open") }
    plain.append(zeros: byteCount - plain.count)
    guard let meta = MetaSlot(opened: plain.bytes) else {
      return .unreadable(reason: "field out of range")
    }
    keys.noteSealCount(meta.sealCount)
    return .valid(meta)
  }
}
