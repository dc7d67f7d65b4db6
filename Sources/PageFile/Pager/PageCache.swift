import Synchronization

/// A cache of clean pages, keyed by slot, within a budget of bytes.
///
/// Readers find a page without a lock and without reference counting. The first two rules make that
/// safe, the third bounds memory:
///
///  1. The table is set-associative: a slot can only be in the eight places of its set, and each
///     place is one atomic address. Entries never move between places. The slot numbers are in a
///     separate table, eight in half a cache line, so a lookup touches no image but the right one.
///  2. Memory is reclaimed by epochs (Fraser, "Practical lock-freedom", 2004): a reader announces
///     the epoch in which it entered. An image removed from the table is freed only when every
///     reader inside entered after that.
///  3. Images in the table and images waiting for readers together never exceed the budget by more
///     than a quarter. At that limit the cache takes no image until a reader leaves; see `Bracket`.
///
/// Insertion and removal take one lock; both happen next to a system call.
///
/// The clock that evicts counts up to three uses of an image, and none for its insertion. So a scan
/// pushes out other pages of scans, and not those that every lookup needs.
@safe
package final class PageCache: @unchecked Sendable {
  // Unchecked: places and epochs are atomic; the rest is only touched under `lock`.
  private static let wayCount = 8

  private let places: UnsafeMutablePointer<Atomic<UInt>>
  /// The slot whose image is, or just was, in each place: a hint that the image confirms.
  private let slots: UnsafeMutablePointer<Atomic<UInt32>>
  private let setCount: Int
  private let readers = ReaderEpochs()
  private let lock = Lock()
  private var imageCount = 0
  /// No place from this one on has had an image.
  private var usedPlaceCount = 0
  private var maximumImageCount: Int
  private var clockHand = 0
  /// Evicted images that a reader may still be using, each with the epoch in which it was evicted;
  /// epochs ascend.
  private var retired: [(image: PageImage, epoch: UInt64)] = []
  /// The number of images that may wait for readers in addition to a full table.
  private let maximumWaitingCount: Int
  /// The number of waiting images that triggers the next scan of them: twice as many as the last
  /// scan had to leave.
  private var maximumRetiredCount = 64

  /// Creates an empty cache.
  /// - Parameter pageCountMax: The number of pages that fit into the budget; at least 64 are kept.
  package init(maximumPageCount: Int) {
    maximumImageCount = max(64, maximumPageCount)
    maximumWaitingCount = Self.maximumWaitingCount(maximumPageCount: maximumPageCount)
    var setCount = 8
    // Twice as many places as pages, so that the budget decides evictions, and not the sets.
    while setCount * Self.wayCount < 2 * maximumImageCount { setCount *= 2 }
    self.setCount = setCount
    let placeCount = setCount * Self.wayCount
    // Zeros are what `Atomic(0)` is in memory.
    unsafe places = Memory.allocateZeros(placeCount * MemoryLayout<Atomic<UInt>>.stride)
      .bindMemory(to: Atomic<UInt>.self, capacity: placeCount)
    unsafe slots = Memory.allocateZeros(placeCount * MemoryLayout<Atomic<UInt32>>.stride)
      .bindMemory(to: Atomic<UInt32>.self, capacity: placeCount)
  }

  deinit {
    for index in 0..<usedPlaceCount {
      image(at: index)?.release()
    }
    unsafe Memory.free(slots)
    unsafe Memory.free(places)
    for entry in retired { entry.image.release() }
  }

  /// Returns the number of images that may wait for readers in addition to a full table.
  package static func maximumWaitingCount(maximumPageCount: Int) -> Int {
    max(64, maximumPageCount / 4)
  }

  /// Announces a reader: until `leave` is called with the ticket, no image returned by `find` is
  /// freed.
  package func enter() -> ReaderEpochs.Ticket { readers.enter() }
  package func leave(_ ticket: ReaderEpochs.Ticket) { readers.leave(ticket) }

  /// True if this thread is between `enter` and `leave`; then it must not wait for readers.
  var isReadByThisThread: Bool { readers.isThisThreadInside }

  /// Returns when every reader now inside has left.
  func waitForReaders() {
    let epoch = readers.advance()
    while readers.oldest() <= epoch { Pause.briefly() }
  }

  /// Returns the image that a table entry names, if it is cached.
  ///
  /// Valid until `leave`.
  @inline(__always)
  package func find(_ entry: TableEntry) -> PageImage? {
    let first = firstPlace(of: entry.slot)
    for index in first..<first + Self.wayCount
    where unsafe slots[index].load(ordering: .relaxed) == entry.slot.rawValue {
      if let image = image(at: index), image.place == entry {
        Interleaving.reach("an image was found")
        image.markUsed()
        return image
      }
    }
    return nil
  }

  @inline(__always)
  private func image(at index: Int) -> PageImage? {
    let address = unsafe places[index].load(ordering: .acquiring)
    return unsafe UnsafeMutableRawPointer(bitPattern: address).map { unsafe PageImage(address: $0) }
  }

  /// Returns the first place of a slot's set.
  ///
  /// Neighbours have neighbouring sets: slots are used without gaps, so all sets are used alike,
  /// and a small store touches little of the table.
  @inline(__always)
  private func firstPlace(of slot: SlotNumber) -> Int {
    (Int(slot.rawValue) & (setCount - 1)) * Self.wayCount
  }

  /// Inserts an image under its place, taking over the caller's reference.
  ///
  /// Replaces an image of the same slot. Returns false and does nothing while too many images wait
  /// for readers.
  package func insert(_ image: PageImage) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    let maximumCount = maximumImageCount + maximumWaitingCount
    if retired.count >= maximumRetiredCount || imageCount + retired.count >= maximumCount {
      reclaim()
    }
    guard imageCount + retired.count < maximumCount else { return false }
    let index = placeToFill(image.place.slot)
    retire(index)
    unsafe places[index].store(UInt(bitPattern: image.address), ordering: .releasing)
    unsafe slots[index].store(image.place.slot.rawValue, ordering: .relaxed)
    imageCount += 1
    usedPlaceCount = max(usedPlaceCount, index + 1)
    while imageCount > maximumImageCount { evictOne(keeping: index) }
    return true
  }

  /// Evicts the image of a slot that is about to be rewritten.
  package func remove(_ slot: SlotNumber) {
    lock.withLock {
      let first = firstPlace(of: slot)
      for index in first..<first + Self.wayCount {
        if let image = image(at: index), image.place.slot == slot { retire(index) }
      }
    }
  }

  /// Changes the budget, evicting images that no longer fit.
  package func maximumSetPageCount(_ count: Int) {
    lock.withLock {
      maximumImageCount = max(64, count)
      while imageCount > maximumImageCount { evictOne() }
      reclaim()
    }
  }

  /// The number of pages held, including those that only wait for readers.
  package var pageCount: Int { lock.withLock { imageCount + retired.count } }

  /// Returns the place for a slot's image: its own, an empty one, or that of an image not used
  /// lately.
  private func placeToFill(_ slot: SlotNumber) -> Int {
    let first = firstPlace(of: slot)
    var empty: Int?
    for index in first..<first + Self.wayCount {
      guard let image = image(at: index) else {
        empty = index
        continue
      }
      if image.place.slot == slot { return index }
    }
    if let empty { return empty }
    for index in first..<first + Self.wayCount where !takeUse(index) { return index }
    // By the bits of the slot that do not choose its set.
    return first + Int(slot.rawValue) / setCount % Self.wayCount
  }

  /// Takes one use off the image of a place.
  ///
  /// Returns false if no use is left.
  private func takeUse(_ index: Int) -> Bool {
    image(at: index)?.takeUse() ?? false
  }

  private func evictOne(keeping kept: Int? = nil) {
    // Within this many turns the clock finds an image, unless readers keep using all of them.
    for _ in 0..<(Int(PageImage.maximumUseCount) + 2) * setCount * Self.wayCount {
      clockHand = (clockHand + 1) % (setCount * Self.wayCount)
      if clockHand != kept, image(at: clockHand) != nil, !takeUse(clockHand) {
        return retire(clockHand)
      }
    }
  }

  private func retire(_ index: Int) {
    guard let image = image(at: index) else { return }
    unsafe slots[index].store(0, ordering: .relaxed)
    unsafe places[index].store(0, ordering: .sequentiallyConsistent)
    imageCount -= 1
    retired.append((image, readers.advance()))
  }

  private func reclaim() {
    guard let first = retired.first else { return }
    let oldest = readers.oldest()
    if first.epoch < oldest {
      let end = retired.firstIndex { $0.epoch >= oldest } ?? retired.count
      for entry in retired[..<end] { entry.image.release() }
      retired.removeFirst(end)
    }
    maximumRetiredCount = max(64, retired.count * 2)
  }
}
