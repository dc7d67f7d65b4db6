/// Scans that compare two versions of a page a word at a time: most of the work of making a commit.
/// Every scan returns the byte count if it finds nothing.
extension Bytes {
  /// Returns the first offset at or after `start` where the two differ.
  package func firstDifference(from other: Bytes, at start: Int) -> Int {
    precondition(count == other.count && start >= 0, "page versions: sizes differ")
    var offset = start
    // Most of a page is unchanged, so compare 64 bytes at a time until some differ.
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

  /// Returns the first offset at or after `start` where the two are equal.
  package func firstEquality(with other: Bytes, at start: Int) -> Int {
    precondition(count == other.count && start >= 0, "page versions: sizes differ")
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

  /// Returns the first offset at or after `start` that holds a nonzero byte.
  package func firstNonzero(at start: Int) -> Int {
    precondition(start >= 0, "bytes: range out of bounds")
    var offset = start
    while offset + 32 <= count, isZeroVector(at: offset) { offset += 32 }
    while offset + 8 <= count {
      let word = word(at: offset)
      if word != 0 { return offset + UInt64(littleEndian: word).trailingZeroBitCount / 8 }
      offset += 8
    }
    while offset < count && self[offset] == 0 { offset += 1 }
    return offset
  }

  /// Returns the first offset in `start ..< end` where a run of at least `byteCount` zeros begins,
  /// or `end` if there is no such run.
  package func firstZeroRun(at start: Int, before end: Int, byteCount: Int) -> Int {
    var offset = firstZero(at: start, before: end)
    while offset < end {
      let stop = firstNonzero(at: offset)
      if stop - offset >= byteCount { return offset }
      offset = firstZero(at: stop, before: end)
    }
    return end
  }

  /// Returns the first offset at or after `start` that holds zero.
  ///
  /// Returns any offset at or above `end` if there is no zero before `end`.
  private func firstZero(at start: Int, before end: Int) -> Int {
    precondition(start >= 0 && end <= count, "bytes: range out of bounds")
    var offset = start
    while offset + 8 <= end {
      if let index = Self.firstZeroByte(word(at: offset)) { return offset + index }
      offset += 8
    }
    while offset < end && self[offset] != 0 { offset += 1 }
    return offset
  }

  /// Loads eight bytes in memory order.
  ///
  /// Unchecked: the caller stays within bounds.
  @inline(__always)
  private func word(at offset: Int) -> UInt64 {
    unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }

  /// Returns the bits in which eight bytes differ.
  ///
  /// Unchecked: the caller stays within bounds of both.
  @inline(__always)
  private func wordDifference(from other: Bytes, at offset: Int) -> UInt64 {
    word(at: offset) ^ other.word(at: offset)
  }

  /// Returns the bits in which 32 bytes differ.
  ///
  /// Unchecked: the caller stays within bounds of both.
  @inline(__always)
  private func vectorDifference(from other: Bytes, at offset: Int) -> SIMD4<UInt64> {
    let mine = unsafe base.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt64>.self)
    let theirs = unsafe other.base.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt64>.self)
    return mine ^ theirs
  }

  /// Returns true if 32 bytes are zeros.
  ///
  /// Unchecked: the caller stays within bounds.
  @inline(__always)
  private func isZeroVector(at offset: Int) -> Bool {
    let vector = unsafe base.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt64>.self)
    return vector == .zero
  }

  /// Returns the index of the first zero byte of a word.
  ///
  /// Subtracting one from each byte borrows into the top bit of a zero byte. Only bytes above the
  /// first zero can be marked wrongly (Warren, "Hacker's Delight", 6-1).
  @inline(__always)
  private static func firstZeroByte(_ word: UInt64) -> Int? {
    let word = UInt64(littleEndian: word)
    let marks = (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    return marks == 0 ? nil : marks.trailingZeroBitCount / 8
  }
}
