/// Commits of an encrypted store.
///
/// One sector, as most commits are:
///
///     offset  size  field
///          0     4  magic, as in a plain commit
///          4     4  number of sectors: 1
///          8    12  nonce
///         20   112  sealed: bytes 4 ..< 116 of a plain header
///        132     8  sealed: the chain value before
///        140   356  sealed: frames, and zeros
///        496    16  tag; its first 8 bytes are the chain value
///
/// More sectors:
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
///  1. A header opens with its offset and the number of sectors as context. It must not need the
///     chain value before: behind a place where the chain is broken nobody knows that, and headers
///     there tell damage from a torn tail.
///  2. A body opens with its offset, the tag of its header, and the chain value before as context.
///     So a commit counts only behind the one that it was written behind.
///  3. A sector is there as a whole or not at all, so a commit of one sector needs no seal for its
///     header alone. It has the chain value before in its content, because of rule 1.
extension LogForm {
  private static let fieldsByteCount = 112
  private static let headerUnitOffset = 8
  private static let fieldsOffset = headerUnitOffset + SealedUnit.nonceByteCount
  private static let headerUnitByteCount = fieldsByteCount + SealedUnit.addedByteCount
  private static let bodyUnitOffset = headerUnitOffset + headerUnitByteCount
  private static let headerTagOffset = bodyUnitOffset - SealedUnit.tagByteCount
  /// The place of the frames in a commit of more sectors.
  static let sealedFramesOffset = bodyUnitOffset + SealedUnit.nonceByteCount

  // Commits of one sector.
  private static let shortUnitByteCount = WALHeader.sectorByteCount - headerUnitOffset
  private static let shortChainOffset = fieldsOffset + fieldsByteCount
  private static let shortFramesOffset = shortChainOffset + 8
  private static let shortTagOffset = WALHeader.sectorByteCount - SealedUnit.tagByteCount

  private static func isShort(_ framesByteCount: Int) -> Bool {
    framesByteCount <= shortTagOffset - shortFramesOffset
  }

  /// Returns the place of the frames in a whole commit.
  static func sealedFramesOffset(in header: WALCommitHeader) -> Int {
    isShort(header.framesByteCount) ? shortFramesOffset : sealedFramesOffset
  }

  static func sealedByteCount(framesByteCount: Int) -> Int {
    let sector = WALHeader.sectorByteCount
    if isShort(framesByteCount) { return sector }
    let byteCount = sealedFramesOffset + framesByteCount + SealedUnit.tagByteCount
    return (byteCount + sector - 1) / sector * sector
  }

  // MARK: Writing

  /// Seals a commit in place, in a buffer that has `sealedFramesOffset` bytes of room followed by
  /// the frames, and returns the chain value that it ends with.
  func seal(
    _ commit: inout ByteBuffer, _ header: WALCommitHeader, offset: Int, chain: UInt64,
    under keys: StoreKeys, using fields: inout ByteBuffer
  ) -> UInt64 {
    let byteCount = Self.sealedByteCount(framesByteCount: header.framesByteCount)
    let isShort = Self.isShort(header.framesByteCount)
    if isShort {
      commit.mutableBytes.move(
        from: Self.sealedFramesOffset, to: Self.shortFramesOffset,
        byteCount: header.framesByteCount)
      commit.truncate(to: Self.shortFramesOffset + header.framesByteCount)
      commit.mutableBytes.store(chain, at: Self.shortChainOffset)
    }
    commit.append(zeros: byteCount - commit.count)
    let bytes = commit.mutableBytes
    let sectorCount = byteCount / WALHeader.sectorByteCount
    fields.removeAll()
    header.appendFields(to: &fields)
    bytes.store(WALCommitHeader.magic, at: 0)
    bytes.store(UInt32(sectorCount), at: 4)
    bytes.copy(fields.bytes, to: Self.fieldsOffset)
    let unit = bytes.slice(
      Self.headerUnitOffset, isShort ? Self.shortUnitByteCount : Self.headerUnitByteCount)
    SealContext.with(.commitHeader, Self.word(of: offset), UInt64(sectorCount)) { context in
      keys.log.seal(Self.content(of: unit).readOnly, context: context, into: unit)
    }
    if !isShort { sealBody(bytes, header, offset: offset, chain: chain, under: keys) }
    keys.countSeals(isShort ? 1 : 2)
    return Self.chain(of: bytes, header)
  }

