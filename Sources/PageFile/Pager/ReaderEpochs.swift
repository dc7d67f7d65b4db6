import Synchronization

/// Who is reading, and since when: the announcements behind `PageCache`'s rule 2.
///
/// A reader takes a place and writes the current epoch there. Something that was taken out of reach in
/// epoch e may be freed once every place is empty or shows a later epoch.
///
/// Places come in blocks. A block is added when all places are taken, and stays: so freeing never stops
/// because many are inside.
@safe
package final class ReaderEpochs: @unchecked Sendable {
  // Unchecked: all shared state is atomic.
  private typealias Place = UnsafeMutablePointer<Atomic<UInt64>>

  private static let placeCount = 64
  /// Two cache lines for each place, so that readers on different cores do not disturb each other:
  /// the epoch, and beside it the thread that has the place.
  private static let stride = 16
  private static let threadOffset = 1
  /// Behind the places of a block lies the address of the next one, 0 for none.
  private static let linkIndex = placeCount * stride

  private let firstBlock: Place
  private let epoch = Atomic<UInt64>(1)

  /// What `leave` needs back.
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
    // Threads have stacks of their own, so this spreads them over the places.
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
            // There a later load could pass the announcement; x86 never lets it.
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

  /// Whether the calling thread has entered and not left.
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

  /// Ends an epoch and returns it: what was taken out of reach before belongs to it.
  func advance() -> UInt64 {
    Interleaving.reach("an epoch ends")
    return epoch.add(1, ordering: .sequentiallyConsistent).oldValue
  }

  /// The epoch in which the longest reader inside entered, or one later than all.
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

  /// The block behind another, made if there is none.
  ///
  /// Whoever frees either sees the link, or looked before it was there: then the reader that enters
  /// finds nothing that was taken out of reach.
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
