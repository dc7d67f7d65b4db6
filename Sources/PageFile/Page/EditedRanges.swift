/// The ranges of a page that the writer has changed since it copied the page.
///
/// A commit compares these instead of the whole page.
///
///     offset  size  field
///          0     2  count of ranges
///          2     2  zero
///          4     4  range 0: start and end, two bytes each
///          …
///
/// They are stored in the page's image, so they keep their address while images move within tables.
///
///  1. Ranges ascend and do not overlap.
///  2. They may cover too much, but never too little.
@safe
package struct EditedRanges {
  package static let byteCount = 4 + 4 * maximumCount
  private static let maximumCount = 12
  /// Ranges at most this many bytes apart are merged.
  private static let slack = 16

  private let base: UnsafeMutableRawPointer

  @unsafe
  init(base: UnsafeMutableRawPointer) { unsafe self.base = base }

  package var count: Int {
    Int(unsafe base.load(as: UInt16.self))
  }

  package subscript(index: Int) -> Range<Int> {
    let start = unsafe base.load(fromByteOffset: 4 + 4 * index, as: UInt16.self)
    let end = unsafe base.load(fromByteOffset: 6 + 4 * index, as: UInt16.self)
    return Int(start)..<Int(end)
  }

  private func set(_ index: Int, _ start: Int, _ end: Int) {
    unsafe base.storeBytes(of: UInt16(start), toByteOffset: 4 + 4 * index, as: UInt16.self)
    unsafe base.storeBytes(of: UInt16(end), toByteOffset: 6 + 4 * index, as: UInt16.self)
  }

  private func setCount(_ count: Int) {
    unsafe base.storeBytes(of: UInt16(count), as: UInt16.self)
  }

  /// Forgets all changes, for a page that was just copied.
  package func removeAll() { setCount(0) }

  /// Returns true if all bytes may have changed.
  func coversAll(pageByteCount: Int) -> Bool { count == 1 && self[0] == 0..<pageByteCount }

  /// Notes that all bytes may have changed.
  func addAll(pageByteCount: Int) {
    set(0, 0, pageByteCount)
    setCount(1)
  }

  /// Notes a changed range.
  package func add(_ offset: Int, _ byteCount: Int) {
    if byteCount == 0 { return }
    var (start, end) = (offset, offset + byteCount)
    let count = count
    // The header lies in the first range, and each edit changes it.
    if count > 0, case let range = self[0], range.lowerBound <= start, end <= range.upperBound {
      return
    }
    var first = 0
    while first < count && self[first].upperBound + Self.slack < start { first += 1 }
    var behind = first
    while behind < count && self[behind].lowerBound <= end + Self.slack { behind += 1 }
    if behind == first && count == Self.maximumCount {
      // No room for another range: extend a neighbour over the gap.
      if first == count { first -= 1 } else { behind += 1 }
    }
    if behind > first {
      start = min(start, self[first].lowerBound)
      end = max(end, self[behind - 1].upperBound)
    }
    move(from: behind, to: first + 1, count: count - behind)
    set(first, start, end)
    setCount(count - (behind - first) + 1)
  }

  private func move(from source: Int, to target: Int, count: Int) {
    if source == target || count == 0 { return }
    unsafe (base + 4 + 4 * target).copyMemory(from: base + 4 + 4 * source, byteCount: 4 * count)
  }
}
