import PageFile

/// The encoding of the names of a segment's messages, which restores them exactly.
///
/// See docs/message-format.md, M-5 and M-6.
///
///     kind  size      field
///        0  …         for each name but the first: the number of bytes that it shares with the
///                     previous one and the number that follow, four bits each, 15 standing for a
///                     byte that follows; the bytes that follow
///        …  1         number of packed bytes that all names share
///           …         for each name but the first: the packed bytes that follow those
///
/// Push ids are twenty characters of six bits. UUIDs are sixteen bytes as digits of either case.
enum NameKind: UInt8 {
  case text
  case pushID
  case uuid
  case upperUUID

  /// Creates the kind that all names must have if they have the kind of this one.
  init(_ name: Bytes) {
    switch name.count {
    case PushIDBytes.textByteCount: self = .pushID
    case UUIDBytes.textByteCount: self = UUIDBytes.hasUpperCase(name) ? .upperUUID : .uuid
    default: self = .text
    }
  }

  /// The byte count of a packed name.
  var packedByteCount: Int { self == .pushID ? 15 : 16 }

  /// Appends the packed form of a name.
  ///
  /// Returns false if the name is not of this kind; the buffer may then have extra bytes, which are
  /// of no use.
  func pack(_ name: Bytes, to buffer: inout ByteBuffer) -> Bool {
    switch self {
    case .text: false
    case .pushID: PushIDBytes.pack(name, to: &buffer)
    case .uuid: UUIDBytes.pack(name, isUpper: false, to: &buffer)
    case .upperUUID: UUIDBytes.pack(name, isUpper: true, to: &buffer)
    }
  }
}

/// Packs ids of twenty characters out of `-0…9A…Z_a…z`, which sort as the 120 bits that they
/// encode.
enum PushIDBytes {
  static let textByteCount = 20

  static func pack(_ name: Bytes, to buffer: inout ByteBuffer) -> Bool {
    guard name.count == textByteCount, let head = digits(of: name.bigEndian64(at: 0)),
      let middle = digits(of: name.bigEndian64(at: 8)),
      // The last four characters, after four that stand for zero bits.
      let tail = digits(of: UInt64(name.uint32(at: 16).byteSwapped) | zeros << 32)
    else { return false }
    buffer.append(bigEndian: head << 16 | middle >> 32)
    buffer.append(bigEndian: UInt32(truncatingIfNeeded: middle))
    buffer.append(UInt8(truncatingIfNeeded: tail >> 16))
    buffer.append(UInt8(truncatingIfNeeded: tail >> 8))
    buffer.append(UInt8(truncatingIfNeeded: tail))
    return true
  }

  /// Four characters that stand for zero.
  private static let zeros: UInt64 = 0x2D2D_2D2D

  /// Returns the 48 bits of eight characters, or nil unless encoding these bits restores the
  /// characters.
  private static func digits(of characters: UInt64) -> UInt64? {
    let text = characters & 0x7F7F_7F7F_7F7F_7F7F
    func atLeast(_ bound: UInt64) -> UInt64 { ((text &+ (128 - bound) &* ones) >> 7) & ones }
    var bits =
      text &- 45 &* ones &- 2 &* atLeast(48) &- 7 &* atLeast(65) &- 4 &* atLeast(95)
      &- atLeast(97)
    bits = (bits & 0x3F00_3F00_3F00_3F00) >> 2 | bits & 0x003F_003F_003F_003F
    bits = (bits & 0x0FFF_0000_0FFF_0000) >> 4 | bits & 0x0000_0FFF_0000_0FFF
    bits = (bits & 0x00FF_FFFF_0000_0000) >> 8 | bits & 0x00FF_FFFF
    return self.characters(of: bits) == characters ? bits : nil
  }

  /// Appends the name of 120 bits, of which `high` has the upper 56.
  @inline(__always)
  static func append(_ high: UInt64, _ low: UInt64, to buffer: inout ByteBuffer) {
    buffer.reserve(textByteCount)
    buffer.append(bigEndian: characters(of: high >> 8))
    buffer.append(bigEndian: characters(of: (high & 0xFF) << 40 | low >> 24))
    let last = characters(of: (low & 0xFF_FFFF) << 24)
    buffer.append(bigEndian: UInt32(truncatingIfNeeded: last >> 32))
  }

