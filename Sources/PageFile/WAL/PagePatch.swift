/// The change of one page in a commit: a frame.
///
/// See docs/page-file-format.md, W-13 … W-17 and W-23.
///
///     varint  page number; 0 for kind 5
///     byte    kind: 1 patch of the previous version, 2 patch of zeros (fresh page), 3 page freed,
///             4 patch of the previous version with bytes moved, 5 roots of trees 16 to 31
///     varint  byte count of the rest (all kinds but 3)
///     move    kind 4: varint source, varint target, both from `origin`, varint byte count
///     ranges  each: varint gap to the previous range, varint (byte count << 1 | zeros), then the
///             bytes, unless they are all zeros
///     roots   kind 5, see `RootsFrame`
///
/// Offsets of ranges begin after the page's checksum and LSN, which a patch never carries: the
/// checksum is computed when the page is written to its slot, and the LSN is the commit's.
///
///  1. A patch of zeros makes a fresh page.
///  2. Any other patch applies to the version of its page just before this commit.
///  3. A move comes before the ranges: inserting or removing a cell moves the pointers after it by
///     two bytes, which could take some hundred bytes of ranges.
package enum PagePatch {
  package enum Kind: UInt8, Sendable {
    case patch = 1
    case fresh = 2
    case freed = 3
    /// Of no page: roots that the commit changes; see `RootsFrame`.
    case roots = 5
  }

  /// The kind byte of a patch that begins with a move.
  package static let movingKind: UInt8 = 4

  /// The offset at which a page's patched bytes begin.
  package static let origin = PageHeader.numberOffset

  /// A copy of bytes to another place in the page, done before the ranges are applied.
  ///
  /// The two places may overlap.
  struct Move {
    let source: Int
    let target: Int
    let byteCount: Int
  }

  /// One frame of a commit.
  package struct Frame {
    package let number: PageNumber
    package let kind: Kind
    let move: Move?
    /// The ranges; for kind 5 its entries.
    package let ranges: Bytes
  }

  /// Decodes the next frame; returns nil if the bytes are not a valid frame.
  package static func nextFrame(_ reader: inout ByteReader) -> Frame? {
    guard let raw = reader.varint(), let number = UInt32(exactly: raw), let mark = reader.byte()
    else { return nil }
    let isMoving = mark == movingKind
    guard let kind = isMoving ? .patch : Kind(rawValue: mark), (number == 0) == (kind == .roots)
    else { return nil }
    if kind == .freed {
      return Frame(number: PageNumber(number), kind: kind, move: nil, ranges: .empty)
    }
    guard let byteCount = reader.length(), let body = reader.take(byteCount) else { return nil }
    var rest = ByteReader(body)
    var move: Move?
    if isMoving {
      move = nextMove(&rest)
      if move == nil { return nil }
    }
    return Frame(number: PageNumber(number), kind: kind, move: move, ranges: rest.rest())
  }

  private static func nextMove(_ reader: inout ByteReader) -> Move? {
    // No page is this large, and the sum of two such numbers cannot overflow.
    guard let source = reader.varint(), let target = reader.varint(),
      let byteCount = reader.varint(), max(source, target, byteCount) < 1 << 20
    else { return nil }
    return Move(
      source: origin + Int(source), target: origin + Int(target), byteCount: Int(byteCount))
  }

  /// Applies a frame to the previous version of its page; returns false if it exceeds the page.
  package static func apply(_ frame: Frame, to page: MutableBytes) -> Bool {
    if let move = frame.move {
      guard max(move.source, move.target) + move.byteCount <= page.count else { return false }
      page.move(from: move.source, to: move.target, byteCount: move.byteCount)
    }
    return apply(frame.ranges, to: page)
  }

  /// Applies ranges to a page; returns false if one of them exceeds the page.
  package static func apply(_ ranges: Bytes, to page: MutableBytes) -> Bool {
    var reader = ByteReader(ranges)
    var offset = origin
    while !reader.isAtEnd {
      guard let gap = reader.varint(), let word = reader.varint(),
        gap <= UInt64(page.count - offset)
      else { return false }
      offset += Int(gap)
      guard word >> 1 <= UInt64(page.count - offset) else { return false }
      let byteCount = Int(word >> 1)
      if word & 1 == 1 {
        page.zero(offset, byteCount)
      } else {
        guard let bytes = reader.take(byteCount) else { return false }
        page.copy(bytes, to: offset)
      }
      offset += byteCount
    }
    return true
  }
}
