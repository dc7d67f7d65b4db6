/// The bytes of an input, read as numbers from the front.
///
/// Behind the end everything reads as zero, so that any bytes mean something and a fuzzer can cut
/// an input anywhere.
struct FuzzInput {
  private let bytes: [UInt8]
  private var offset = 0
  let tell: ((String) -> Void)?

  init(_ bytes: [UInt8], tell: ((String) -> Void)? = nil) {
    self.bytes = bytes
    self.tell = tell
  }

  /// Says what the bytes read so far mean, if anybody listens.
  func note(_ sentence: @autoclosure () -> String) { tell?(sentence()) }

  var isAtEnd: Bool { offset >= bytes.count }

  mutating func byte() -> UInt8 {
    guard offset < bytes.count else { return 0 }
    defer { offset += 1 }
    return bytes[offset]
  }

  mutating func bool() -> Bool { byte() & 1 == 1 }

  /// A number of that many bytes, low end first.
  mutating func raw(_ byteCount: Int) -> UInt64 {
    var value: UInt64 = 0
    for index in 0..<byteCount { value |= UInt64(byte()) << UInt64(8 * index) }
    return value
  }

  /// An index into something; 0 if it is empty.
  mutating func index(below count: Int) -> Int {
    let value = count <= 256 ? Int(byte()) : Int(raw(2))
    return count == 0 ? 0 : value % count
  }

  /// As many bytes as there are, at most `count`.
  mutating func take(_ count: Int) -> [UInt8] {
    let end = min(bytes.count, offset + count)
    defer { offset = max(offset, end) }
    return offset < end ? Array(bytes[offset..<end]) : []
  }

  /// Everything that is left.
  mutating func rest() -> [UInt8] { take(bytes.count) }

  /// A number as formats have them: mostly small, at times one at which arithmetic goes wrong.
  mutating func number() -> UInt64 {
    let head = byte()
    switch head {
    case 0..<200: return UInt64(head)
    case 200..<248: return Self.edges[Int(head) % Self.edges.count]
    case 248..<252: return raw(2)
    case 252..<254: return raw(4)
    default: return raw(8)
    }
  }

  private static let edges: [UInt64] = [
    0x7F, 0x80, 0xFF, 0x100, 0x1FF, 0x200, 0x3FFF, 0x4000, 0x7FFF, 0x8000, 0xFFFF, 0x1_0000,
    0x1F_FFFF, 0x20_0000, 0x1FF_FFFF, 0x200_0000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFD,
    0xFFFF_FFFE, 0xFFFF_FFFF, 0x1_0000_0000, 1 << 61, (1 << 62) - 2, (1 << 62) - 1, 1 << 62,
    (1 << 63) - 1, 1 << 63, .max - 1, .max,
  ]
}
