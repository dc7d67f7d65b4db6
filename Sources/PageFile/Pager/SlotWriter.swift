/// A writer of page images to slots, which writes neighbouring slots in one call.
///
/// Pages are copied into a buffer first. The checksum is stored in the copy, or the copy is sealed,
/// so an image that readers use never changes.
struct SlotWriter: ~Copyable {
  private let pager: Pager
  private var staging: ByteBuffer
  private var firstSlot = SlotNumber.none
  private var slotCount = 0

  private static let maximumByteCount = 512 << 10

  init(_ pager: Pager) {
    self.pager = pager
    staging = ByteBuffer(capacity: Self.maximumByteCount)
  }

  /// Writes a page, now or in a later call or `flush`, and returns its checksum; that of a sealed
  /// page is its stamp.
  ///
  /// The slot's old image is first evicted from the cache.
  /// - Parameter check: The check of a page that moves unchanged.
  mutating func write(
    _ page: Bytes, to slot: SlotNumber, keeping check: UInt32? = nil
  ) throws(PageFileError) -> UInt64 {
    let isNext = slot.rawValue == firstSlot.rawValue &+ UInt32(slotCount)
    if !isNext || staging.count + pager.pageByteCount > Self.maximumByteCount { try flush() }
    if slotCount == 0 { firstSlot = slot }
    pager.cache.remove(slot)
    slotCount += 1
    if let keys = pager.keys {
      return keys.seal(
        page, keeping: check, for: slot, into: staging.extend(by: pager.pageByteCount))
    }
    let offset = staging.count
    staging.append(page)
    let copy = staging.mutableBytes.slice(offset, page.count)
    let checksum = pager.checksum(of: copy.readOnly)
    copy.store(checksum, at: PageHeader.checksumOffset)
    return checksum
  }

  /// Writes all buffered pages.
  mutating func flush() throws(PageFileError) {
    if slotCount > 0 {
      try pager.dataFile.write(staging.bytes, at: pager.offset(of: firstSlot))
    }
    staging.removeAll()
    slotCount = 0
  }
}
