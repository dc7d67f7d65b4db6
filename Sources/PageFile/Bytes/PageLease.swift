#if DEBUG
  import Synchronization

  /// How long a page's bytes may be read, checked at every access; in debug builds only.
  ///
  /// `Bytes` have no owner, and a page that is read after its bracket mostly still lies in memory: a
  /// test sees the mistake only if another thread evicts the page at that moment. So each bracket of
  /// `PageSource` takes a number here, the bytes it hands out carry it, and an access after the
  /// bracket's end traps whatever has become of the page. Nothing here orders memory, so the thread
  /// sanitizer sees no more order between threads than there is without it.
  @safe @usableFromInline
  package struct PageLease: @unchecked Sendable {
    // Unchecked: the place is an atomic number.
    /// The place of the bracket, which is never freed; nil for bytes that no bracket has handed out.
    private let place: UnsafeMutablePointer<Atomic<UInt32>>?
    private let number: UInt32

    private init(place: UnsafeMutablePointer<Atomic<UInt32>>?, number: UInt32) {
      unsafe self.place = place
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
    @usableFromInline static var unlimited: PageLease { unsafe PageLease(place: nil, number: 0) }

    /// Begins a bracket.
    static func begin() -> PageLease {
      for _ in 0..<placeCount {
        let place = unsafe numbers + (next.add(1, ordering: .relaxed).oldValue & (placeCount - 1))
        let number = unsafe place.pointee.load(ordering: .relaxed)
        if number & 1 == 1 { continue }
        let (isMine, _) = unsafe place.pointee.compareExchange(
          expected: number, desired: number &+ 1, ordering: .relaxed)
        if isMine { return unsafe PageLease(place: place, number: number &+ 1) }
      }
      preconditionFailure("page leases: all in use (\(placeCount))")
    }

    /// Ends the bracket: what it has handed out must not be read any more.
    func end() {
      unsafe place?.pointee.store(number &+ 1, ordering: .relaxed)
    }

    /// Whether the bracket has ended.
    @usableFromInline package var isOver: Bool {
      guard let place = unsafe place else { return false }
      return unsafe place.pointee.load(ordering: .relaxed) != number
    }
  }
#endif
