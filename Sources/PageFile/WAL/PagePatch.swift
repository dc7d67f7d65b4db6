/// What a commit says of one page: a frame.
///
/// See docs/page-file-format.md, W-13 … W-17.
///
///     varint  page number
///     byte    kind: 1 patch of the version before, 2 patch of zeros (a fresh page), 3 page freed
///     varint  byte count of the ranges (kinds 1 and 2)
///     ranges  each: varint gap to the range before, varint (byte count << 1 | zeros), then the
///             bytes, unless they are all zeros
///
/// Ranges are offsets in the page behind its checksum and LSN, which a patch never carries: the one
/// is computed when the page goes to its slot, the other is the commit's.
///
///  1. A patch of zeros makes a fresh page.
///  2. Any other applies to the version of its page just before this commit.
package enum PagePatch {
  package enum Kind: UInt8, Sendable {
    case patch = 1
    case fresh = 2
    case freed = 3
  }

  /// Where a page's patched bytes begin.
  package static let origin = PageHeader.numberOffset
  /// Equal bytes between two ranges that cost less to repeat than to step over.
  private static let mergedGapMax = 3
  /// Zeros that are worth a range of their own.
  private static let zeroRunMin = 8

  /// Adds the frame that turns `base` (nil: zeros) into `page`.
  package static func append(
    _ number: PageNumber, from base: Bytes?, to page: Bytes, ranges: inout ByteBuffer,
    frames: inout ByteBuffer
  ) {
    ranges.removeAll()
    if let base {
      appendRanges(from: base, to: page, &ranges)
    } else {
      appendNonzeroRanges(of: page, &ranges)
    }
    frames.append(varint: UInt64(number.rawValue))
    frames.append((base == nil ? Kind.fresh : .patch).rawValue)
    frames.append(varint: UInt64(ranges.count))
    frames.append(ranges.bytes)
  }

  package static func appendFreed(_ number: PageNumber, frames: inout ByteBuffer) {
    frames.append(varint: UInt64(number.rawValue))
    frames.append(Kind.freed.rawValue)
  }

  private static func appendRanges(from base: Bytes, to page: Bytes, _ ranges: inout ByteBuffer) {
    var end = origin
    var start = page.firstDifference(from: base, at: origin)
    while start < page.count {
      var stop = page.firstEquality(with: base, at: start)
      var next = page.firstDifference(from: base, at: stop)
      while next < page.count && next - stop <= mergedGapMax {
        stop = page.firstEquality(with: base, at: next)
        next = page.firstDifference(from: base, at: stop)
      }
      append(page, start, stop, after: end, &ranges)
      end = stop
      start = next
    }
  }

  private static func appendNonzeroRanges(of page: Bytes, _ ranges: inout ByteBuffer) {
    var end = origin
    var start = page.firstNonzero(at: origin)
    while start < page.count {
      let stop = page.firstZeroRun(at: start, before: page.count, byteCount: zeroRunMin)
      append(page, start, stop, after: end, &ranges)
      end = stop
      start = page.firstNonzero(at: stop)
    }
  }

  /// One range, or several when zeros inside it are worth a range of their own.
  private static func append(
    _ page: Bytes, _ start: Int, _ stop: Int, after end: Int, _ ranges: inout ByteBuffer
  ) {
    var end = end
    var start = start
    while start < stop {
      let zerosStart = page.firstZeroRun(at: start, before: stop, byteCount: zeroRunMin)
      if zerosStart > start {
        ranges.append(varint: UInt64(start - end))
        ranges.append(varint: UInt64(zerosStart - start) << 1)
        ranges.append(page.slice(start, zerosStart - start))
        end = zerosStart
      }
      let zerosStop = min(stop, page.firstNonzero(at: zerosStart))
      if zerosStop > zerosStart {
        ranges.append(varint: UInt64(zerosStart - end))
        ranges.append(varint: UInt64(zerosStop - zerosStart) << 1 | 1)
        end = zerosStop
      }
      start = zerosStop
    }
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

  /// One frame of a commit.
  package struct Frame {
    package let number: PageNumber
    package let kind: Kind
    package let ranges: Bytes
  }

  /// The next frame; nil when the bytes are none.
  package static func nextFrame(_ reader: inout ByteReader) -> Frame? {
    guard let raw = reader.varint(), let number = UInt32(exactly: raw), number > 0,
      let kind = reader.byte().flatMap(Kind.init)
    else { return nil }
    if kind == .freed { return Frame(number: PageNumber(number), kind: kind, ranges: .empty) }
    guard let byteCount = reader.length(), let ranges = reader.take(byteCount) else { return nil }
    return Frame(number: PageNumber(number), kind: kind, ranges: ranges)
  }
}
