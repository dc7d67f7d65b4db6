/// A writer of page images to slots, which writes neighbouring slots in one call.
///
/// Pages are copied into a buffer first. The checksum is stored in the copy, so an image that
/// readers use never changes.
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

  /// Writes a page, now or in a later call or `flush`, and returns its checksum.
  ///
  /// The slot's old image is first evicted from the cache.
  mutating func write(_ page: Bytes, to slot: SlotNumber) throws(PageFileError) -> UInt64 {
    let isNext = slot.rawValue == firstSlot.rawValue &+ UInt32(slotCount)
    if !isNext || staging.count + page.count > Self.maximumByteCount { try flush() }
    if slotCount == 0 { firstSlot = slot }
    pager.cache.remove(slot)
    let offset = staging.count
    staging.append(page)
    let copy = staging.mutableBytes.slice(offset, page.count)
    let checksum = pager.checksum(of: copy.readOnly)
    copy.store(checksum, at: PageHeader.checksumOffset)
    slotCount += 1
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
