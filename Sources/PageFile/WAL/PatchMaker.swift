/// A maker of a commit's frames, which finds the bytes in which pages differ from their previous
/// versions.
///
/// The edited ranges of a page are compared a word at a time; the rest is not read.
package struct PatchMaker: ~Copyable {
  /// Room for the commit's header, then the frames made so far.
  ///
  /// Header and trailer are added in place, because a second copy of a large commit would double
  /// its memory.
  package internal(set) var commit: ByteBuffer
  private let framesOffset: Int
  private var ranges = ByteBuffer(capacity: 1024)
  /// The previous version, or its start, with the frame's moves applied.
  var moved = ByteBuffer(capacity: 1024)
  /// The moves of a rewritten page.
  var moves = ByteBuffer(capacity: 256)
  /// The offset at which the last range ends.
  private var end = PagePatch.origin

  /// The longest gap of equal bytes between two ranges that is cheaper to repeat than to skip.
  private static let maximumMergedGap = 3
  /// The shortest run of zeros that is worth a range of its own.
  private static let zeroRunMin = 8
  /// The shortest run of bytes that is worth a move.
  static let movedByteCountMin = 12

  /// The largest buffer that is kept for the next commit.
  private static let maximumKeptByteCount = 1 << 20

  /// - Parameter framesOffset: The room for the commit's header; see `LogForm`.
  package init(framesOffset: Int = WALCommitHeader.byteCount) {
    self.framesOffset = framesOffset
    commit = Self.emptyCommit(framesOffset)
  }

  private static func emptyCommit(_ framesOffset: Int) -> ByteBuffer {
    var buffer = ByteBuffer(capacity: 4096)
    buffer.append(zeros: framesOffset)
    return buffer
  }

  /// The frames made so far.
  package var frames: Bytes { commit.bytes.dropFirst(framesOffset) }

  /// Removes all frames.
  package mutating func removeAll() {
    if commit.room > Self.maximumKeptByteCount {
      commit = Self.emptyCommit(framesOffset)
    } else {
      commit.truncate(to: framesOffset)
    }
  }

  /// Makes room for the frames of pages of that many bytes, if they are so large that a buffer that
  /// doubles each time would take far more memory.
  package mutating func reserve(_ byteCount: Int) {
    if byteCount > Self.maximumKeptByteCount { commit.reserve(byteCount) }
  }

  // MARK: Frames

  /// Appends the frame that makes a page from zeros.
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

  /// Appends the frame that turns `base` into `page`.
  /// - Parameter edited: The ranges in which the two may differ; nil for all of the page.
  package mutating func appendPatch(
    _ number: PageNumber, from base: Bytes, to page: Bytes, edited: EditedRanges? = nil
  ) {
    assert(
      edited.map { Self.differs(page, from: base, outside: $0) } != true,
      "page: changed outside its edited ranges")
    begin()
    if edited?.coversAll(pageByteCount: page.count) ?? false,
      case let count = moveCells(from: base, to: page), count > 0
    {
      ranges.append(varint: UInt64(count))
      ranges.append(moves.bytes)
      compare(page, with: moved.bytes, from: PagePatch.origin, to: page.count)
      return finish(number, PagePatch.rearrangingKind)
    }
    let move = Self.movedPointers(from: base, to: page)
    var compared = PagePatch.origin
    if let move {
      move.append(to: &ranges)
      // Compare the part with the pointers to the result of the move.
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

  /// Appends the frame of the words that a commit changes.
  package mutating func appendWords(from old: Words, to new: Words) {
    WordsFrame.append(from: old, to: new, to: &commit)
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

  /// Appends the ranges in which two versions differ between two offsets.
  @inline(never)
  private mutating func compare(
    _ page: Bytes, with base: Bytes, from origin: Int, to limit: Int
  ) {
    let page = page.slice(0, limit)
    let base = base.slice(0, limit)
    var start = page.firstDifference(from: base, at: origin)
    while start < limit {
      var stop = page.firstEquality(with: base, at: start)
      var next = page.firstDifference(from: base, at: stop)
      while next < limit && next - stop <= Self.maximumMergedGap {
        stop = page.firstEquality(with: base, at: next)
        next = page.firstDifference(from: base, at: stop)
      }
      append(page, start, stop)
      start = next
    }
  }

  /// Appends one range, or several if it has zeros that are worth ranges of their own.
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
