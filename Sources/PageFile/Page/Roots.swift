/// A map from tree number to root page: the state that a commit switches.
///
/// The *lower* roots, of trees 0 to 15, are part of each commit header. The *upper* ones, of trees
/// 16 to 31, are in a frame of the commits that change them; see `RootsFrame`. A root changes only
/// when its tree begins, ends or changes its height, so most commits save 64 bytes. Meta slots have
/// both.
///
/// See docs/page-file-format.md, M-12, M-14, W-10 and W-23.
package struct Roots: Sendable {
  package static let maximumCount = 32
  /// The number of lower roots: all the trees of a file without `MetaSlot.Features.moreTrees`.
  package static let lowerCount = 16
  /// The size of the lower roots and the end of the page numbers.
  package static let byteCount = lowerCount * 4 + 4
  package static let upperByteCount = (maximumCount - lowerCount) * 4

  /// Vectors, because they hold their 16 numbers in place on every system.
  private var lower = SIMD16<UInt32>(repeating: 0)
  private var upper = SIMD16<UInt32>(repeating: 0)
  /// One more than the greatest page number ever used; every number below it is in use or free.
  package var pageNumberEnd: UInt32 = 1

  package init() {}

  package subscript(tree: TreeNumber) -> PageNumber {
    get {
      let index = tree.rawValue
      return PageNumber(index < Self.lowerCount ? lower[index] : upper[index - Self.lowerCount])
    }
    set {
      let index = tree.rawValue
      if index < Self.lowerCount {
        lower[index] = newValue.rawValue
      } else {
        upper[index - Self.lowerCount] = newValue.rawValue
      }
    }
  }

  /// True if a tree beyond 15 has a page.
  package var hasUpper: Bool { upper != SIMD16(repeating: 0) }

  /// Returns true if both have the same upper roots.
  func hasUpper(of other: Roots) -> Bool { upper == other.upper }

  /// Takes the upper roots of the commit before, which a commit keeps unless a frame changes them.
  mutating func keepUpper(of earlier: Roots) { upper = earlier.upper }

  /// True if every root is below the end of the page numbers.
  var areBelowEnd: Bool { lower.max() < pageNumberEnd && upper.max() < pageNumberEnd }

  /// Appends the lower roots and the end of the page numbers.
  func append(to buffer: inout ByteBuffer) {
    for index in 0..<Self.lowerCount { buffer.append(littleEndian: lower[index]) }
    buffer.append(littleEndian: pageNumberEnd)
  }

  func appendUpper(to buffer: inout ByteBuffer) {
    for index in 0..<Self.maximumCount - Self.lowerCount {
      buffer.append(littleEndian: upper[index])
    }
  }

  /// Reads the lower roots and the end written by `append`; returns nil if a root is not below the
  /// end of the page numbers.
  init?(_ reader: inout ByteReader) {
    for index in 0..<Self.lowerCount {
      guard let root = reader.uint32() else { return nil }
      lower[index] = root
    }
    guard let end = reader.uint32(), end >= 1 else { return nil }
    pageNumberEnd = end
    guard areBelowEnd else { return nil }
  }

  /// Reads the upper roots written by `appendUpper`; returns false if one of them is not below the
  /// end of the page numbers.
  mutating func readUpper(_ reader: inout ByteReader) -> Bool {
    for index in 0..<Self.maximumCount - Self.lowerCount {
      guard let root = reader.uint32() else { return false }
      upper[index] = root
    }
    return areBelowEnd
  }
}
