/// What a commit says of one page: a frame.
///
/// See docs/page-file-format.md, W-13 … W-17.
///
///     varint  page number
///     byte    kind: 1 patch of the version before, 2 patch of zeros (a fresh page), 3 page freed,
///             4 patch of the version before with bytes moved
///     varint  byte count of the rest (kinds 1, 2 and 4)
///     move    kind 4: varint source, varint target, both from `origin`, varint byte count
///     ranges  each: varint gap to the range before, varint (byte count << 1 | zeros), then the
///             bytes, unless they are all zeros
///
/// Ranges are offsets in the page behind its checksum and LSN, which a patch never carries: the one
/// is computed when the page goes to its slot, the other is the commit's.
///
///  1. A patch of zeros makes a fresh page.
///  2. Any other applies to the version of its page just before this commit.
///  3. A move comes before the ranges: one cell put in or taken out moves the pointers behind it by
///     two bytes, which would be up to some hundred bytes of ranges.
package enum PagePatch {
  package enum Kind: UInt8, Sendable {
    case patch = 1
    case fresh = 2
    case freed = 3
  }

  /// The kind byte of a patch that begins with a move.
  package static let movingKind: UInt8 = 4

  /// Where a page's patched bytes begin.
  package static let origin = PageHeader.numberOffset

  /// Bytes of a page that are copied to another place in it before its ranges are put in; the two
  /// places may overlap.
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
    package let ranges: Bytes
  }

  /// The next frame; nil when the bytes are none.
  package static func nextFrame(_ reader: inout ByteReader) -> Frame? {
    guard let raw = reader.varint(), let number = UInt32(exactly: raw), number > 0,
      let mark = reader.byte()
    else { return nil }
    let isMoving = mark == movingKind
    guard let kind = isMoving ? .patch : Kind(rawValue: mark) else { return nil }
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
    // No page is as large as this: sums of two stay far from overflowing.
    guard let source = reader.varint(), let target = reader.varint(),
      let byteCount = reader.varint(), max(source, target, byteCount) < 1 << 20
    else { return nil }
    return Move(
      source: origin + Int(source), target: origin + Int(target), byteCount: Int(byteCount))
  }

  /// Applies a frame to the version of its page before; false when it leaves the page.
  package static func apply(_ frame: Frame, to page: MutableBytes) -> Bool {
    if let move = frame.move {
      guard max(move.source, move.target) + move.byteCount <= page.count else { return false }
      page.move(from: move.source, to: move.target, byteCount: move.byteCount)
    }
    return apply(frame.ranges, to: page)
  }

  /// Applies ranges to a page; false when one of them leaves the page.
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
