/// The pages a write transaction has changed and not committed, found by number.
///
/// A small open-addressing table: the writer asks it at every page it touches, and a `Dictionary`
/// takes five times as long (docs/decisions.md).
@safe
package final class DirtyPages {
  /// Page numbers, 0 where the place is empty.
  private var keys: UnsafeMutablePointer<UInt32>
  private var images: UnsafeMutablePointer<PageImage>
  private var capacity: Int
  package private(set) var count = 0

  package init() {
    capacity = 16
    unsafe keys = .allocate(capacity: capacity)
    unsafe images = .allocate(capacity: capacity)
    unsafe keys.initialize(repeating: 0, count: capacity)
  }

  deinit {
    removeAll()
    unsafe keys.deallocate()
    unsafe images.deallocate()
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
    let (oldKeys, oldImages, oldCapacity) = unsafe (keys, images, capacity)
    capacity *= 2
    unsafe keys = .allocate(capacity: capacity)
    unsafe images = .allocate(capacity: capacity)
    unsafe keys.initialize(repeating: 0, count: capacity)
    for index in 0..<oldCapacity where unsafe oldKeys[index] != 0 {
      let place = place(of: PageNumber(unsafe oldKeys[index]))
      unsafe keys[place] = oldKeys[index]
      unsafe images[place] = oldImages[index]
    }
    unsafe oldKeys.deallocate()
    unsafe oldImages.deallocate()
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
