import Synchronization

/// One version of one page in memory, counted by hand.
///
///     offset  size  field
///          0     8  reference count
///          8     4  slot, once the image is in the cache
///         12     4  check, once the image is in the cache
///         16     4  page size in bytes
///         20     1  used lately (the cache's clock)
///         24     8  the account that counts living images
///         32    52  where it was edited, while its transaction lasts
///         84     4  unused
///         88     n  the page
///       88+n     8  slack, see rule 3 of `Bytes`
///
/// Images are shared by page maps, the cache and the writer, and are reached thousands of times per
/// millisecond by readers that hold none of them: a class would be retained and released at every
/// step (6–9 ns a pair, docs/decisions.md). So whoever keeps an image calls `retain` and `release`,
/// and readers rely on what they hold instead: a snapshot for the maps, `PageCache.enter` for the
/// cache.
///
///  1. An image is written by one transaction only, before anybody else can reach it.
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

  /// A new image of undefined bytes with one reference.
  package init(pageByteCount: Int, account: ImageAccount) {
    unsafe address = Memory.allocate(Self.pageOffset + pageByteCount + 8)
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

  /// The page.
  ///
  /// Valid while the image is kept by whoever the caller relies on.
  package var bytes: Bytes {
    unsafe Bytes(base: UnsafeRawPointer(address + Self.pageOffset), count: pageByteCount)
  }

  /// The page, for the one transaction that makes it.
  package var mutableBytes: MutableBytes {
    unsafe MutableBytes(base: address + Self.pageOffset, count: pageByteCount)
  }

  /// Where the one transaction that makes the page has changed it.
  package var edited: EditedRanges {
    unsafe EditedRanges(base: address + Self.editedOffset)
  }

  /// Where the cache keeps the image.
  ///
  /// Set before it is put there.
  package var place: TableEntry {
    get { TableEntry(rawValue: unsafe address.load(fromByteOffset: 8, as: UInt64.self)) }
    nonmutating set {
      unsafe address.storeBytes(of: newValue.rawValue, toByteOffset: 8, as: UInt64.self)
    }
  }

  @unsafe
  private var usedLately: UnsafeMutablePointer<Atomic<Bool>> {
    unsafe (address + 20).assumingMemoryBound(to: Atomic<Bool>.self)
  }

  /// Tells the cache's clock.
  ///
  /// Written only when it changes, so that readers do not fight over the cache line.
  @inline(__always)
  func markUsed() {
    if unsafe !usedLately.pointee.load(ordering: .relaxed) {
      unsafe usedLately.pointee.store(true, ordering: .relaxed)
    }
  }

  /// Whether the image was used since this was last asked.
  func takeUsedMark() -> Bool { unsafe usedLately.pointee.exchange(false, ordering: .relaxed) }

  package func retain() { unsafe references.pointee.add(1, ordering: .relaxed) }

  package func release() {
    let left = unsafe references.pointee
      .subtract(1, ordering: .acquiringAndReleasing).newValue
    guard left == 0 else { return }
    let account = unsafe Unmanaged<ImageAccount>.fromOpaque(
      address.load(fromByteOffset: 24, as: UnsafeMutableRawPointer.self))
    unsafe account.takeUnretainedValue().add(-1)
    unsafe account.release()
    unsafe Memory.free(address)
  }
}

/// Counts the images of one database that are alive, so that what old snapshots keep can be limited.
package final class ImageAccount: Sendable {
  private let living = Atomic<Int>(0)

  package init() {}

  func add(_ count: Int) { living.add(count, ordering: .relaxed) }
  package var livingCount: Int { living.load(ordering: .relaxed) }
}
