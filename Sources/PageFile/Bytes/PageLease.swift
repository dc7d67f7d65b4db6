#if DEBUG
  import Synchronization

  /// The lifetime of a page's bytes, checked at every access; in debug builds only.
  ///
  /// `Bytes` have no owner, and a page that is read after its bracket usually still lies in memory.
  /// A test sees the mistake only if another thread evicts the page at that moment. So each bracket
  /// of `PageSource` takes a number here and the bytes it hands out carry it. An access after the
  /// bracket's end traps even if the page is still there. All operations here are relaxed, so the
  /// thread sanitizer sees no more ordering between threads than there is without them.
  @safe @usableFromInline
  package struct PageLease: @unchecked Sendable {
    // Unchecked: the place is an atomic number.
    /// The place of the bracket, which is never freed; nil for bytes from outside any bracket.
    private let place: UnsafeMutablePointer<Atomic<UInt32>>?
    private let number: UInt32

    private init(place: UnsafeMutablePointer<Atomic<UInt32>>?, number: UInt32) {
      unsafe self.place = place
      self.number = number
    }

    private static let placeCount = 1 << 16
    /// One number per place, odd while a bracket holds the place; each bracket raises it by two.
    nonisolated(unsafe) private static let numbers: UnsafeMutablePointer<Atomic<UInt32>> = {
      let numbers = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: placeCount)
      for place in 0..<placeCount { unsafe (numbers + place).initialize(to: Atomic(0)) }
      return unsafe numbers
    }()
    private static let next = Atomic<Int>(0)

    /// The lease of bytes from outside any bracket; it never ends.
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

    /// Ends the bracket; the bytes it handed out must not be read any more.
    func end() {
      unsafe place?.pointee.store(number &+ 1, ordering: .relaxed)
    }

    /// True if the bracket has ended.
    @usableFromInline package var isOver: Bool {
      guard let place = unsafe place else { return false }
      return unsafe place.pointee.load(ordering: .relaxed) != number
    }
  }
#endif
