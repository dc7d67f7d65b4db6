import PageFile

/// A time in a thread, in one of its two parts: the beginning of a place.
///
/// Indexes name it instead of messages.
///
/// Messages of one moment are neighbours unless others of the same time lie between them.
package struct ThreadMoment: Hashable, Comparable, CustomStringConvertible {
  package let phase: Place.Phase
  package let time: Int64

  package static let byteCount = 9

  package init(_ place: Place) {
    phase = place.phase
    time = place.time
  }

  /// Decodes the moment at an offset of a key.
  ///
  /// Returns nil if the bytes there are not the beginning of a stored place.
  init?(_ key: Bytes, at offset: Int) {
    guard offset >= 0, key.count - offset >= Self.byteCount,
      let phase = Place.Phase(rawValue: key[offset]), phase == .acknowledged || phase == .pending
    else { return nil }
    self.phase = phase
    time = KeyEncoding.unflipped(key.bigEndian64(at: offset + 1))
  }

  /// The position before all messages of the moment.
  var firstPosition: MessagePosition {
    MessagePosition(
      phase == .pending
        ? .pending(time, localOrder: .min) : .acknowledged(time, sequence: .min), "")
  }

  /// The position behind all messages of the moment.
  var endPosition: MessagePosition {
    if time == .max { return phase == .pending ? .end : .firstPending }
    return ThreadMoment(phase: phase, time: time + 1).firstPosition
  }

  private init(phase: Place.Phase, time: Int64) {
    self.phase = phase
    self.time = time
  }

  package static func < (a: ThreadMoment, b: ThreadMoment) -> Bool {
    a.phase == b.phase ? a.time < b.time : a.phase.rawValue < b.phase.rawValue
  }

  package var description: String { phase == .pending ? "pending \(time) µs" : "\(time) µs" }

  /// A number that differs for nearly all other moments, for sums.
  package var checksum: UInt64 {
    var sum = UInt64(bitPattern: time) ^ UInt64(phase.rawValue) << 60
    sum = (sum ^ sum >> 30) &* 0xBF58_476D_1CE4_E5B9
    sum = (sum ^ sum >> 27) &* 0x94D0_49BB_1331_11EB
    return sum ^ sum >> 31
  }
}

extension ByteBuffer {
  /// Returns the key with a moment behind it.
  @inline(__always)
  consuming func appending(_ moment: ThreadMoment) -> ByteBuffer {
    var key = self
    key.append(moment.phase.rawValue)
    key.append(bigEndian: KeyEncoding.flipped(moment.time))
    return key
  }
}
