package import PageFile

/// The waiting facts of a message that is not here yet, except for facts that have cells of their
/// own.
///
/// See docs/message-format.md, F-7.
///
///     size  field
///        1  tag: 1
///        8  ordinal in the waiting tree
///        1  status
///        1  flags: 1 with a time, 2 with a sequence, 4 with traits
///        8  with flag 1: server time
///        8  with flag 2: sequence
///        n  with flag 4: traits, up to the end
package struct WaitingFacts: Hashable {
  private static let tag: UInt8 = 1

  package var ordinal: UInt64
  package var status: MessageStatus = .pending
  package var time: Int64?
  package var sequence: Int64?
  package var traits = MessageTraits()

  init(ordinal: UInt64) { self.ordinal = ordinal }

  /// Decodes a record.
  ///
  /// Returns nil if the bytes are not a valid record; never traps.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.tag, let ordinal = reader.uint64(), let code = reader.byte(),
      let status = MessageStatus(rawValue: code), let flags = reader.byte(), flags < 8
    else { return nil }
    self.ordinal = ordinal
    self.status = status
    if flags & 1 != 0 {
      guard let time = reader.uint64() else { return nil }
      self.time = Int64(bitPattern: time)
    }
    if flags & 2 != 0 {
      guard let sequence = reader.uint64() else { return nil }
      self.sequence = Int64(bitPattern: sequence)
    }
    if flags & 4 != 0 {
      guard let traits = MessageTraits(reader.rest()) else { return nil }
      self.traits = traits
    } else {
      guard reader.isAtEnd else { return nil }
    }
  }

  /// Appends the record.
  func append(to buffer: inout ByteBuffer) {
    buffer.append(Self.tag)
    buffer.append(littleEndian: ordinal)
    buffer.append(status.rawValue)
    let flags: UInt8 =
      (time == nil ? 0 : 1) | (sequence == nil ? 0 : 2) | (traits.isEmpty ? 0 : 4)
    buffer.append(flags)
    if let time { buffer.append(time: time) }
    if let sequence { buffer.append(time: sequence) }
    if !traits.isEmpty { traits.append(to: &buffer) }
  }
}
