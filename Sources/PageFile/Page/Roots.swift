/// A map from tree number to root page: the state that a commit switches.
///
/// Its few dozen bytes are part of each commit header and of the meta slots.
///
/// See docs/page-file-format.md, M-12 and W-10.
package struct Roots: Sendable {
  package static let maximumCount = 16
  package static let byteCount = maximumCount * 4 + 4

  /// A vector, because it holds its 16 numbers in place on every system.
  private var pages = SIMD16<UInt32>(repeating: 0)
  /// One more than the greatest page number ever used; every number below it is in use or free.
  package var pageNumberEnd: UInt32 = 1

  package init() {}

  package subscript(tree: TreeNumber) -> PageNumber {
    get { PageNumber(pages[tree.rawValue]) }
    set { pages[tree.rawValue] = newValue.rawValue }
  }

  func append(to buffer: inout ByteBuffer) {
    for index in 0..<Self.maximumCount { buffer.append(littleEndian: pages[index]) }
    buffer.append(littleEndian: pageNumberEnd)
  }

  /// Reads the roots written by `append`; returns nil if a root is not below the end of the page
  /// numbers.
  init?(_ reader: inout ByteReader) {
    for index in 0..<Self.maximumCount {
      guard let root = reader.uint32() else { return nil }
      pages[index] = root
    }
    guard let end = reader.uint32(), end >= 1 else { return nil }
    pageNumberEnd = end
    for index in 0..<Self.maximumCount where pages[index] >= end { return nil }
  }
}
