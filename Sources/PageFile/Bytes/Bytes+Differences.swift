/// Where two versions of a page differ, found a word at a time: this is most of the work of making a
/// commit. All scans return the byte count when there is nothing more to find.
extension Bytes {
  /// The first offset from `start` on at which the two differ.
  func firstDifference(from other: Bytes, at start: Int) -> Int {
    precondition(count == other.count && start >= 0, "versions of one page have one size")
    var offset = start
    while offset + 8 <= count {
      let mine = unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      let theirs = unsafe other.base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      let difference = mine ^ theirs
      if difference != 0 {
        return offset + UInt64(littleEndian: difference).trailingZeroBitCount / 8
      }
      offset += 8
    }
    while offset < count && self[offset] == other[offset] { offset += 1 }
    return offset
  }

  /// The first offset from `start` on at which the two are equal.
  func firstEquality(with other: Bytes, at start: Int) -> Int {
    var offset = start
    while offset < count && self[offset] != other[offset] { offset += 1 }
    return offset
  }

  /// The first offset from `start` on that does not hold zero.
  func firstNonzero(at start: Int) -> Int {
    var offset = start
    while offset + 8 <= count {
      let word = unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      if word != 0 { return offset + UInt64(littleEndian: word).trailingZeroBitCount / 8 }
      offset += 8
    }
    while offset < count && self[offset] == 0 { offset += 1 }
    return offset
  }

  /// The first offset in `start ..< end` at which at least `byteCount` zeros begin, else `end`.
  func firstZeroRun(at start: Int, before end: Int, byteCount: Int) -> Int {
    var offset = start
    while offset < end {
      if self[offset] != 0 {
        offset += 1
        continue
      }
      let stop = firstNonzero(at: offset)
      if stop - offset >= byteCount { return offset }
      offset = stop
    }
    return end
  }
}
