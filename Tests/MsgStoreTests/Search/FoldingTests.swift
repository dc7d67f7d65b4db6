import MsgStore
import PageFile
import Simulation
import Testing

/// Folding, compared with `Scripts/folding-data --check`, which computes the same with Python's
/// `unicodedata`.
struct FoldingTests {
  /// FNV-1a over four bytes of each scalar, and of a line feed behind each text.
  private struct Checksum {
    var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ scalars: [UInt32]) {
      for scalar in scalars { add(scalar) }
      add(0x0A)
    }

    private mutating func add(_ scalar: UInt32) {
      for shift: UInt32 in [0, 8, 16, 24] {
        value = (value ^ UInt64(scalar >> shift & 0xFF)) &* 0x100_0000_01B3
      }
    }
  }

  private func checksums(_ texts: some Sequence<ByteBufferMaker>) -> (UInt64, UInt64) {
    var folded = FoldedText()
    var (strict, loose) = (Checksum(), Checksum())
    for text in texts {
      let source = text.make()
      folded.fold(source.bytes, isLoose: false)
      strict.add(folded.scalars)
      folded.fold(source.bytes, isLoose: true)
      loose.add(folded.scalars)
    }
    return (strict.value, loose.value)
  }

  private struct ByteBufferMaker {
    let text: String
    func make() -> ByteBuffer {
      var buffer = ByteBuffer()
      buffer.append(text)
      return buffer
    }
  }

  private func text(_ scalars: [UInt32]) -> ByteBufferMaker {
    var text = String.UnicodeScalarView()
    for scalar in scalars { text.append(Unicode.Scalar(scalar) ?? "\u{FFFD}") }
    return ByteBufferMaker(text: String(text))
  }

  @Test(.enabled(if: Scale.isFull, "takes 14 seconds in a debug build"))
  func eachCodePointFoldsAsInPython() {
    let codes = (UInt32(0)..<0x11_0000).lazy.filter { !(0xD800..<0xE000).contains($0) }
    let found = checksums(codes.map { text([$0]) })
    #expect(found == (0x5735_A921_6BDF_503E, 0x3BD5_51E9_B41B_E939))
  }

  /// Ranges with letters and marks that meet: the same as in the script.
  private static let areas: [(UInt32, UInt64)] = [
    (0x20, 0x5F), (0xA0, 0x160), (0x300, 0x70), (0x370, 0x90), (0x400, 0x100), (0x590, 0x170),
    (0x900, 0x80), (0x9B0, 0x30), (0xE00, 0x60), (0x1100, 0x100), (0x1E00, 0x200),
    (0x2000, 0x110), (0x20D0, 0x30), (0x3040, 0xC0), (0x3130, 0x60), (0x4E00, 0x40),
    (0xAC00, 0x80), (0xF900, 0x40), (0xFB00, 0x50), (0xFE00, 0x20), (0xFF00, 0xF0),
    (0x1D15E, 0x10), (0x1F1E6, 0x20), (0x1F3F0, 0x20),
  ]

  @Test func randomTextsFoldAsInPython() {
    var random = SeededGenerator(seed: 14)
    let texts = (0..<20_000).map { _ in
      let count = 1 + random.next() % 12
      return text(
        (0..<count).map { _ in
          let area = Self.areas[Int(random.next() % UInt64(Self.areas.count))]
          return area.0 + UInt32(random.next() % area.1)
        })
    }
    #expect(checksums(texts) == (0xCFE4_52FF_A816_117D, 0x3970_3CDF_473A_E8CE))
  }

  @Test func whatIsNotUTF8BecomesAReplacement() {
    var folded = FoldedText()
    for bytes: [UInt8] in [
      [0x80], [0xC0, 0x80], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF],
      [0xF0, 0x80, 0x80, 0x80], [0xC3],
    ] {
      Bytes.with(bytes) { folded.fold($0, isLoose: true) }
      #expect(folded.scalars == Array(repeating: 0xFFFD, count: bytes.count))
    }
  }
}
