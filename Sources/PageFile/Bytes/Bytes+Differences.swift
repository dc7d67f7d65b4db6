/// Where two versions of a page differ, found a word at a time: this is most of the work of making a
/// commit. All scans return the byte count when there is nothing more to find.
extension Bytes {
  /// The first offset from `start` on at which the two differ.
  package func firstDifference(from other: Bytes, at start: Int) -> Int {
    precondition(count == other.count && start >= 0, "versions of one page have one size")
    var offset = start
    // Most of a page is as it was, so 64 bytes are looked at together until some differ.
    while offset + 64 <= count {
      let low = vectorDifference(from: other, at: offset)
      let high = vectorDifference(from: other, at: offset + 32)
      if (low | high) != .zero { break }
      offset += 64
    }
    while offset + 8 <= count {
      let difference = wordDifference(from: other, at: offset)
      if difference != 0 {
        return offset + UInt64(littleEndian: difference).trailingZeroBitCount / 8
      }
      offset += 8
    }
    while offset < count && self[offset] == other[offset] { offset += 1 }
    return offset
  }

  /// The first offset from `start` on at which the two are equal.
  package func firstEquality(with other: Bytes, at start: Int) -> Int {
    precondition(count == other.count && start >= 0, "versions of one page have one size")
    var offset = start
    while offset + 8 <= count {
      if let index = Self.firstZeroByte(wordDifference(from: other, at: offset)) {
        return offset + index
      }
      offset += 8
    }
    while offset < count && self[offset] != other[offset] { offset += 1 }
    return offset
  }

  /// The first offset from `start` on that does not hold zero.
  package func firstNonzero(at start: Int) -> Int {
    precondition(start >= 0, "bytes outside their range")
    var offset = start
    while offset + 8 <= count {
      let word = word(at: offset)
      if word != 0 { return offset + UInt64(littleEndian: word).trailingZeroBitCount / 8 }
      offset += 8
    }
    while offset < count && self[offset] == 0 { offset += 1 }
    return offset
  }

  /// The first offset in `start ..< end` at which at least `byteCount` zeros begin, else `end`.
  package func firstZeroRun(at start: Int, before end: Int, byteCount: Int) -> Int {
    var offset = firstZero(at: start, before: end)
    while offset < end {
      let stop = firstNonzero(at: offset)
      if stop - offset >= byteCount { return offset }
      offset = firstZero(at: stop, before: end)
    }
    return end
  }

  /// The first offset from `start` on that holds zero; anything from `end` on may be the answer.
  private func firstZero(at start: Int, before end: Int) -> Int {
    precondition(start >= 0 && end <= count, "bytes outside their range")
    var offset = start
    while offset + 8 <= end {
      if let index = Self.firstZeroByte(word(at: offset)) { return offset + index }
      offset += 8
    }
    while offset < end && self[offset] != 0 { offset += 1 }
    return offset
  }

  /// Eight bytes as they lie in memory.
  ///
  /// The caller keeps within the bytes.
  @inline(__always)
  private func word(at offset: Int) -> UInt64 {
    unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }

  /// The bits in which eight bytes differ.
  ///
  /// The caller keeps within both.
  @inline(__always)
  private func wordDifference(from other: Bytes, at offset: Int) -> UInt64 {
    word(at: offset) ^ other.word(at: offset)
  }

  /// The bits in which 32 bytes differ.
  ///
  /// The caller keeps within both.
  @inline(__always)
  private func vectorDifference(from other: Bytes, at offset: Int) -> SIMD4<UInt64> {
    let mine = unsafe base.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt64>.self)
    let theirs = unsafe other.base.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt64>.self)
    return mine ^ theirs
  }

  /// Which byte of a word is the first zero: subtracting one from each byte borrows into the top bit
  /// of a zero byte, and only bytes above the first zero can be wrong about it (Warren, "Hacker's
  /// Delight", 6-1).
  @inline(__always)
  private static func firstZeroByte(_ word: UInt64) -> Int? {
    let word = UInt64(littleEndian: word)
    let marks = (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    return marks == 0 ? nil : marks.trailingZeroBitCount / 8
  }
}
