/// The change of one page in a commit: a frame.
///
/// See docs/page-file-format.md, W-13 … W-17 and W-23.
///
///     varint  page number; 0 for kind 5
///     byte    kind: 1 patch of the previous version, 2 patch of zeros (fresh page), 3 page freed,
///             4 patch with one move, 5 words, 6 patch with several moves
///     varint  byte count of the rest (all kinds but 3)
///     varint  kind 6: number of moves
///     moves   kinds 4 and 6, each: varint source, varint target, both from `origin`, varint byte
///             count
///     ranges  each: varint gap to the previous range, varint (byte count << 1 | zeros), then the
///             bytes, unless they are all zeros
///     words   kind 5, see `WordsFrame`
///
/// Offsets of ranges begin after the page's checksum and LSN, which a patch never carries: the
/// checksum is computed when the page is written to its slot, and the LSN is the commit's.
///
///  1. A patch of zeros makes a fresh page.
///  2. Any other patch applies to the version of its page just before this commit.
///  3. Moves come before the ranges, and each copies bytes of the version before. Inserting or
///     removing a cell moves the pointers after it by two bytes, which could take some hundred
///     bytes of ranges; rewriting a page moves its cells, which could take all of a page.
package enum PagePatch {
  package enum Kind: UInt8, Sendable {
    case patch = 1
    case fresh = 2
    case freed = 3
    /// Of no page: words that the commit changes; see `WordsFrame`.
    case words = 5
  }

  /// The kind byte of a patch that begins with a move.
  package static let movingKind: UInt8 = 4
  /// The kind byte of a patch that begins with a number of moves.
  package static let rearrangingKind: UInt8 = 6

  /// The offset at which a page's patched bytes begin.
  package static let origin = PageHeader.numberOffset

  /// A copy of bytes of the version before to another place in the page.
  ///
  /// The two places may overlap.
  struct Move {
    var source: Int
    var target: Int
    var byteCount: Int

    func append(to buffer: inout ByteBuffer) {
      buffer.append(varint: UInt64(source - origin))
      buffer.append(varint: UInt64(target - origin))
      buffer.append(varint: UInt64(byteCount))
    }
  }

  /// One frame of a commit.
  package struct Frame {
    package let number: PageNumber
    package let kind: Kind
    let moveCount: Int
    /// The moves, one behind the other.
    let moves: Bytes
    /// The ranges; for kind 5 its entries.
    package let ranges: Bytes
  }

  /// Decodes the next frame; returns nil if the bytes are not a valid frame.
  package static func nextFrame(_ reader: inout ByteReader) -> Frame? {
    guard let raw = reader.varint(), let number = UInt32(exactly: raw), let mark = reader.byte()
    else { return nil }
    let isMoving = mark == movingKind || mark == rearrangingKind
    guard let kind = isMoving ? .patch : Kind(rawValue: mark), (number == 0) == (kind == .words)
    else { return nil }
    if kind == .freed {
      return Frame(
        number: PageNumber(number), kind: kind, moveCount: 0, moves: .empty, ranges: .empty)
    }
    guard let byteCount = reader.length(), let body = reader.take(byteCount) else { return nil }
    var rest = ByteReader(body)
    guard let moveCount = moveCount(mark, &rest) else { return nil }
    let start = rest.offset
    for _ in 0..<moveCount where nextMove(&rest) == nil { return nil }
    return Frame(
      number: PageNumber(number), kind: kind, moveCount: moveCount,
      moves: body.slice(start, rest.offset - start), ranges: rest.rest())
  }

  private static func moveCount(_ mark: UInt8, _ reader: inout ByteReader) -> Int? {
    switch mark {
    case movingKind: 1
    // Each move takes at least three bytes.
    case rearrangingKind: reader.length()
    default: 0
    }
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
    guard move(frame, page) else { return false }
    return apply(frame.ranges, to: page)
  }

  /// Applies the moves of a frame; returns false if one of them exceeds the page.
  private static func move(_ frame: Frame, _ page: MutableBytes) -> Bool {
    if frame.moveCount == 0 { return true }
    if frame.moveCount == 1 { return moveAlone(frame, page) }
    // A move may overwrite the source of a later one.
    var before = ByteBuffer(capacity: page.count)
    before.append(page.readOnly)
    var reader = ByteReader(frame.moves)
    while let move = nextMove(&reader) {
      guard max(move.source, move.target) + move.byteCount <= page.count else { return false }
      page.copy(before.bytes.slice(move.source, move.byteCount), to: move.target)
    }
    return true
  }

  /// Applies the only move of a frame, without a copy of the page.
  private static func moveAlone(_ frame: Frame, _ page: MutableBytes) -> Bool {
    var reader = ByteReader(frame.moves)
    guard let move = nextMove(&reader),
      max(move.source, move.target) + move.byteCount <= page.count
    else { return false }
    page.move(from: move.source, to: move.target, byteCount: move.byteCount)
    return true
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
