/// The form that commits and watermarks of a store have in its log: with checksums, or sealed.
///
/// `LogForm+Sealed.swift` has the layout of sealed commits.
///
/// A sealed watermark:
///
///     offset  size  field
///          0     4  magic, as in a plain watermark
///          4    12  nonce
///         16    24  sealed: durable LSN, generation
///         40    16  tag
package struct LogForm: Sendable {
  let storeID: StoreID
  let keys: StoreKeys?

  package init(_ storeID: StoreID, _ keys: StoreKeys?) {
    self.storeID = storeID
    self.keys = keys
  }

  /// The room for the header in front of the frames of a commit that is being made.
  package var framesOffset: Int {
    keys == nil ? WALCommitHeader.byteCount : Self.sealedFramesOffset
  }

  /// Returns the place of the frames in a whole commit that has been proven.
  package func framesOffset(in header: WALCommitHeader) -> Int {
    keys == nil ? WALCommitHeader.byteCount : Self.sealedFramesOffset(in: header)
  }

  /// Returns the length of a commit, with the zeros at its end.
  package func byteCount(framesByteCount: Int) -> Int {
    keys == nil
      ? WALCommitHeader.paddedByteCount(framesByteCount: framesByteCount)
      : Self.sealedByteCount(framesByteCount: framesByteCount)
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
    return seal(&commit, header, offset: offset, chain: chain, under: keys, using: &scratch)
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
  @inline(never)
  package func commitHeader(_ sector: Bytes, at offset: Int) -> WALCommitHeader? {
    guard let keys else { return WALCommitHeader(sector, storeID: storeID, offset: offset) }
    return openHeader(sector, at: offset, under: keys)
  }

  /// Proves a whole commit, opens it in place, and returns the chain value that it ends with;
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
    return open(commit, header, at: offset, chain: chain, under: keys)
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