  private func sealBody(
    _ commit: MutableBytes, _ header: WALCommitHeader, offset: Int, chain: UInt64,
    under keys: StoreKeys
  ) {
    let body = Self.lastUnit(of: commit, header)
    withBodyContext(commit.readOnly, offset: offset, chain: chain) { context in
      keys.log.seal(Self.content(of: body).readOnly, context: context, into: body)
    }
  }

  /// Returns the unit that a commit ends with.
  private static func lastUnit(
    of commit: MutableBytes, _ header: WALCommitHeader
  ) -> MutableBytes {
    if isShort(header.framesByteCount) { return commit.slice(headerUnitOffset, shortUnitByteCount) }
    if Defect.paddingOutside.isPlanted {
      return commit.slice(bodyUnitOffset, header.framesByteCount + SealedUnit.addedByteCount)
    }
    return commit.slice(bodyUnitOffset, commit.count - bodyUnitOffset)
  }

  /// Returns the chain value that a commit ends with: the first bytes of the last tag.
  private static func chain(of commit: MutableBytes, _ header: WALCommitHeader) -> UInt64 {
    let unit = lastUnit(of: commit, header).readOnly
    return unit.uint64(at: unit.count - SealedUnit.tagByteCount)
  }

  private static func content(of unit: MutableBytes) -> MutableBytes {
    unit.slice(SealedUnit.nonceByteCount, unit.count - SealedUnit.addedByteCount)
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

  static func word(of offset: Int) -> UInt64 {
    Defect.offsetUnbound.isPlanted ? 0 : UInt64(offset)
  }

  // MARK: Reading

  /// Opens the commit header at the start of a sector; nil without a proven one.
  func openHeader(
    _ sector: Bytes, at offset: Int, under keys: StoreKeys
  ) -> WALCommitHeader? {
    guard sector.count >= WALHeader.sectorByteCount,
      sector.uint32(at: 0) == WALCommitHeader.magic
    else { return nil }
    let sectorCount = sector.uint32(at: 4)
    let unit = sector.slice(
      Self.headerUnitOffset, sectorCount == 1 ? Self.shortUnitByteCount : Self.headerUnitByteCount)
    var content = ByteBuffer(capacity: unit.count)
    let target = content.extend(by: unit.count - SealedUnit.addedByteCount)
    let isOpen = SealContext.with(
      .commitHeader, Self.word(of: offset), UInt64(sectorCount)
    ) { context in
      keys.log.open(unit, context: context, into: target)
    }
    guard isOpen, let header = WALCommitHeader(fields: content.bytes),
      Self.sealedByteCount(framesByteCount: header.framesByteCount)
        == Int(sectorCount) * WALHeader.sectorByteCount
    else { return nil }
    return header
  }

  /// Opens a whole commit in place, and returns the chain value that it ends with; nil if it does
  /// not continue the chain.
  func open(
    _ commit: MutableBytes, _ header: WALCommitHeader, at offset: Int, chain: UInt64,
    under keys: StoreKeys
  ) -> UInt64? {
    let newChain = Self.chain(of: commit, header)
    let unit = Self.lastUnit(of: commit, header)
    if Self.isShort(header.framesByteCount) {
      let isOpen = SealContext.with(.commitHeader, Self.word(of: offset), 1) { context in
        keys.log.open(unit.readOnly, context: context, into: Self.content(of: unit))
      }
      let isNext = commit.readOnly.uint64(at: Self.shortChainOffset) == chain
      return isOpen && (isNext || Defect.chainUnbound.isPlanted) ? newChain : nil
    }
    let isOpen = withBodyContext(commit.readOnly, offset: offset, chain: chain) { context in
      keys.log.open(unit.readOnly, context: context, into: Self.content(of: unit))
    }
    return isOpen ? newChain : nil
  }
}
