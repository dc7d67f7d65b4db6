/// The protection that one reader has between `enter` and the matching `leave`.
///
/// Images in the cache are not freed while the reader is inside; see `PageCache`. If so many images
/// already wait for readers that the cache takes no more, the reader keeps the images it reads and
/// releases them when it leaves. So a reader that stays inside makes others read some pages again,
/// but does not make memory grow.
///
/// Must not be used by several threads at once.
final class Bracket {
  private let cache: PageCache
  /// Tells if the snapshot being read has expired; nil for a read that cannot expire.
  let registration: SnapshotRegistry.Registration?
  private var ticket: ReaderEpochs.Ticket?
  private(set) var depth = 0
  #if DEBUG
    /// The lease of all bytes handed out since the outermost `enter`.
    private(set) var lease = PageLease.unlimited
  #endif
  /// Images that the cache has not taken, by the table entry that names them.
  private var kept: [UInt64: PageImage] = [:]
  /// The same images, in the order in which they were read.
  private var order: [PageImage] = []
  /// The number of kept images, usually 0; it is read for every page.
  private(set) var keptCount = 0

  init(_ cache: PageCache, _ registration: SnapshotRegistry.Registration? = nil) {
    self.cache = cache
    self.registration = registration
  }

  deinit {
    if let ticket { end(ticket) }
  }

  /// Enters the bracket; calls may be nested.
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
    returnWork(to: 0)
  }

  /// Runs `body` inside the bracket; only its result may be used afterwards.
  func within<R>(_ body: () throws(PageFileError) -> R) throws(PageFileError) -> R {
    enter()
    defer { leave() }
    return try body()
  }

  // MARK: Kept images

  /// Returns the image that a table entry names, if it is kept here.
  func find(_ entry: TableEntry) -> PageImage? {
    keptCount == 0 ? nil : kept[entry.rawValue]
  }

  /// Keeps an image until `leave`, taking over the caller's reference.
  func keep(_ image: PageImage) {
    kept[image.place.rawValue] = image
    order.append(image)
    keptCount += 1
  }

  /// Releases all kept images but the first `count`.
  ///
  /// The caller knows that the images kept after those are no longer in use.
  func returnWork(to count: Int) {
    while keptCount > count, let image = order.popLast() {
      keptCount -= 1
      kept[image.place.rawValue] = nil
      image.release()
    }
  }
}
