import PageFile

/// Reads the slots of a damaged data file and proves their contents.
struct SlotReader {
  let files: DamagedFiles
  let identity: StoreIdentity
  /// The content of the slot that was opened last.
  private let opened: SalvagedPage

  init(files: DamagedFiles, identity: StoreIdentity) {
    self.files = files
    self.identity = identity
    opened = SalvagedPage(pageByteCount: identity.contentByteCount)
  }

  var slotCount: Int {
    let byteCount = max(0, files.dataByteCount - Pager.slotsOffset)
    return min(byteCount / identity.pageByteCount, Int(UInt32.max) - 1)
  }

  /// Returns the content of a slot whose bytes are a page of this store; nil for other bytes.
  ///
  /// That of an encrypted store is valid until the next call.
  func proven(_ page: Bytes, in slot: SlotNumber) -> Bytes? {
    if let keys = identity.keys {
      guard keys.open(page, of: slot, into: opened.mutableBytes) else { return nil }
      return PageKind(rawValue: opened.bytes[PageHeader.kindOffset]).map { _ in opened.bytes }
    }
    guard PageKind(rawValue: page[PageHeader.kindOffset]) != nil,
      page.uint64(at: PageHeader.checksumOffset)
        == Pager.checksum(of: page, in: identity.storeID)
    else { return nil }
    return page
  }

  /// Returns the content of a page found in a slot, if it is unchanged.
  func read(_ page: SlotPage) -> SalvagedPage? {
    guard let found = SalvagedPage(files, identity, page.slot),
      let content = proven(found.bytes, in: page.slot),
      content.uint64(at: PageHeader.checksumOffset) == page.checksum
    else { return nil }
    return identity.keys == nil ? found : SalvagedPage(copying: opened)
  }

  /// Returns the reason why a slot does not hold the expected page.
  func reason(_ slot: SlotNumber, isNot number: UInt32) -> String {
    guard slot.rawValue <= slotCount else { return "beyond the end of the file" }
    guard let found = SalvagedPage(files, identity, slot) else { return "cannot be read" }
    let page = found.bytes
    if page.firstNonzero(at: 0) == page.count { return "all zeros" }
    guard let content = proven(page, in: slot) else {
      return identity.keys == nil ? "checksum mismatch" : "seal does not open"
    }
    let other = content.uint32(at: PageHeader.numberOffset)
    return other == number ? "holds another version" : "holds page \(other)"
  }

  private static let chunkSlotCount = 64

  /// Calls `body` for every slot, with nil if the slot cannot be read, until it returns false.
  ///
  /// The bytes are valid only during the call.
  func forEachSlot(_ body: (SlotNumber, Bytes?) throws -> Bool) rethrows {
    let count = slotCount
    let pageByteCount = identity.pageByteCount
    let chunkSlotCount = Self.chunkSlotCount
    var buffer = ByteBuffer(capacity: chunkSlotCount * pageByteCount)
    buffer.append(zeros: chunkSlotCount * pageByteCount)
    var first = 0
    while first < count {
      let chunk = min(chunkSlotCount, count - first)
      let target = buffer.mutableBytes.slice(0, chunk * pageByteCount)
      let offset = Pager.slotsOffset + first * pageByteCount
      let isWhole = (try? files.dataFile.readFully(into: target, at: offset)) ?? false
      for index in 0..<chunk {
        let page = target.slice(index * pageByteCount, pageByteCount)
        // Reread a failed chunk slot by slot, since most of it may be intact.
        let isRead =
          isWhole
          || (try? files.dataFile.readFully(into: page, at: offset + index * pageByteCount))
            ?? false
        let slot = SlotNumber(UInt32(first + index + 1))
        guard try body(slot, isRead ? page.readOnly : nil) else { return }
      }
      first += chunk
    }
  }
}

/// The bytes of one page, kept as long as they are in use.
final class SalvagedPage {
  private var buffer: ByteBuffer
  var bytes: Bytes { buffer.bytes }
  var mutableBytes: MutableBytes { buffer.mutableBytes }
  var lsn: LSN { LSN(bytes.uint64(at: PageHeader.lsnOffset)) }

  /// Creates a page of zeros.
  init(pageByteCount: Int) {
    buffer = ByteBuffer(capacity: pageByteCount)
    buffer.append(zeros: pageByteCount)
  }

  /// Creates a copy.
  init(copying other: SalvagedPage) {
    buffer = ByteBuffer(capacity: other.bytes.count)
    buffer.append(other.bytes)
  }

  /// Reads the unproven bytes of a slot.
  ///
  /// Returns nil if it cannot be read.
  convenience init?(_ files: DamagedFiles, _ identity: StoreIdentity, _ slot: SlotNumber) {
    self.init(pageByteCount: identity.pageByteCount)
    let offset = Pager.offset(of: slot, pageByteCount: identity.pageByteCount)
    guard (try? files.dataFile.readFully(into: mutableBytes, at: offset)) ?? false else {
      return nil
    }
  }
}
