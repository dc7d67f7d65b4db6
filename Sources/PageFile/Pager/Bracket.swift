/// What one reader relies on from `enter` to the `leave` that belongs to it.
///
/// Images in the cache stay for as long as the reader is inside, see `PageCache`. Where so many images
/// wait for readers already that the cache takes no more, the reader keeps what it reads, and gives
/// it back when it leaves. So a reader that stays inside makes others read some pages again, but does not
/// make memory grow.
///
/// Not for use by several threads at once.
final class Bracket {
  private let cache: PageCache
  /// Says whether what is read may still be believed; nil for what nobody can take away.
  let registration: SnapshotRegistry.Registration?
  private var ticket: ReaderEpochs.Ticket?
  private(set) var depth = 0
  #if DEBUG
    /// Ends what was handed out since the outermost `enter`.
    private(set) var lease = PageLease.unlimited
  #endif
  /// Images that the cache has not taken, by the table entry that names them.
  private var kept: [UInt64: PageImage] = [:]
  /// The same, in the order in which they were read.
  private var order: [PageImage] = []
  /// How many they are, which is asked at every page: mostly none.
  private(set) var keptCount = 0

  init(_ cache: PageCache, _ registration: SnapshotRegistry.Registration? = nil) {
    self.cache = cache
    self.registration = registration
  }

  deinit {
    if let ticket { end(ticket) }
  }

  /// May be nested.
  func enter() {
    if depth == 0 {
      ticket = cache.enter()
      #if DEBUG
        lease = .begin()
      #endif
    }
    depth += 1
  }

  func leave() {
    depth -= 1
    precondition(depth >= 0, "leave without enter")
    if depth == 0, let ticket { end(ticket) }
  }

  private func end(_ ticket: ReaderEpochs.Ticket) {
    #if DEBUG
      lease.end()
    #endif
    cache.leave(ticket)
    self.ticket = nil
    giveBack(to: 0)
  }

  /// Reads something of which nothing but the result is used later.
  func within<R>(_ body: () throws(PageFileError) -> R) throws(PageFileError) -> R {
    enter()
    defer { leave() }
    return try body()
  }

  // MARK: Kept images

  /// The image of what a table entry names, if it is kept here.
  func find(_ entry: TableEntry) -> PageImage? {
    keptCount == 0 ? nil : kept[entry.rawValue]
  }

  /// Keeps an image until `leave`; takes over the reference.
  func keep(_ image: PageImage) {
    kept[image.place.rawValue] = image
    order.append(image)
    keptCount += 1
  }

  /// Gives back all but the first `count` images that were kept.
  ///
  /// For whoever knows that nobody looks at what was read since there were that many.
  func giveBack(to count: Int) {
    while keptCount > count, let image = order.popLast() {
      keptCount -= 1
      kept[image.place.rawValue] = nil
      image.release()
    }
  }
}
