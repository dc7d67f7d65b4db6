import PageFile
import Testing

/// Numbers come back as they were written, and no bytes at all make the reader trap or read on
/// beyond their end.
struct ByteReaderTests {
  @Test func varintsComeBack() {
    var random = SeededGenerator()
    var values: [UInt64] = [0, 1, 127, 128, 16383, 16384, .max, .max - 1, 1 << 63]
    for bits in 0..<64 { values.append(random.next() >> UInt64(bits)) }
    var buffer = ByteBuffer()
    for value in values { buffer.append(varint: value) }
    var reader = ByteReader(buffer.bytes)
    for value in values { #expect(reader.varint() == value) }
    #expect(reader.isAtEnd)
    #expect(reader.varint() == nil)
  }

  @Test func signedVarintsComeBackAndSmallOnesAreShort() {
    var random = SeededGenerator()
    var values: [Int64] = [0, 1, -1, 63, -64, 64, .min, .max]
    for bits in 0..<64 { values.append(Int64(bitPattern: random.next()) >> Int64(bits)) }
    var buffer = ByteBuffer()
    for value in values {
      let before = buffer.count
      buffer.append(signedVarint: value)
      if (-64...63).contains(value) { #expect(buffer.count - before == 1) }
    }
    var reader = ByteReader(buffer.bytes)
    for value in values { #expect(reader.signedVarint() == value) }
    #expect(reader.isAtEnd)
  }

  @Test func fixedWidthNumbersComeBackLowByteFirst() {
    var buffer = ByteBuffer()
    buffer.append(UInt8(0xAB))
    buffer.append(littleEndian: UInt16(0x0102))
    buffer.append(littleEndian: UInt32(0x0304_0506))
    buffer.append(littleEndian: UInt64(0x0708_090A_0B0C_0D0E))
    #expect(
      buffer.bytes.array() == [0xAB, 2, 1, 6, 5, 4, 3, 0xE, 0xD, 0xC, 0xB, 0xA, 9, 8, 7])
    var reader = ByteReader(buffer.bytes)
    #expect(reader.byte() == 0xAB)
    #expect(reader.uint16() == 0x0102)
    #expect(reader.uint32() == 0x0304_0506)
    #expect(reader.uint64() == 0x0708_090A_0B0C_0D0E)
    #expect(reader.isAtEnd && reader.byte() == nil)
  }

  @Test func varintsBeyond64BitsAreRefused() {
    for bytes: [UInt8] in [
      [UInt8](repeating: 0xFF, count: 9) + [2],
      [UInt8](repeating: 0x80, count: 10) + [0],
      [UInt8](repeating: 0xFF, count: 40),
    ] {
      Bytes.with(bytes) { bytes in
        var reader = ByteReader(bytes)
        #expect(reader.varint() == nil)
      }
    }
  }

  @Test func lengthsAreCappedByWhatIsLeft() {
    var buffer = ByteBuffer()
    buffer.append(varint: 3)
    buffer.append([1, 2, 3])
    buffer.append(varint: 1)
    var reader = ByteReader(buffer.bytes)
    #expect(reader.length() == 3)
    let taken = reader.take(3)
    #expect(taken?.array() == [1, 2, 3])
    #expect(reader.length() == nil)
    reader = ByteReader(buffer.bytes)
    #expect(reader.take(6) == nil && reader.take(-1) == nil && reader.take(.max) == nil)
    #expect(reader.offset == 0)
  }

  @Test func anyBytesEndInAnAnswer() {
    var random = SeededGenerator()
    for _ in 0..<1500 {
      let bytes = random.bytes(random.below(24))
      Bytes.with(bytes) { bytes in
        var reader = ByteReader(bytes, at: random.below(40) - 8)
        var before = reader.offset
        for _ in 0..<12 {
          let isRead = readSomething(&reader, &random)
          #expect(reader.offset >= before && reader.offset <= bytes.count)
          #expect(reader.remainingByteCount == bytes.count - reader.offset)
          if !isRead && reader.isAtEnd { break }
          before = reader.offset
        }
        let left = reader.remainingByteCount
        #expect(reader.rest().count == left && reader.isAtEnd)
      }
    }
  }

  private func readSomething(_ reader: inout ByteReader, _ random: inout SeededGenerator) -> Bool {
    switch random.below(8) {
    case 0: reader.byte() != nil
    case 1: reader.uint16() != nil
    case 2: reader.uint32() != nil
    case 3: reader.uint64() != nil
    case 4: reader.varint() != nil
    case 5: reader.signedVarint() != nil
    case 6: reader.length() != nil
    default: reader.take(random.below(12) - 2) != nil
    }
  }
}
