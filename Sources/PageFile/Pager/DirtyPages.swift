/// The pages that a write transaction has changed and not committed, by number.
///
/// This is a small open-addressing table. The writer looks up every page it touches, and a
/// `Dictionary` takes five times as long (docs/decisions.md).
///
/// The value is a handle; its creator frees it. A class would cost a retain and an exclusivity
/// check at each of these lookups.
@safe
package struct DirtyPages {
  @safe
  private struct Table {
    /// The page number at each place, 0 for an empty place.
    var keys: UnsafeMutablePointer<UInt32>
    var images: UnsafeMutablePointer<PageImage>
    var capacity: Int
    var count = 0

    init(capacity: Int) {
      self.capacity = capacity
      unsafe keys = .allocate(capacity: capacity)
      unsafe images = .allocate(capacity: capacity)
      unsafe keys.initialize(repeating: 0, count: capacity)
    }

    func free() {
      unsafe keys.deallocate()
      unsafe images.deallocate()
    }
  }

  private let table: UnsafeMutablePointer<Table>

  package init() {
    unsafe table = .allocate(capacity: 1)
    unsafe table.initialize(to: Table(capacity: 16))
  }

  /// Frees the table and releases all images.
  package func free() {
    removeAll()
    unsafe table.pointee.free()
    unsafe table.deallocate()
  }

  private var keys: UnsafeMutablePointer<UInt32> { unsafe table.pointee.keys }
  private var images: UnsafeMutablePointer<PageImage> { unsafe table.pointee.images }
  private var capacity: Int { unsafe table.pointee.capacity }
  package private(set) var count: Int {
    get { unsafe table.pointee.count }
    nonmutating set { unsafe table.pointee.count = newValue }
  }

  private func place(of number: PageNumber) -> Int {
    // The upper bits are the well mixed ones.
    var index = Int((number.rawValue &* 0x9E37_79B1) >> 12) & (capacity - 1)
    while unsafe keys[index] != 0 && keys[index] != number.rawValue {
      index = (index + 1) & (capacity - 1)
    }
    return index
  }

  package subscript(number: PageNumber) -> PageImage? {
    let index = place(of: number)
    return unsafe keys[index] == 0 ? nil : images[index]
  }

  /// Adds a page that is not in the table, taking over the caller's reference.
  package func insert(_ number: PageNumber, _ image: PageImage) {
    if count * 2 >= capacity { grow() }
    let index = place(of: number)
    unsafe keys[index] = number.rawValue
    unsafe images[index] = image
    count += 1
  }

  private func grow() {
    let old = unsafe table.pointee
    unsafe table.pointee = Table(capacity: 2 * old.capacity)
    for index in 0..<old.capacity where unsafe old.keys[index] != 0 {
      insert(PageNumber(unsafe old.keys[index]), unsafe old.images[index])
    }
    old.free()
  }

  /// Removes a page and hands its image to the caller.
  package func remove(_ number: PageNumber) -> PageImage? {
    var hole = place(of: number)
    guard unsafe keys[hole] != 0 else { return nil }
    let removed = unsafe images[hole]
    unsafe keys[hole] = 0
    count -= 1
    // Reinsert the entries that were displaced past the hole.
    var index = (hole + 1) & (capacity - 1)
    while unsafe keys[index] != 0 {
      let moving = PageNumber(unsafe keys[index])
      unsafe keys[index] = 0
      hole = place(of: moving)
      unsafe keys[hole] = moving.rawValue
      unsafe images[hole] = images[index]
      index = (index + 1) & (capacity - 1)
    }
    return removed
  }

  /// Returns all pages in the order of their numbers.
  package func sorted() -> [(number: PageNumber, image: PageImage)] {
    var pages: [(number: PageNumber, image: PageImage)] = []
    pages.reserveCapacity(count)
    for index in 0..<capacity where unsafe keys[index] != 0 {
      pages.append((PageNumber(unsafe keys[index]), unsafe images[index]))
    }
    return pages.sorted { $0.number < $1.number }
  }

  /// Removes all pages and releases their images.
  package func removeAll() {
    for index in 0..<capacity where unsafe keys[index] != 0 {
      unsafe images[index].release()
      unsafe keys[index] = 0
    }
    count = 0
  }
}
