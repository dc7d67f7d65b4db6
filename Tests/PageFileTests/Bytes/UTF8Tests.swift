import PageFile
import Testing

/// The validation of UTF-8 agrees with the standard library's.
struct UTF8Tests {
  private func expectSame(_ bytes: [UInt8], _ place: SourceLocation = #_sourceLocation) {
    let (isValid, byteCount) = Bytes.with(bytes) { ($0.isValidUTF8, $0.validUTF8ByteCount) }
    let expected = String(validating: bytes, as: UTF8.self) != nil
    if isValid != expected || (byteCount == bytes.count) != expected {
      Issue.record("\(bytes): \(isValid), valid bytes: \(byteCount)", sourceLocation: place)
    }
    // The beginning is valid, and no longer one is.
    guard !expected else { return }
    #expect(String(validating: bytes[..<byteCount], as: UTF8.self) != nil, sourceLocation: place)
    for end in bytes.indices.dropFirst(byteCount) {
      #expect(String(validating: bytes[...end], as: UTF8.self) == nil, sourceLocation: place)
    }
  }

  @Test func allSequencesOfTwoBytesAreJudgedAlike() {
    expectSame([])
    for first in UInt8.min...UInt8.max {
      expectSame([first])
      for second in UInt8.min...UInt8.max { expectSame([first, second]) }
    }
  }

  /// The first and last scalars of each length, the surrogates between them, overlong forms of
  /// both, and the numbers behind the last scalar.
  @Test func scalarsAtTheBordersAreJudgedAlike() {
    let borders: [UInt32] = [
      0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xE000, 0xFFFD, 0xFFFF,
      0x10000, 0xFFFFF, 0x10_0000, 0x10_FFFF, 0x11_0000, 0x13_FFFF, 0x14_0000, 0x1F_FFFF,
    ]
    for border in borders {
      for byteCount in 1...4 {
        let bytes = encoded(border, byteCount)
        expectSame(bytes)
        expectSame(Array("seven b".utf8) + bytes + Array(" and more".utf8))
        for end in 1...byteCount { expectSame(Array(bytes[..<end])) }
      }
    }
  }

  /// Random bytes of the kinds that occur in UTF-8, mostly in the order in which they may.
  @Test func randomBytesAreJudgedAlike() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var state = seed
    func next(_ bound: UInt64) -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state >> 33) % bound
    }
    for _ in 0..<20_000 {
      var bytes: [UInt8] = []
      for _ in 0...next(12) {
        switch next(4) {
        case 0: for _ in 0...next(20) { bytes.append(UInt8(next(128))) }
        case 1: bytes += encoded(UInt32(next(0x11_0000)), next(8) == 0 ? 4 : nil)
        case 2: bytes += encoded(UInt32(next(0x800)), nil)
        default: if next(8) == 0 { bytes.append(UInt8(next(256))) }
        }
      }
      let valid = Bytes.with(bytes) { $0.validUTF8ByteCount }
      let (isValid, expected) = (
        valid == bytes.count, String(validating: bytes, as: UTF8.self) != nil
      )
      #expect(isValid == expected, "seed \(seed): \(bytes)")
      #expect(String(validating: bytes[..<valid], as: UTF8.self) != nil, "seed \(seed): \(bytes)")
    }
  }

  /// A number in the form of a given length, or of the shortest one, also if UTF-8 has no such form.
  private func encoded(_ number: UInt32, _ byteCount: Int?) -> [UInt8] {
    let byteCount =
      byteCount ?? (number < 0x80 ? 1 : number < 0x800 ? 2 : number < 0x10000 ? 3 : 4)
    if byteCount == 1 { return [UInt8(truncatingIfNeeded: number)] }
    let marks: [UInt8] = [0, 0, 0xC0, 0xE0, 0xF0]
    let masks: [UInt8] = [0, 0, 0x1F, 0x0F, 0x07]
    let top = UInt8(truncatingIfNeeded: number >> UInt32(6 * (byteCount - 1)))
    return [marks[byteCount] | top & masks[byteCount]]
      + (0..<byteCount - 1).reversed().map {
        0x80 | UInt8(truncatingIfNeeded: number >> UInt32(6 * $0)) & 0x3F
      }
  }
}
