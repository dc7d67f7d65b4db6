import Synchronization

/// One version of one page in memory, with a manual reference count.
///
///     offset  size  field
///          0     8  reference count
///          8     4  slot, once the image is in the cache
///         12     4  check, once the image is in the cache
///         16     4  page size in bytes
///         20     1  number of recent uses (the cache's clock)
///         24     8  the account that counts living images
///         32    52  the edited ranges, while its transaction lasts
///         84     4  unused
///         88     n  the page
///       88+n     8  slack, see rule 3 of `Bytes`
///
/// Images are shared by page maps, the cache and the writer. Readers, which own none of them,
/// access them thousands of times per millisecond; a class would be retained and released at every
/// step (6–9 ns a pair, docs/decisions.md). So owners call `retain` and `release`, and readers are
/// protected by what they hold: a snapshot for the maps, `PageCache.enter` for the cache.
///
///  1. An image is written by one transaction only, before other code can reach it.
///  2. From then on its page never changes.
@safe
package struct PageImage: @unchecked Sendable {
  // Unchecked: rules 1 and 2; the counted fields are atomic.
  let address: UnsafeMutableRawPointer

  private static let editedOffset = 32
  private static let pageOffset = 88

  @unsafe
  init(address: UnsafeMutableRawPointer) {
    unsafe self.address = address
  }

  /// Creates an image of undefined bytes with one reference.
  package init(pageByteCount: Int, account: ImageAccount) {
    let byteCount = Self.pageOffset + pageByteCount + 8
    unsafe address = account.takeMemory(byteCount) ?? Memory.allocate(byteCount)
    unsafe address.initializeMemory(as: UInt64.self, repeating: 0, count: 4)
    unsafe address.storeBytes(of: UInt32(pageByteCount), toByteOffset: 16, as: UInt32.self)
    unsafe address.storeBytes(
      of: Unmanaged.passRetained(account).toOpaque(), toByteOffset: 24,
      as: UnsafeMutableRawPointer.self)
    unsafe (address + Self.pageOffset + pageByteCount)
      .initializeMemory(as: UInt64.self, repeating: 0, count: 1)
    edited.removeAll()
    account.add(1)
    retain()
  }

  @unsafe
  private var references: UnsafeMutablePointer<Atomic<Int>> {
    unsafe address.assumingMemoryBound(to: Atomic<Int>.self)
  }

  var pageByteCount: Int {
    Int(unsafe address.load(fromByteOffset: 16, as: UInt32.self))
  }

  /// The bytes of the page.
  ///
  /// Valid while the owner that the caller relies on keeps the image.
  package var bytes: Bytes {
    unsafe Bytes(base: UnsafeRawPointer(address + Self.pageOffset), count: pageByteCount)
  }

  /// The bytes of the page, writable by the one transaction that makes it.
  package var mutableBytes: MutableBytes {
    unsafe MutableBytes(base: address + Self.pageOffset, count: pageByteCount)
  }

  /// The LSN of the commit that made the image; 0 before the commit.
  var lsn: LSN { LSN(bytes.uint64(at: PageHeader.lsnOffset)) }

  /// The ranges that the transaction that makes the page has changed.
  package var edited: EditedRanges {
    unsafe EditedRanges(base: address + Self.editedOffset)
  }

  /// The table entry under which the cache holds the image.
  ///
  /// Set before the image is inserted there.
  package var place: TableEntry {
    get { TableEntry(rawValue: unsafe address.load(fromByteOffset: 8, as: UInt64.self)) }
    nonmutating set {
      unsafe address.storeBytes(of: newValue.rawValue, toByteOffset: 8, as: UInt64.self)
    }
  }

  @unsafe
  private var useCount: UnsafeMutablePointer<Atomic<UInt8>> {
    unsafe (address + 20).assumingMemoryBound(to: Atomic<UInt8>.self)
  }

  /// The number of uses that the cache's clock counts.
  static let maximumUseCount: UInt8 = 3

  /// Counts a use, for the cache's clock.
  ///
  /// Writes only up to the limit, so that readers do not contend for the cache line. A count that
  /// is lost between two threads does not matter.
  @inline(__always)
  func markUsed() {
    let count = unsafe useCount.pointee.load(ordering: .relaxed)
    if count < Self.maximumUseCount {
      unsafe useCount.pointee.store(count &+ 1, ordering: .relaxed)
    }
  }

  /// Takes one use off.
  ///
  /// Returns false if no use is left.
  func takeUse() -> Bool {
    let count = unsafe useCount.pointee.load(ordering: .relaxed)
    if count == 0 { return false }
    unsafe useCount.pointee.store(count &- 1, ordering: .relaxed)
    return true
  }

  package func retain() { unsafe references.pointee.add(1, ordering: .relaxed) }

  @inline(never)
  package func release() {
    let left = unsafe references.pointee
      .subtract(1, ordering: .acquiringAndReleasing).newValue
    guard left == 0 else { return }
    #if INTERLEAVINGS
      // Zeros expose a reader that still uses the page.
      mutableBytes.zero(0, pageByteCount)
    #endif
    let account = unsafe Unmanaged<ImageAccount>.fromOpaque(
      address.load(fromByteOffset: 24, as: UnsafeMutableRawPointer.self)
    ).takeRetainedValue()
    account.add(-1)
    #if DEBUG
      // Fill the page with bytes that no valid page has, for readers that still use it.
      unsafe fillMemory(address + Self.pageOffset, with: 0xDB, byteCount: pageByteCount)
    #endif
    unsafe account.keepMemory(address, byteCount: Self.pageOffset + pageByteCount + 8)
  }
}

