#if DEBUG
  import Synchronization

  /// How long a page's bytes may be read, checked at every access; in debug builds only.
  ///
  /// `Bytes` have no owner, and a page that is read after its bracket mostly still lies in memory: a
  /// test sees the mistake only if another thread evicts the page at that moment. So each bracket of
  /// `PageSource` takes a number here, the bytes it hands out carry it, and an access after the
  /// bracket's end traps whatever has become of the page. Nothing here orders memory, so the thread
  /// sanitizer sees no more order between threads than there is without it.
  @usableFromInline
  package struct PageLease: Sendable {
    @usableFromInline let place: Int32
    @usableFromInline let number: UInt32

    @usableFromInline
    init(place: Int32, number: UInt32) {
      self.place = place
      self.number = number
    }

    private static let placeCount = 1 << 16
    /// Odd while a bracket has the place; each bracket leaves it two higher.
    nonisolated(unsafe) private static let numbers: UnsafeMutablePointer<Atomic<UInt32>> = {
      let numbers = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: placeCount)
      for place in 0..<placeCount { unsafe (numbers + place).initialize(to: Atomic(0)) }
      return unsafe numbers
    }()
    private static let next = Atomic<Int>(0)

    /// For bytes that no bracket has handed out.
    @usableFromInline static var unlimited: PageLease { PageLease(place: -1, number: 0) }

    /// Begins a bracket.
    static func begin() -> PageLease {
      for _ in 0..<placeCount {
        let place = next.add(1, ordering: .relaxed).oldValue & (placeCount - 1)
        let number = unsafe numbers[place].load(ordering: .relaxed)
        if number & 1 == 1 { continue }
        let (isMine, _) = unsafe numbers[place].compareExchange(
          expected: number, desired: number &+ 1, ordering: .acquiringAndReleasing)
        if isMine { return PageLease(place: Int32(place), number: number &+ 1) }
      }
      preconditionFailure("page leases: all in use (\(placeCount))")
    }

    /// Ends the bracket: what it has handed out must not be read any more.
    func end() {
      if place >= 0 { unsafe Self.numbers[Int(place)].store(number &+ 1, ordering: .relaxed) }
    }

    /// Whether the bracket has ended.
    @usableFromInline package var isOver: Bool {
      if place < 0 { return false }
      let now = unsafe Self.numbers[Int(place)].load(ordering: .relaxed)
      return now != number
    }
  }
#endif
