/// The state that a commit switches: a map from tree number to root page, the end of the page
/// numbers, and the words.
///
/// The roots and the end are part of each commit header. Words are in a frame of the commits that
/// change them; see `WordsFrame`. Meta slots have all.
///
/// See docs/page-file-format.md, M-12, M-14, W-10 and W-23.
package struct Roots: Sendable {
  /// The number of trees.
  package static let maximumCount = 16
  /// The size of the roots and the end of the page numbers.
  package static let byteCount = maximumCount * 4 + 4

  /// A vector, because it holds its 16 numbers in place on every system.
  private var pages = SIMD16<UInt32>(repeating: 0)
  /// One more than the greatest page number ever used; every number below it is in use or free.
  package var pageNumberEnd: UInt32 = 1
  package var words = Words()

  package init() {}

  package subscript(tree: TreeNumber) -> PageNumber {
    get { PageNumber(pages[tree.rawValue]) }
    set { pages[tree.rawValue] = newValue.rawValue }
  }

  /// Appends the roots and the end of the page numbers.
  func append(to buffer: inout ByteBuffer) {
    for index in 0..<Self.maximumCount { buffer.append(littleEndian: pages[index]) }
    buffer.append(littleEndian: pageNumberEnd)
  }

  /// Reads the roots and the end written by `append`; returns nil if a root is not below the end of
  /// the page numbers.
  init?(_ reader: inout ByteReader) {
    for index in 0..<Self.maximumCount {
      guard let root = reader.uint32() else { return nil }
      pages[index] = root
    }
    guard let end = reader.uint32(), end >= 1 else { return nil }
    pageNumberEnd = end
    guard pages.max() < pageNumberEnd else { return nil }
  }
}