/// The count of one database's living images, and a small free list of image memory.
///
/// The count limits the memory that old snapshots keep. The memory of freed images is kept because
/// a small commit makes as many images as it frees. They are too long for the quick lists of the C
/// library, which would coalesce and split its free memory each time.
@safe
package final class ImageAccount: @unchecked Sendable {
  // Unchecked: the places are atomic, and memory in a place has no other owner.
  private let living = Atomic<Int>(0)
  private static let maximumKeptCount = 16
  /// Addresses of memory of one length, `keptByteCount`; 0 for an empty place.
  private let kept: UnsafeMutablePointer<Atomic<UInt>>
  private let keptByteCount = Atomic<Int>(0)

  package init() {
    unsafe kept = .allocate(capacity: Self.maximumKeptCount)
    for index in 0..<Self.maximumKeptCount { unsafe (kept + index).initialize(to: Atomic(0)) }
  }

  deinit {
    for index in 0..<Self.maximumKeptCount {
      let place = unsafe kept[index].load(ordering: .acquiring)
      if let memory = unsafe UnsafeMutableRawPointer(bitPattern: place) {
        unsafe Memory.free(memory)
      }
    }
    unsafe kept.deinitialize(count: Self.maximumKeptCount)
    unsafe kept.deallocate()
  }

  /// Returns the memory of a freed image, if any of that length is kept.
  @unsafe
  func takeMemory(_ byteCount: Int) -> UnsafeMutableRawPointer? {
    guard keptByteCount.load(ordering: .acquiring) == byteCount else { return nil }
    for index in 0..<Self.maximumKeptCount
    where unsafe kept[index].load(ordering: .relaxed) != 0 {
      let place = unsafe kept[index].exchange(0, ordering: .acquiringAndReleasing)
      if let memory = unsafe UnsafeMutableRawPointer(bitPattern: place) { return unsafe memory }
    }
    return nil
  }

  /// Takes over the memory of a freed image.
  @unsafe
  @inline(never)
  func keepMemory(_ memory: UnsafeMutableRawPointer, byteCount: Int) {
    // All images of a database have one length; the first one freed determines it.
    let (_, first) = keptByteCount.compareExchange(
      expected: 0, desired: byteCount, ordering: .acquiringAndReleasing)
    if first == 0 || first == byteCount {
      for index in 0..<Self.maximumKeptCount
      where unsafe kept[index].load(ordering: .relaxed) == 0 {
        let (isKept, _) = unsafe kept[index].compareExchange(
          expected: 0, desired: UInt(bitPattern: memory), ordering: .acquiringAndReleasing)
        if isKept { return }
      }
    }
    unsafe Memory.free(memory)
  }

  func add(_ count: Int) { living.add(count, ordering: .relaxed) }
  package var livingCount: Int { living.load(ordering: .relaxed) }
}
