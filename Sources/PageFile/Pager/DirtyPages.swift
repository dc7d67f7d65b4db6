/// The pages a write transaction has changed and not committed, found by number.
///
/// A small open-addressing table: the writer asks it at every page it touches, and a `Dictionary`
/// takes five times as long (docs/decisions.md).
///
/// A handle: whoever makes a table frees it. As a class it would be retained and asked for exclusive
/// access at each of these steps.
@safe
package struct DirtyPages {
  @safe
  private struct Table {
    /// Page numbers, 0 where the place is empty.
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

  /// Ends the table and lets go of all images.
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
    // The upper bits are the mixed ones.
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

  /// Adds a page that is not here yet; takes over the reference.
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

  /// Takes a page out and hands its image to the caller.
  package func remove(_ number: PageNumber) -> PageImage? {
    var hole = place(of: number)
    guard unsafe keys[hole] != 0 else { return nil }
    let removed = unsafe images[hole]
    unsafe keys[hole] = 0
    count -= 1
    // What was pushed past the hole moves back into reach.
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

  /// All pages in the order of their numbers.
  package func sorted() -> [(number: PageNumber, image: PageImage)] {
    var pages: [(number: PageNumber, image: PageImage)] = []
    pages.reserveCapacity(count)
    for index in 0..<capacity where unsafe keys[index] != 0 {
      pages.append((PageNumber(unsafe keys[index]), unsafe images[index]))
    }
    return pages.sorted { $0.number < $1.number }
  }

  /// Lets go of all images.
  package func removeAll() {
    for index in 0..<capacity where unsafe keys[index] != 0 {
      unsafe images[index].release()
      unsafe keys[index] = 0
    }
    count = 0
  }
}
