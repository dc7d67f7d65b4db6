/// The header of every page.
///
/// See docs/page-file-format.md, P-1 … P-6.
///
///     offset  size  field
///          0     8  checksum of bytes 8 ..< page size
///          8     8  LSN of the commit that last changed the page
///         16     4  page number; in a table page, its place in its level
///         20     1  kind
///         21     1  level: leaf 0, branch 1 and up; table pages likewise
///         22     2  cell count
///         24     2  cell area start: offset of the lowest cell
///         26     2  freed byte count: bytes of the cell area that no cell owns
///         28     2  prefix byte count: the prefix that all keys share lies at the end of the page
///         30     1  number of the tree
///         31     1  zero
///
/// Bytes 22 ..< 32 are described for tree pages; the other kinds define their own.
@usableFromInline
package enum PageHeader {
  @inlinable package static var byteCount: Int { 32 }

  @inlinable package static var checksumOffset: Int { 0 }
  @inlinable package static var lsnOffset: Int { 8 }
  @inlinable package static var numberOffset: Int { 16 }
  @inlinable package static var kindOffset: Int { 20 }
  @inlinable package static var levelOffset: Int { 21 }
  @inlinable package static var cellCountOffset: Int { 22 }
  @inlinable package static var cellAreaStartOffset: Int { 24 }
  @inlinable package static var freedByteCountOffset: Int { 26 }
  @inlinable package static var prefixByteCountOffset: Int { 28 }
  @inlinable package static var treeOffset: Int { 30 }
}

/// The kind byte of a page.
///
/// Zero is not a kind, so a page of zeros is never valid.
package enum PageKind: UInt8, Sendable, CaseIterable {
  case leaf = 1
  case branch = 2
  case overflow = 3
  case table = 4
}

/// The page sizes that the format allows, in bytes.
///
/// A page has two sizes. Its *page size* is the room that it takes in the data file. Its *content
/// size* is the part of that which holds the header and all that follows it; every rule inside a
/// page is one of its content size. The two are equal unless pages are sealed.
package enum PageSize {
  package static let allowed = [4096, 8192, 16384, 32768]

  /// The bytes of a sealed page beside its content: nonce, tag, and zeros.
  ///
  /// A multiple of eight, so that the word behind a page in memory is aligned.
  package static let sealByteCount = 32

  /// Returns true if pages of an allowed size may have that content size.
  package static func isContent(_ byteCount: Int) -> Bool {
    isPowerInRange(byteCount) || isPowerInRange(byteCount &+ sealByteCount)
  }

  @inline(__always)
  private static func isPowerInRange(_ byteCount: Int) -> Bool {
    byteCount >= 4096 && byteCount <= 32768 && byteCount & (byteCount &- 1) == 0
  }
}