  /// Returns the eight characters of 48 bits, computed together.
  @inline(__always)
  private static func characters(of bits: UInt64) -> UInt64 {
    // Each step moves the upper half of every group up, until each digit has its own byte.
    var spread = (bits & 0xFFFF_FF00_0000) << 8 | bits & 0x00FF_FFFF
    spread = (spread & 0x00FF_F000_00FF_F000) << 4 | spread & 0x0000_0FFF_0000_0FFF
    spread = (spread & 0x0FC0_0FC0_0FC0_0FC0) << 2 | spread & 0x003F_003F_003F_003F
    // No digit is above 63, so adding 127 minus a bound sets the high bit of each byte above the
    // bound.
    func above(_ bound: UInt64) -> UInt64 {
      ((spread &+ (127 - bound) &* ones) >> 7) & ones
    }
    return spread &+ 45 &* ones &+ 2 &* above(0) &+ 7 &* above(10) &+ 4 &* above(36) &+ above(37)
  }

  private static let ones: UInt64 = 0x0101_0101_0101_0101
}

/// Packs UUIDs, written as `8-4-4-4-12` hexadecimal digits of one case.
enum UUIDBytes {
  static let textByteCount = 36
  private static let groups = [8, 4, 4, 4, 12]

  static func hasUpperCase(_ name: Bytes) -> Bool {
    for index in 0..<name.count where (65...70).contains(name[index]) { return true }
    return false
  }

  static func pack(_ name: Bytes, isUpper: Bool, to buffer: inout ByteBuffer) -> Bool {
    guard name.count == textByteCount else { return false }
    var offset = 0
    for group in groups {
      if offset > 0 {
        guard name[offset] == UInt8(ascii: "-") else { return false }
        offset += 1
      }
      for _ in 0..<group / 2 {
        guard let high = digit(name[offset], isUpper), let low = digit(name[offset + 1], isUpper)
        else { return false }
        buffer.append(high << 4 | low)
        offset += 2
      }
    }
    return true
  }

  private static func digit(_ character: UInt8, _ isUpper: Bool) -> UInt8? {
    let a: UInt8 = isUpper ? 65 : 97
    return switch character {
    case 48...57: character - 48
    case a...a + 5: character - a + 10
    default: nil
    }
  }

  /// Appends the name of 128 bits.
  static func append(_ high: UInt64, _ low: UInt64, isUpper: Bool, to buffer: inout ByteBuffer) {
    let hyphen = UInt8(ascii: "-")
    let groups = characters(of: UInt32(truncatingIfNeeded: high), isUpper)
    let others = characters(of: UInt32(truncatingIfNeeded: low >> 32), isUpper)
    buffer.reserve(textByteCount)
    buffer.append(bigEndian: characters(of: UInt32(truncatingIfNeeded: high >> 32), isUpper))
    buffer.append(hyphen)
    buffer.append(bigEndian: UInt32(truncatingIfNeeded: groups >> 32))
    buffer.append(hyphen)
    buffer.append(bigEndian: UInt32(truncatingIfNeeded: groups))
    buffer.append(hyphen)
    buffer.append(bigEndian: UInt32(truncatingIfNeeded: others >> 32))
    buffer.append(hyphen)
    buffer.append(bigEndian: UInt32(truncatingIfNeeded: others))
    buffer.append(bigEndian: characters(of: UInt32(truncatingIfNeeded: low), isUpper))
  }

  /// Returns the eight digits of 32 bits, computed together.
  private static func characters(of bits: UInt32, _ isUpper: Bool) -> UInt64 {
    var spread = UInt64(bits)
    spread = (spread << 16 | spread) & 0x0000_FFFF_0000_FFFF
    spread = (spread << 8 | spread) & 0x00FF_00FF_00FF_00FF
    spread = (spread << 4 | spread) & 0x0F0F_0F0F_0F0F_0F0F
    let letters = ((spread &+ 118 &* ones) >> 7) & ones
    return spread &+ 48 &* ones &+ (isUpper ? 7 : 39) &* letters
  }

  private static let ones: UInt64 = 0x0101_0101_0101_0101
}
