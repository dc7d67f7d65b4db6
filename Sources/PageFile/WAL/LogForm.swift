/// The form that commits and watermarks of a store have in its log: with checksums, or sealed.
///
/// A sealed commit:
///
///     offset  size  field
///          0     4  magic, as in a plain commit
///          4     4  number of sectors
///          8    12  nonce of the header
///         20   112  sealed: bytes 4 ..< 116 of a plain header
///        132    16  tag of the header
///        148    12  nonce of the body
///        160     …  sealed: frames, and zeros up to the tag
///          …    16  tag of the body, at the end of the last sector; its first 8 bytes are the
///                   chain value
///
/// A sealed watermark:
///
///     offset  size  field
///          0     4  magic, as in a plain watermark
///          4    12  nonce
///         16    24  sealed: durable LSN, generation
///         40    16  tag
///
///  1. A header opens with its offset and the number of sectors as context. It must not need the
///     chain value before: behind a place where the chain is broken nobody knows that, and headers
///     there tell damage from a torn tail.
///  2. A body opens with its offset, the tag of its header, and the chain value before as context.
///     So a commit counts only behind the one that it was written behind.
package struct LogForm: Sendable {
  let storeID: StoreID
  let keys: StoreKeys?

  private static let fieldsByteCount = 112
  private static let headerUnitOffset = 8
  private static let headerUnitByteCount = fieldsByteCount + SealedUnit.addedByteCount
  private static let bodyUnitOffset = headerUnitOffset + headerUnitByteCount
  private static let headerTagOffset = bodyUnitOffset - SealedUnit.tagByteCount

  package init(_ storeID: StoreID, _ keys: StoreKeys?) {
    self.storeID = storeID
    self.keys = keys
  }

  /// The number of bytes before the frames.
  package var framesOffset: Int {
    keys == nil ? WALCommitHeader.byteCount : Self.bodyUnitOffset + SealedUnit.nonceByteCount
  }

  /// Returns the length of a commit, with the zeros at its end.
  package func byteCount(framesByteCount: Int) -> Int {
    if keys == nil { return WALCommitHeader.paddedByteCount(framesByteCount: framesByteCount) }
    let sector = WALHeader.sectorByteCount
    let byteCount = framesOffset + framesByteCount + SealedUnit.tagByteCount
    return (byteCount + sector - 1) / sector * sector
  }

  // MARK: Writing

  /// Completes a commit in place, in a buffer that has `framesOffset` bytes of room followed by the
  /// frames, and returns the chain value that it ends with.
  package func complete(
    _ commit: inout ByteBuffer, _ header: WALCommitHeader, offset: Int, chain: UInt64,
    using scratch: inout ByteBuffer
  ) -> UInt64 {
    guard let keys else {
      return header.complete(
        &commit, storeID: storeID, offset: offset, chain: chain, using: &scratch)
    }
    let byteCount = byteCount(framesByteCount: header.framesByteCount)
    commit.append(zeros: byteCount - commit.count)
    let bytes = commit.mutableBytes
    let sectorCount = byteCount / WALHeader.sectorByteCount
    bytes.store(WALCommitHeader.magic, at: 0)
    bytes.store(UInt32(sectorCount), at: 4)
    scratch.removeAll()
    header.appendFields(to: &scratch)
    SealContext.with(.commitHeader, Self.word(of: offset), UInt64(sectorCount)) { context in
      keys.log.seal(
        scratch.bytes, context: context,
        into: bytes.slice(Self.headerUnitOffset, Self.headerUnitByteCount))
    }
    let body = bytes.slice(Self.bodyUnitOffset, byteCount - Self.bodyUnitOffset)
    let content = body.readOnly.slice(
      SealedUnit.nonceByteCount, body.count - SealedUnit.addedByteCount)
    withBodyContext(bytes.readOnly, offset: offset, chain: chain) { context in
      keys.log.seal(content, context: context, into: body)
    }
    keys.countSeals(2)
    return bytes.readOnly.uint64(at: byteCount - SealedUnit.tagByteCount)
  }

  private func withBodyContext<R>(
    _ commit: Bytes, offset: Int, chain: UInt64, _ body: (Bytes) -> R
  ) -> R {
    let tag = commit.slice(Self.headerTagOffset, SealedUnit.tagByteCount)
    let isBound = !Defect.headerTagUnbound.isPlanted
    return SealContext.with(
      .commitBody, Self.word(of: offset), isBound ? tag.uint64(at: 0) : 0,
      isBound ? tag.uint64(at: 8) : 0, Defect.chainUnbound.isPlanted ? 0 : chain, body: body)
  }

  private static func word(of offset: Int) -> UInt64 {
    Defect.offsetUnbound.isPlanted ? 0 : UInt64(offset)
  }

  /// Encodes a watermark for an offset.
  package func encode(_ watermark: WALWatermark, offset: Int) -> ByteBuffer {
    guard let keys else { return watermark.encode(storeID: storeID, offset: offset) }
    var content = ByteBuffer(capacity: WALWatermark.contentByteCount)
    content.append(littleEndian: watermark.durableLSN.rawValue)
    content.append(watermark.generation)
    var buffer = ByteBuffer(capacity: 64)
    buffer.append(littleEndian: WALWatermark.magic)
    let unit = buffer.extend(by: WALWatermark.contentByteCount + SealedUnit.addedByteCount)
    SealContext.with(.watermark, Self.word(of: offset)) { context in
      keys.log.seal(content.bytes, context: context, into: unit)
    }
    keys.countSeals()
    return buffer
  }

  // MARK: Reading

  /// Decodes the commit header at the start of a sector; nil without a proven one.
  package func commitHeader(_ sector: Bytes, at offset: Int) -> WALCommitHeader? {
    guard let keys else { return WALCommitHeader(sector, storeID: storeID, offset: offset) }
    guard sector.count >= Self.bodyUnitOffset, sector.uint32(at: 0) == WALCommitHeader.magic else {
      return nil
    }
    let sectorCount = sector.uint32(at: 4)
    var fields = ByteBuffer(capacity: Self.fieldsByteCount)
    let target = fields.extend(by: Self.fieldsByteCount)
    let isOpen = SealContext.with(
      .commitHeader, Self.word(of: offset), UInt64(sectorCount)
    ) { context in
      keys.log.open(
        sector.slice(Self.headerUnitOffset, Self.headerUnitByteCount), context: context,
        into: target)
    }
    guard isOpen, let header = WALCommitHeader(fields: fields.bytes),
      byteCount(framesByteCount: header.framesByteCount)
        == Int(sectorCount) * WALHeader.sectorByteCount
    else { return nil }
    return header
  }

  /// Proves a whole commit, opens its body in place, and returns the chain value that it ends with;
  /// nil if it does not continue the chain.
  package func open(
    _ commit: MutableBytes, _ header: WALCommitHeader, at offset: Int, chain: UInt64
  ) -> UInt64? {
    let bytes = commit.readOnly
    guard let keys else {
      let covered = WALCommitHeader.byteCount + header.framesByteCount
      let newChain = WALCommitHeader.chain(bytes.slice(0, covered), after: chain)
      let isProven = bytes.uint64(at: covered) == newChain
      return isProven || Defect.chainIgnored.isPlanted ? newChain : nil
    }
    let newChain = bytes.uint64(at: bytes.count - SealedUnit.tagByteCount)
    let body = commit.slice(Self.bodyUnitOffset, bytes.count - Self.bodyUnitOffset)
    let content = body.slice(SealedUnit.nonceByteCount, body.count - SealedUnit.addedByteCount)
    let isOpen = withBodyContext(bytes, offset: offset, chain: chain) { context in
      keys.log.open(body.readOnly, context: context, into: content)
    }
    return isOpen ? newChain : nil
  }

  /// Decodes the watermark at the start of a sector; nil without a proven one.
  package func watermark(_ sector: Bytes, at offset: Int) -> WALWatermark? {
    guard let keys else { return WALWatermark(sector, storeID: storeID, offset: offset) }
    let unitByteCount = WALWatermark.contentByteCount + SealedUnit.addedByteCount
    guard sector.count >= 4 + unitByteCount, sector.uint32(at: 0) == WALWatermark.magic else {
      return nil
    }
    var content = ByteBuffer(capacity: WALWatermark.contentByteCount)
    let target = content.extend(by: WALWatermark.contentByteCount)
    let isOpen = SealContext.with(.watermark, Self.word(of: offset)) { context in
      keys.log.open(sector.slice(4, unitByteCount), context: context, into: target)
    }
    guard isOpen else { return nil }
    var reader = ByteReader(content.bytes)
    guard let durable = reader.uint64(), let generation = reader.generation() else { return nil }
    return WALWatermark(durableLSN: LSN(durable), generation: generation)
  }
}
