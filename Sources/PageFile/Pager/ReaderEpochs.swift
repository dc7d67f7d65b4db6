import Synchronization

/// Who is reading, and since when: the announcements behind `PageCache`'s rule 2.
///
/// A reader takes one of a fixed number of places and writes the current epoch there. Something that
/// was taken out of reach in epoch e may be freed once every place is empty or shows a later epoch.
@safe
package final class ReaderEpochs: @unchecked Sendable {
  // Unchecked: all shared state is atomic.
  private static let placeCount = 64
  /// Two cache lines for each place, so that readers on different cores do not disturb each other:
  /// the epoch, and beside it the thread that has the place.
  private static let stride = 16
  private static let threadOffset = 1

  private let places: UnsafeMutablePointer<Atomic<UInt64>>
  private let epoch = Atomic<UInt64>(1)
  /// Readers who found no place; while there are any, nothing is freed.
  private let crowd = Atomic<Int>(0)

  /// What `leave` needs back.
  package struct Ticket {
    fileprivate let place: Int
  }

  init() {
    unsafe places = .allocate(capacity: Self.placeCount * Self.stride)
    for index in 0..<Self.placeCount * Self.stride {
      unsafe (places + index).initialize(to: Atomic(0))
    }
  }

  deinit {
    unsafe places.deinitialize(count: Self.placeCount * Self.stride)
    unsafe places.deallocate()
  }

  func enter() -> Ticket {
    var local: UInt8 = 0
    // Threads have stacks of their own, so this spreads them over the places.
    let hint = unsafe withUnsafePointer(to: &local) { Int(bitPattern: $0) >> 12 }
    let start = (hint ^ hint >> 8) & (Self.placeCount - 1)
    for step in 0..<Self.placeCount {
      let place = (start + step) & (Self.placeCount - 1)
      let now = epoch.load(ordering: .acquiring)
      let (isMine, _) = unsafe places[place * Self.stride].compareExchange(
        expected: 0, desired: now, ordering: .sequentiallyConsistent)
      if isMine {
        unsafe places[place * Self.stride + Self.threadOffset]
          .store(ThisThread.number, ordering: .relaxed)
        #if arch(arm64)
          // There a later load could pass the announcement; x86 never lets it.
          atomicMemoryFence(ordering: .sequentiallyConsistent)
        #endif
        return Ticket(place: place)
      }
    }
    crowd.add(1, ordering: .sequentiallyConsistent)
    #if arch(arm64)
      atomicMemoryFence(ordering: .sequentiallyConsistent)
    #endif
    return Ticket(place: -1)
  }

  func leave(_ ticket: Ticket) {
    if ticket.place < 0 {
      crowd.subtract(1, ordering: .releasing)
    } else {
      unsafe places[ticket.place * Self.stride + Self.threadOffset].store(0, ordering: .relaxed)
      unsafe places[ticket.place * Self.stride].store(0, ordering: .releasing)
    }
  }

  /// Whether the calling thread has entered and not left.
  ///
  /// Readers who found no place are not seen.
  var isThisThreadInside: Bool {
    let thread = ThisThread.number
    return (0..<Self.placeCount).contains { place in
      unsafe places[place * Self.stride + Self.threadOffset].load(ordering: .relaxed) == thread
    }
  }

  /// Ends an epoch and returns it: what was taken out of reach before belongs to it.
  func advance() -> UInt64 {
    epoch.add(1, ordering: .sequentiallyConsistent).oldValue
  }

  /// The epoch in which the longest reader inside entered, or one later than all.
  func oldest() -> UInt64 {
    if crowd.load(ordering: .sequentiallyConsistent) > 0 { return 0 }
    var oldest = UInt64.max
    for place in 0..<Self.placeCount {
      let entered = unsafe places[place * Self.stride].load(ordering: .sequentiallyConsistent)
      if entered != 0 { oldest = min(oldest, entered) }
    }
    return oldest
  }
}
