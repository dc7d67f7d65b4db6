package import PageFile

/// Keys whose order as plain bytes is the order of the values that they stand for.
///
/// See docs/message-format.md, K-1 … K-6.
///
///     number    4 bytes, big-endian
///     time      8 bytes, big-endian, the sign bit flipped; sequences and local orders likewise
///     place     0x00                               before all messages; never stored
///               0x01 time 0x01 sequence            acknowledged
///               0x01 time 0x02                     acknowledged, without a sequence
///               0x02 time local order              pending
///               0xFF                               after all messages; never stored
///     position  place, then the bytes of the id up to the end of the key
///
/// The longest key is that of a message: 4 + 18 + 255 bytes of the 512 allowed.
package enum KeyEncoding {
  package static let hasSequence: UInt8 = 1
  package static let hasNoSequence: UInt8 = 2
  package static let numberByteCount = 4
  /// The offset of the time in the key of a message.
  package static let timeOffset = 5

  /// Returns a prefix of keys that is only a byte.
  package static func prefix(_ byte: UInt8) -> ByteBuffer { ByteBuffer().appending(byte) }

  /// Returns a key that is only a number.
  package static func key(_ number: UInt32) -> ByteBuffer { ByteBuffer().appending(number) }

  /// Returns the key of a message, or of a place between messages.
  package static func key(_ conversation: UInt32, _ position: MessagePosition) -> ByteBuffer {
    key(conversation).appending(position)
  }

  /// Returns the key of a name in a conversation.
  package static func key(_ conversation: UInt32, _ id: MessageID) -> ByteBuffer {
    key(conversation).appending(id)
  }

  /// Returns the key of a name.
  package static func key(_ name: String) -> ByteBuffer { ByteBuffer().appending(name) }

  /// The units of packed times, in microseconds.
  package static let timeUnits: [Int64] = [1, 1000, 1_000_000, 60_000_000]

  /// Returns a signed number as bits that sort as the number does.
  package static func flipped(_ value: Int64) -> UInt64 { UInt64(bitPattern: value) ^ (1 << 63) }
  package static func unflipped(_ bits: UInt64) -> Int64 { Int64(bitPattern: bits ^ (1 << 63)) }
}

/// Keys of several parts.
extension ByteBuffer {
  /// Returns the key with a number behind it, big-endian.
  @inline(__always)
  package consuming func appending<T: FixedWidthInteger>(_ number: T) -> ByteBuffer {
    var key = self
    switch T.bitWidth {
    case 8: key.append(UInt8(truncatingIfNeeded: number))
    case 32: key.append(bigEndian: UInt32(truncatingIfNeeded: number))
    default: key.append(bigEndian: UInt64(truncatingIfNeeded: number))
    }
    return key
  }

  /// Returns the key with a name behind it.
  @inline(__always)
  package consuming func appending(_ name: some FieldBytes) -> ByteBuffer {
    var key = self
    name.append(field: &key)
    return key
  }

  @inline(__always)
  package consuming func appending(_ bytes: Bytes) -> ByteBuffer {
    var key = self
    key.append(bytes)
    return key
  }
}

extension ByteBuffer {
  package mutating func append(_ place: Place) {
    append(place.phase.rawValue)
    switch place.phase {
    case .start, .end:
      break
    case .acknowledged:
      append(bigEndian: KeyEncoding.flipped(place.time))
      append(place.hasRank ? KeyEncoding.hasSequence : KeyEncoding.hasNoSequence)
      if place.hasRank { append(bigEndian: KeyEncoding.flipped(place.rank)) }
    case .pending:
      append(bigEndian: KeyEncoding.flipped(place.time))
      append(bigEndian: KeyEncoding.flipped(place.rank))
    }
  }

  package mutating func append(_ position: MessagePosition) {
    append(position.place)
    append(position.id)
  }
}

extension Bytes {
  /// Returns four bytes as a big-endian number, or nil if there are fewer.
  @inline(__always)
  package func bigEndianNumber(at offset: Int) -> UInt32? {
    guard offset >= 0, offset <= count - 4 else { return nil }
    return uint32(at: offset).byteSwapped
  }

  /// Decodes the place of a message at an offset.
  ///
  /// Returns the place and its byte count, or nil if the bytes there are not a valid place.
  @inline(__always)
  package func place(at offset: Int) -> (place: Place, byteCount: Int)? {
    guard offset >= 0, count - offset >= 10 else { return nil }
    let time = KeyEncoding.unflipped(bigEndian64(at: offset + 1))
    switch (self[offset], self[offset + 9]) {
    case (Place.Phase.acknowledged.rawValue, KeyEncoding.hasSequence):
      guard count - offset >= 18 else { return nil }
      let sequence = KeyEncoding.unflipped(bigEndian64(at: offset + 10))
      return (.acknowledged(time, sequence: sequence), 18)
    case (Place.Phase.acknowledged.rawValue, KeyEncoding.hasNoSequence):
      return (.acknowledged(time, sequence: nil), 10)
    case (Place.Phase.pending.rawValue, _):
      guard count - offset >= 17 else { return nil }
      let order = KeyEncoding.unflipped(bigEndian64(at: offset + 9))
      return (.pending(time, localOrder: order), 17)
    default:
      return nil
    }
  }

  /// The position that these bytes encode, or nil if they are not a valid position.
  package var position: MessagePosition? {
    guard let (place, byteCount) = place(at: 0) else { return nil }
    let id = dropFirst(byteCount)
    guard (1...Identifier.maximumByteCount).contains(id.count), id.isText else { return nil }
    return MessagePosition(place, MessageID(id))
  }
}

extension CellKey {
  /// The number at the start of the key, or nil if the key is too short.
  @inline(__always)
  var number: UInt32? {
    if head.count >= 4 { return head.bigEndianNumber(at: 0) }
    guard byteCount >= 4 else { return nil }
    let bits =
      head.bigEndianHead(at: 0, byteCount: head.count)
      | tail.bigEndianHead(at: 0, byteCount: 4 &- head.count) &>> UInt64(head.count &* 8)
    return UInt32(truncatingIfNeeded: bits &>> 32)
  }

  /// The place in the key of a message, and the number of bytes before the name.
  ///
  /// nil if the key has no valid place.
  @inline(__always)
  var messagePlace: (place: Place, byteCount: Int)? {
    // The number (4), the phase (1), the time (8), and a byte that says what follows.
    guard byteCount >= 14 else { return nil }
    let head = bigEndian64(at: 0)
    let time = KeyEncoding.unflipped(bigEndian64(at: 5))
    let rest = bigEndian64(at: 6) & 0xFF
    switch (UInt8(truncatingIfNeeded: head &>> 24), UInt8(truncatingIfNeeded: rest)) {
    case (Place.Phase.acknowledged.rawValue, KeyEncoding.hasSequence):
      guard byteCount >= 22 else { return nil }
      let sequence = KeyEncoding.unflipped(bigEndian64(at: 14))
      return (.acknowledged(time, sequence: sequence), 22)
    case (Place.Phase.acknowledged.rawValue, KeyEncoding.hasNoSequence):
      return (.acknowledged(time, sequence: nil), 14)
    case (Place.Phase.pending.rawValue, _):
      guard byteCount >= 21 else { return nil }
      let order = KeyEncoding.unflipped(bigEndian64(at: 13))
      return (.pending(time, localOrder: order), 21)
    default:
      return nil
    }
  }
}
