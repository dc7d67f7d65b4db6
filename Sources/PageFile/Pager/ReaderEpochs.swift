import Synchronization

/// The readers inside and the epochs in which they entered: the announcements behind rule 2 of
/// `PageCache`.
///
/// A reader takes a place and writes the current epoch there. An object that was made unreachable
/// in epoch e may be freed once every place is empty or shows a later epoch.
///
/// Places come in blocks. A block is added when all places are taken, and is kept from then on. So
/// any number of readers may be inside without stopping reclamation.
@safe
package final class ReaderEpochs: @unchecked Sendable {
  // Unchecked: all shared state is atomic.
  private typealias Place = UnsafeMutablePointer<Atomic<UInt64>>

  private static let placeCount = 64
  /// The words per place: two cache lines, so that readers on different cores do not disturb each
  /// other.
  ///
  /// The first word is the epoch, the second the thread that has the place.
  private static let stride = 16
  private static let threadOffset = 1
  /// The index of the address of the next block, after the places of a block; 0 for the last block.
  private static let linkIndex = placeCount * stride

  private let firstBlock: Place
  private let epoch = Atomic<UInt64>(1)

  /// The receipt of `enter`, to be passed to `leave`.
  @safe
  package struct Ticket {
    fileprivate let place: UnsafeMutablePointer<Atomic<UInt64>>
  }

  init() {
    unsafe firstBlock = Self.makeBlock()
  }

  deinit {
    var block: Place? = unsafe firstBlock
    while let current = unsafe block {
      unsafe block = Self.next(of: current)
      unsafe Self.freeBlock(current)
    }
  }

  func enter() -> Ticket {
    var local: UInt8 = 0
    // Each thread has its own stack, so the address spreads threads over the places.
    let hint = unsafe withUnsafePointer(to: &local) { Int(bitPattern: $0) >> 12 }
    let start = (hint ^ hint >> 8) & (Self.placeCount - 1)
    var block = unsafe firstBlock
    while true {
      for step in 0..<Self.placeCount {
        let place = unsafe block + ((start + step) & (Self.placeCount - 1)) * Self.stride
        let now = epoch.load(ordering: .acquiring)
        Interleaving.reach("an epoch was read")
        let (isMine, _) = unsafe place.pointee.compareExchange(
          expected: 0, desired: now, ordering: .sequentiallyConsistent)
        if isMine {
          Interleaving.reach("a reader has entered")
          unsafe place[Self.threadOffset].store(UInt64(CurrentThread.id), ordering: .relaxed)
          if Defect.readersUnannounced.isPlanted {
            unsafe place.pointee.store(0, ordering: .releasing)
          }
          #if arch(arm64)
            // On arm64 a later load could pass the announcement; x86 does not allow that.
            atomicMemoryFence(ordering: .sequentiallyConsistent)
          #endif
          return unsafe Ticket(place: place)
        }
      }
      unsafe block = Self.nextOrNew(of: block)
    }
  }

  func leave(_ ticket: Ticket) {
    Interleaving.reach("a reader leaves")
    unsafe ticket.place[Self.threadOffset].store(0, ordering: .relaxed)
    unsafe ticket.place.pointee.store(0, ordering: .releasing)
  }

  /// True if the calling thread has entered and not left.
  var isThisThreadInside: Bool {
    let thread = UInt64(CurrentThread.id)
    var block: Place? = unsafe firstBlock
    while let current = unsafe block {
      for place in 0..<Self.placeCount {
        let owner = unsafe current[place * Self.stride + Self.threadOffset]
          .load(ordering: .relaxed)
        if owner == thread { return true }
      }
      unsafe block = Self.next(of: current)
    }
    return false
  }

  /// Ends an epoch and returns it: objects made unreachable before belong to it.
  func advance() -> UInt64 {
    Interleaving.reach("an epoch ends")
    return epoch.add(1, ordering: .sequentiallyConsistent).oldValue
  }

  /// Returns the epoch in which the longest-running reader entered, or the greatest number if there
  /// is no reader.
  func oldest() -> UInt64 {
    Interleaving.reach("readers are looked for")
    var oldest = UInt64.max
    var block: Place? = unsafe firstBlock
    while let current = unsafe block {
      for place in 0..<Self.placeCount {
        let entered = unsafe current[place * Self.stride].load(ordering: .sequentiallyConsistent)
        if entered != 0 { oldest = min(oldest, entered) }
      }
      unsafe block = Self.next(of: current)
    }
    return oldest
  }

  // MARK: Blocks

  @unsafe
  private static func makeBlock() -> Place {
    let block = Place.allocate(capacity: linkIndex + stride)
    for index in 0..<linkIndex + stride { unsafe (block + index).initialize(to: Atomic(0)) }
    return unsafe block
  }

  @unsafe
  private static func freeBlock(_ block: Place) {
    unsafe block.deinitialize(count: linkIndex + stride)
    unsafe block.deallocate()
  }

  @unsafe
  private static func next(of block: Place) -> Place? {
    let address = unsafe block[linkIndex].load(ordering: .sequentiallyConsistent)
    return unsafe Place(bitPattern: UInt(address))
  }

  /// Returns the block after another, creating it if there is none.
  ///
  /// A thread that frees objects either sees the link, or scanned the readers before the link
  /// existed. In the second case the entering reader cannot find the objects that were made
  /// unreachable.
  @unsafe
  private static func nextOrNew(of block: Place) -> Place {
    if let next = unsafe next(of: block) { return unsafe next }
    let made = unsafe makeBlock()
    let (isMine, other) = unsafe block[linkIndex].compareExchange(
      expected: 0, desired: UInt64(UInt(bitPattern: made)), ordering: .sequentiallyConsistent)
    if isMine { return unsafe made }
    unsafe freeBlock(made)
    return unsafe Place(bitPattern: UInt(other)).unsafelyUnwrapped
  }
}
