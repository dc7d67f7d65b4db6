/// Makes the frames of a commit: finds out in which bytes pages differ from their versions before.
///
/// Where a page was edited it is compared, a word at a time; the rest of it is not looked at.
package struct PatchMaker: ~Copyable {
  /// Room for the commit's header, and the frames made so far: what is around them is put in where they
  /// are, as a second copy of a large commit would take as much memory again.
  package var commit = Self.emptyCommit()
  private var ranges = ByteBuffer(capacity: 1024)
  /// The beginning of the version before, with bytes moved as the frame will say.
  private var moved = ByteBuffer(capacity: 1024)
  /// Where the last range ends.
  private var end = PagePatch.origin

  /// Equal bytes between two ranges that cost less to repeat than to step over.
  private static let mergedGapMax = 3
  /// Zeros that are worth a range of their own.
  private static let zeroRunMin = 8
  /// Bytes that are worth a move.
  static let movedByteCountMin = 12

  /// A buffer with more room is not kept for the next commit.
  private static let keptByteCountMax = 1 << 20

  package init() {}

  private static func emptyCommit() -> ByteBuffer {
    var buffer = ByteBuffer(capacity: 4096)
    buffer.append(zeros: WALCommitHeader.byteCount)
    return buffer
  }

  /// The frames made so far.
  package var frames: Bytes { commit.bytes.dropFirst(WALCommitHeader.byteCount) }

  /// Forgets all frames.
  package mutating func removeAll() {
    if commit.room > Self.keptByteCountMax {
      commit = Self.emptyCommit()
    } else {
      commit.truncate(to: WALCommitHeader.byteCount)
    }
  }

  /// Makes room for the frames of pages of so many bytes, if these are so many that a buffer which
  /// doubles each time would take far more.
  package mutating func reserve(_ byteCount: Int) {
    if byteCount > Self.keptByteCountMax { commit.reserve(byteCount) }
  }

  // MARK: Frames

  /// Adds the frame that makes a page from zeros.
  package mutating func appendFresh(_ number: PageNumber, _ page: Bytes) {
    begin()
    var start = page.firstNonzero(at: PagePatch.origin)
    while start < page.count {
      let stop = page.firstZeroRun(at: start, before: page.count, byteCount: Self.zeroRunMin)
      append(page, start, stop)
      start = page.firstNonzero(at: stop)
    }
    finish(number, PagePatch.Kind.fresh.rawValue)
  }

  /// Adds the frame that turns `base` into `page`.
  /// - Parameter edited: Where the two may differ; nil: anywhere.
  package mutating func appendPatch(
    _ number: PageNumber, from base: Bytes, to page: Bytes, edited: EditedRanges? = nil
  ) {
    assert(
      edited.map { Self.differs(page, from: base, outside: $0) } != true,
      "a page was changed where nobody has noted it")
    begin()
    let move = Self.movedPointers(from: base, to: page)
    var compared = PagePatch.origin
    if let move {
      appendMove(move)
      // The part in which the pointers lie is compared with what the move makes of it.
      let stop = max(move.source, move.target) + move.byteCount
      moved.removeAll()
      moved.append(base.slice(0, stop))
      moved.mutableBytes.move(
        from: move.source, to: move.target, byteCount: move.byteCount)
      compare(page.slice(0, stop), with: moved.bytes, from: compared, to: stop)
      compared = stop
    }
    if let edited {
      for index in 0..<edited.count {
        let range = edited[index]
        let start = max(compared, range.lowerBound)
        if start < range.upperBound { compare(page, with: base, from: start, to: range.upperBound) }
      }
    } else {
      compare(page, with: base, from: compared, to: page.count)
    }
    finish(number, move == nil ? PagePatch.Kind.patch.rawValue : PagePatch.movingKind)
  }

  package mutating func appendFreed(_ number: PageNumber) {
    commit.append(varint: UInt64(number.rawValue))
    commit.append(PagePatch.Kind.freed.rawValue)
  }

  private mutating func begin() {
    ranges.removeAll()
    end = PagePatch.origin
  }

  private mutating func finish(_ number: PageNumber, _ kind: UInt8) {
    commit.append(varint: UInt64(number.rawValue))
    commit.append(kind)
    commit.append(varint: UInt64(ranges.count))
    commit.append(ranges.bytes)
  }

  private mutating func appendMove(_ move: PagePatch.Move) {
    ranges.append(varint: UInt64(move.source - PagePatch.origin))
    ranges.append(varint: UInt64(move.target - PagePatch.origin))
    ranges.append(varint: UInt64(move.byteCount))
  }

  private static func differs(
    _ page: Bytes, from base: Bytes, outside edited: EditedRanges
  ) -> Bool {
    var start = PagePatch.origin
    for index in 0...edited.count {
      let range = index < edited.count ? edited[index] : page.count..<page.count
      let stop = max(start, range.lowerBound)
      let (mine, theirs) = (page.slice(0, stop), base.slice(0, stop))
      if mine.firstDifference(from: theirs, at: start) < stop { return true }
      start = max(start, range.upperBound)
    }
    return false
  }

  // MARK: Ranges

  /// Adds the ranges in which two versions differ between two offsets.
  private mutating func compare(
    _ page: Bytes, with base: Bytes, from origin: Int, to limit: Int
  ) {
    let page = page.slice(0, limit)
    let base = base.slice(0, limit)
    var start = page.firstDifference(from: base, at: origin)
    while start < limit {
      var stop = page.firstEquality(with: base, at: start)
      var next = page.firstDifference(from: base, at: stop)
      while next < limit && next - stop <= Self.mergedGapMax {
        stop = page.firstEquality(with: base, at: next)
        next = page.firstDifference(from: base, at: stop)
      }
      append(page, start, stop)
      start = next
    }
  }

  /// One range, or several when zeros inside it are worth a range of their own.
  private mutating func append(_ page: Bytes, _ start: Int, _ stop: Int) {
    if stop - start < Self.zeroRunMin { return appendBytes(page, start, stop) }
    var start = start
    while start < stop {
      let zerosStart = page.firstZeroRun(at: start, before: stop, byteCount: Self.zeroRunMin)
      if zerosStart > start { appendBytes(page, start, zerosStart) }
      if zerosStart == stop { return }
      let zerosStop = min(stop, page.firstNonzero(at: zerosStart))
      ranges.append(varint: UInt64(zerosStart - end))
      ranges.append(varint: UInt64(zerosStop - zerosStart) << 1 | 1)
      end = zerosStop
      start = zerosStop
    }
  }

  private mutating func appendBytes(_ page: Bytes, _ start: Int, _ stop: Int) {
    ranges.append(varint: UInt64(start - end))
    ranges.append(varint: UInt64(stop - start) << 1)
    ranges.append(page.slice(start, stop - start))
    end = stop
  }
}
