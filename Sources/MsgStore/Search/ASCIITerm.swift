import PageFile

/// A term of ASCII alone, looked for in the bytes of texts that are ASCII as well.
///
/// Two neighbouring bytes of the term that are rare in text are looked for, 32 places at a time;
/// the whole term is compared where they are.
struct ASCIITerm: Sendable, Hashable {
  let bytes: [UInt8]
  /// The index of the first of the two bytes; none of it or of what precedes it is a space.
  private let pivot: Int
  private let first: Probe
  /// nil for a term of one byte.
  private let second: Probe?
  /// The kinds of ASCII with which a text may hide the term.
  private let kinds: HiddenASCII
  /// The kinds with which it may hide the two bytes.
  private let probeKinds: HiddenASCII

  /// A byte as it may stand in a text, either as a capital or not.
  private struct Probe: Hashable {
    let byte: UInt8
    /// The bit that tells capitals apart, for a letter.
    let caseBit: UInt8
    /// Both, in each byte of 32.
    let bytes: SIMD4<UInt64>
    let caseBits: SIMD4<UInt64>

    init(_ byte: UInt8) {
      self.byte = byte
      caseBit = byte &- 0x61 < 26 ? 0x20 : 0
      bytes = SIMD4(repeating: UInt64(byte) &* 0x0101_0101_0101_0101)
      caseBits = SIMD4(repeating: UInt64(caseBit) &* 0x0101_0101_0101_0101)
    }
  }

  private static let lowBits = SIMD4<UInt64>(repeating: 0x0101_0101_0101_0101)
  private static let highBits = SIMD4<UInt64>(repeating: 0x8080_8080_8080_8080)

  /// Letters by their frequency in chat, the most frequent first; other bytes count as rare.
  private static let frequent = Array("etaoinshrludyw gmcpbfkv".utf8)

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    // Where a phrase has white space, a text may have more of it, so the pair is in the first word.
    let wordCount = bytes.firstIndex(of: 0x20) ?? bytes.count
    func rank(_ index: Int) -> Int {
      Self.frequent.firstIndex(of: bytes[index]) ?? Self.frequent.count
    }
    var pivot = 0
    if wordCount > 1 {
      for index in 0..<wordCount - 1
      where rank(index) + rank(index + 1) > rank(pivot) + rank(pivot + 1) {
        pivot = index
      }
    }
    self.pivot = pivot
    first = Probe(bytes[pivot])
    second = wordCount > 1 ? Probe(bytes[pivot + 1]) : nil
    kinds = HiddenASCII(in: bytes)
    probeKinds = HiddenASCII(in: bytes[pivot..<min(pivot + 2, wordCount)])
  }

  /// Returns true if the term occurs in a text of ASCII.
  func isFound(in text: Bytes) -> Bool { hasCandidate(in: text, isExact: true) }

  /// Returns true if the term may occur in a text within some bytes, given what they hide.
  func mayBeFound(in text: Bytes, hiding hidden: HiddenASCII) -> Bool {
    if !hidden.isDisjoint(with: probeKinds) { return true }
    return hasCandidate(in: text, isExact: hidden.isDisjoint(with: kinds))
  }

  /// Returns true if the two bytes occur in a text, or all of the term.
  ///
  /// The two bytes may stand anywhere: what precedes them may hide in fewer bytes.
  private func hasCandidate(in text: Bytes, isExact: Bool) -> Bool {
    unsafe text.withUnsafeBytes { (buffer: UnsafeRawBufferPointer) -> Bool in
      // Unsafe: every load of 32 bytes ends before `count`, and of one byte, too.
      guard let base = buffer.baseAddress else { return false }
      let distance = second == nil ? 0 : 1
      let other = second ?? first
      var offset = isExact ? pivot : 0
      let end = text.count - distance
      while offset &+ 32 <= end {
        let a = unsafe base.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt64>.self)
        let b = unsafe base.loadUnaligned(
          fromByteOffset: offset &+ distance, as: SIMD4<UInt64>.self)
        let differences =
          (a | first.caseBits) ^ first.bytes | (b | other.caseBits) ^ other.bytes
        // A byte is 0 where both are there (Mycroft's test, which may name bytes behind one, too).
        let zeros = (differences &- Self.lowBits) & ~differences & Self.highBits
        if zeros[0] | zeros[1] | zeros[2] | zeros[3] != 0 {
          for word in 0..<4 {
            var left = UInt64(littleEndian: zeros[word])
            while left != 0 {
              let place = offset &+ word &* 8 &+ left.trailingZeroBitCount / 8
              if isCandidate(text, place, isExact: isExact) { return true }
              left &= left &- 1
            }
          }
        }
        offset &+= 32
      }
      while offset < end {
        if isCandidate(text, offset, isExact: isExact) { return true }
        offset &+= 1
      }
      return false
    }
  }

  /// Returns true if the two bytes, or all of the term, are at an offset of the first of the two.
  @inline(__always)
  private func isCandidate(_ text: Bytes, _ offset: Int, isExact: Bool) -> Bool {
    guard text[offset] | first.caseBit == first.byte else { return false }
    if let second, text[offset &+ 1] | second.caseBit != second.byte { return false }
    return !isExact || isMatch(text, at: offset &- pivot)
  }

  private func isMatch(_ text: Bytes, at start: Int) -> Bool {
    var offset = start
    for byte in bytes {
      guard offset < text.count else { return false }
      if byte == 0x20 {
        guard Self.isWhiteSpace(text[offset]) else { return false }
        while offset < text.count, Self.isWhiteSpace(text[offset]) { offset += 1 }
      } else {
        let given = text[offset]
        guard (given &- 0x41 < 26 ? given | 0x20 : given) == byte else { return false }
        offset += 1
      }
    }
    return true
  }

  private static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 9...13 ~= byte }
}
