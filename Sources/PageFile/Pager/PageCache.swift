import Synchronization

/// Clean pages by the slot they lie in, within a budget of bytes.
///
/// Readers find a page without a lock and without counting references. Two ideas make that safe:
///
///  1. The table is set-associative: a slot can only be in the eight places of its set, each one
///     atomic address. Nothing ever moves from place to place. The slots' numbers stand in a table of
///     their own, eight in half a cache line, so that looking up touches no image but the right one.
///  2. Memory is given back by epochs (Fraser, "Practical lock-freedom", 2004): a reader announces
///     the epoch in which it entered; an image taken out of the table is freed only when every reader
///     inside entered after that.
///  3. Images in the table and those that wait for readers are together no more than the budget and a
///     quarter: then nothing is taken in until a reader leaves, see `Bracket`.
///
/// What is put in and taken out goes through one lock; both happen next to a system call.
@safe
package final class PageCache: @unchecked Sendable {
  // Unchecked: places and epochs are atomic, the rest is only touched under `lock`.
  private static let wayCount = 8

  private let places: UnsafeMutablePointer<Atomic<UInt>>
  /// The slot whose image is in each place, or was a moment ago: a hint, confirmed by the image.
  private let slots: UnsafeMutablePointer<Atomic<UInt32>>
  private let setCount: Int
  private let readers = ReaderEpochs()
  private let lock = Lock()
  private var imageCount = 0
  private var imageCountMax: Int
  private var clockHand = 0
  /// Images out of the table that some reader may still look at, with the epoch they left in; epochs
  /// ascend.
  private var retired: [(image: PageImage, epoch: UInt64)] = []
  /// How many of them may wait beside a table that is full.
  private let waitingCountMax: Int
  /// How many may wait before they are looked through again: twice as many as had to stay last time.
  private var retiredCountMax = 64

  /// - Parameter pageCountMax: How many pages fit into the budget; at least 64 are kept.
  package init(pageCountMax: Int) {
    imageCountMax = max(64, pageCountMax)
    waitingCountMax = Self.waitingCountMax(pageCountMax: pageCountMax)
    var setCount = 8
    // Twice as many places as pages, so that the budget and not the sets decides who has to go.
    while setCount * Self.wayCount < 2 * imageCountMax { setCount *= 2 }
    self.setCount = setCount
    unsafe places = .allocate(capacity: setCount * Self.wayCount)
    unsafe slots = .allocate(capacity: setCount * Self.wayCount)
    for index in 0..<setCount * Self.wayCount {
      unsafe (places + index).initialize(to: Atomic(0))
      unsafe (slots + index).initialize(to: Atomic(0))
    }
  }

  deinit {
    for index in 0..<setCount * Self.wayCount {
      image(at: index)?.release()
    }
    unsafe places.deinitialize(count: setCount * Self.wayCount)
    unsafe slots.deinitialize(count: setCount * Self.wayCount)
    unsafe slots.deallocate()
    unsafe places.deallocate()
    for entry in retired { entry.image.release() }
  }

  /// How many images may wait for readers beside a full table.
  package static func waitingCountMax(pageCountMax: Int) -> Int { max(64, pageCountMax / 4) }

  /// Between `enter` and `leave`, which must be given the ticket, no image that `find` gave is freed.
  package func enter() -> ReaderEpochs.Ticket { readers.enter() }
  package func leave(_ ticket: ReaderEpochs.Ticket) { readers.leave(ticket) }

  /// Whether this thread stands between `enter` and `leave`: then it must not wait for readers.
  var isReadByThisThread: Bool { readers.isThisThreadInside }

  /// Returns when every reader that was inside has left.
  func waitForReaders() {
    let epoch = readers.advance()
    while readers.oldest() <= epoch { Pause.briefly() }
  }

  /// The image of what a table entry names, if it is here.
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

  @inline(__always)
  private func firstPlace(of slot: SlotNumber) -> Int {
    let mixed = slot.rawValue &* 0x9E37_79B1
    return (Int(mixed >> 12) & (setCount - 1)) * Self.wayCount
  }

  /// Puts an image in the table under its place, and takes over the caller's reference.
  ///
  /// An image that is there for the same slot goes. False, and nothing done, while too many images
  /// wait for readers.
  package func insert(_ image: PageImage) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    let countMax = imageCountMax + waitingCountMax
    if retired.count >= retiredCountMax || imageCount + retired.count >= countMax { reclaim() }
    guard imageCount + retired.count < countMax else { return false }
    let index = placeToFill(image.place.slot)
    image.markUsed()
    retire(index)
    unsafe places[index].store(UInt(bitPattern: image.address), ordering: .releasing)
    unsafe slots[index].store(image.place.slot.rawValue, ordering: .relaxed)
    imageCount += 1
    while imageCount > imageCountMax { evictOne() }
    return true
  }

  /// Forgets what was in a slot that is about to be written anew.
  package func remove(_ slot: SlotNumber) {
    lock.withLock {
      let first = firstPlace(of: slot)
      for index in first..<first + Self.wayCount {
        if let image = image(at: index), image.place.slot == slot { retire(index) }
      }
    }
  }

  /// Changes the budget, evicting what no longer fits.
  package func setPageCountMax(_ count: Int) {
    lock.withLock {
      imageCountMax = max(64, count)
      while imageCount > imageCountMax { evictOne() }
      reclaim()
    }
  }

  /// How many pages are held, those that only wait for readers included.
  package var pageCount: Int { lock.withLock { imageCount + retired.count } }

  /// The place for a slot's image: its own, an empty one, or that of one not used lately.
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
    for index in first..<first + Self.wayCount where !wasUsed(index) { return index }
    return first + Int(slot.rawValue) % Self.wayCount
  }

  /// Whether the place was used since it was last asked about.
  private func wasUsed(_ index: Int) -> Bool {
    image(at: index)?.takeUsedMark() ?? false
  }

  private func evictOne() {
    for _ in 0..<2 * setCount * Self.wayCount {
      clockHand = (clockHand + 1) % (setCount * Self.wayCount)
      if image(at: clockHand) != nil && !wasUsed(clockHand) {
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
    retiredCountMax = max(64, retired.count * 2)
  }
}
