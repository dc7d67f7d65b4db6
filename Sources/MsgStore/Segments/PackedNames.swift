import PageFile

/// The names of a segment's messages, in as few bytes as give them back exactly.
///
///     kind  size      field
///        0  …         for each name but the first: how many bytes it shares with the one before and
///                     how many follow, four bits each, 15 standing for a byte that follows; the
///                     bytes that follow
///        …  1         how many packed bytes all names share
///           …         for each name but the first: the packed bytes that follow those
///
/// Push ids are twenty characters of six bits, UUIDs sixteen bytes as digits of either case.
enum NameKind: UInt8 {
  case text
  case pushID
  case uuid
  case upperUUID

  /// The kind that all names are of which are of the kind of this one.
  init(_ name: Bytes) {
    switch name.count {
    case PushIDBytes.textByteCount: self = .pushID
    case UUIDBytes.textByteCount: self = UUIDBytes.hasUpperCase(name) ? .upperUUID : .uuid
    default: self = .text
    }
  }

  /// How many bytes a name takes packed.
  var packedByteCount: Int { self == .pushID ? 15 : 16 }

  /// Adds the packed form of a name; false, and some bytes of no use added, when it is no name of
  /// this kind.
  func pack(_ name: Bytes, to buffer: inout ByteBuffer) -> Bool {
    switch self {
    case .text: false
    case .pushID: PushIDBytes.pack(name, to: &buffer)
    case .uuid: UUIDBytes.pack(name, isUpper: false, to: &buffer)
    case .upperUUID: UUIDBytes.pack(name, isUpper: true, to: &buffer)
    }
  }

  /// Adds the name of a packed form, whose length is checked.
  func unpack(_ packed: Bytes, to buffer: inout ByteBuffer) {
    switch self {
    case .text: break
    case .pushID: PushIDBytes.unpack(packed, to: &buffer)
    case .uuid: UUIDBytes.unpack(packed, isUpper: false, to: &buffer)
    case .upperUUID: UUIDBytes.unpack(packed, isUpper: true, to: &buffer)
    }
  }
}

/// Ids of twenty characters out of `-0…9A…Z_a…z`, which sort as the 120 bits that they stand for.
enum PushIDBytes {
  static let textByteCount = 20

  static func pack(_ name: Bytes, to buffer: inout ByteBuffer) -> Bool {
    guard name.count == textByteCount else { return false }
    var offset = 0
    while offset < textByteCount {
      var bits: UInt32 = 0
      for index in offset..<offset + 4 {
        guard let digit = digit(name[index]) else { return false }
        bits = bits << 6 | UInt32(digit)
      }
      buffer.append(UInt8(truncatingIfNeeded: bits >> 16))
      buffer.append(UInt8(truncatingIfNeeded: bits >> 8))
      buffer.append(UInt8(truncatingIfNeeded: bits))
      offset += 4
    }
    return true
  }

  private static func digit(_ character: UInt8) -> UInt8? {
    switch character {
    case 45: 0
    case 48...57: character - 47
    case 65...90: character - 54
    case 95: 37
    case 97...122: character - 59
    default: nil
    }
  }

  static func unpack(_ packed: Bytes, to buffer: inout ByteBuffer) {
    buffer.append(bigEndian: characters(of: packed.bigEndianHead(at: 0, byteCount: 6) >> 16))
    buffer.append(bigEndian: characters(of: packed.bigEndianHead(at: 6, byteCount: 6) >> 16))
    let last = characters(of: packed.bigEndianHead(at: 12, byteCount: 3) >> 16)
    buffer.append(bigEndian: UInt32(last >> 32))
  }

  /// The eight characters of 48 bits, all at once.
  private static func characters(of bits: UInt64) -> UInt64 {
    // Each step moves the upper half of every group up, until each digit has a byte of its own.
    var spread = (bits & 0xFFFF_FF00_0000) << 8 | bits & 0x00FF_FFFF
    spread = (spread & 0x00FF_F000_00FF_F000) << 4 | spread & 0x0000_0FFF_0000_0FFF
    spread = (spread & 0x0FC0_0FC0_0FC0_0FC0) << 2 | spread & 0x003F_003F_003F_003F
    // No digit is above 63, so adding 127 less a bound sets a byte's high bit where it is above.
    func above(_ bound: UInt64) -> UInt64 {
      ((spread &+ (127 - bound) &* ones) >> 7) & ones
    }
    return spread &+ 45 &* ones &+ 2 &* above(0) &+ 7 &* above(10) &+ 4 &* above(36) &+ above(37)
  }

  private static let ones: UInt64 = 0x0101_0101_0101_0101
}

/// UUIDs as `8-4-4-4-12` hexadecimal digits of one case.
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

  static func unpack(_ packed: Bytes, isUpper: Bool, to buffer: inout ByteBuffer) {
    let gap: UInt8 = isUpper ? 7 : 39
    var offset = 0
    for group in groups {
      if offset > 0 { buffer.append(UInt8(ascii: "-")) }
      for _ in 0..<group / 2 {
        for digit in [packed[offset] >> 4, packed[offset] & 15] {
          buffer.append(digit + 48 + (digit > 9 ? gap : 0))
        }
        offset += 1
      }
    }
  }
}
