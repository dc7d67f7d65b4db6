package import PageFile

/// A message as the messages tree stores it, without the fields in its key.
///
/// See docs/message-format.md, E-1 … E-10. Read and written by hand: all reading of messages goes
/// through it.
///
///     offset  size    field
///          0     1    tag: 1; 2 is kept for segments
///          1     1    flags
///          2     1    status
///          3     1–5  number of the sender, varint
///          …     1–10 with flag 1: local time minus server time, signed varint
///          …     1–10 with flag 2: sequence of a pending message, signed varint
///          …     1+n  with flag 4: id of the message that it answers, its byte count first
///          …     1–10 with flag 8: mark ordinal, varint
///          …     1–3  with flag 16: byte count of the text, varint
///          …     1+n  with flag 64: byte count of the traits, varint, and the traits
///          …          text up to the end; with flag 16 one LZ4 block
///
/// Flag 32 says that the message came as history; flag 128 that it was composed here and the
/// server's copy has not come.
///  1. A pending message has its local time in its key, and its sequence only here. An acknowledged
///     one has its sequence in its key. The difference of times wraps, so any two times can be
///     stored.
///  2. The mark ordinal is the conversation's at the moment when the message came to lie below the
///     read mark. The message is unread while the conversation's ordinal is still the same.
///  3. The status has a fixed offset, so that changing it changes one byte of the page.
///
/// A `MessageRecord` is a view of its bytes, which belong to the holder of the record.
package struct MessageRecord {
  static let tag: UInt8 = 1
  static let statusOffset = 2

  /// The flags of a record: its optional fields and its origin.
  package struct Flags: OptionSet {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let localTime = Flags(rawValue: 1)
    package static let sequence = Flags(rawValue: 2)
    package static let reply = Flags(rawValue: 4)
    package static let markOrdinal = Flags(rawValue: 8)
    package static let compressed = Flags(rawValue: 16)
    package static let history = Flags(rawValue: 32)
    package static let traits = Flags(rawValue: 64)
    package static let composed = Flags(rawValue: 128)
  }

  package var flags: Flags
  package var status: MessageStatus
  package var sender: UInt32
  var localDelta: Int64 = 0
  var sequenceNumber: Int64 = 0
  package var replyBytes: Bytes = .empty
  /// The offset in the record of the id of the message that it answers.
  private(set) var replyOffset = 0
  private var markOrdinalNumber: UInt64 = 0
  /// The block of traits, not decoded.
  package var traitsBytes: Bytes = .empty
  /// The byte count of the uncompressed text.
  package internal(set) var textByteCount: Int
  /// The text, or the LZ4 block it is compressed to.
  package internal(set) var payload: Bytes

  package init(
    flags: Flags, status: MessageStatus, sender: UInt32, textByteCount: Int, payload: Bytes
  ) {
    self.flags = flags
    self.status = status
    self.sender = sender
    self.textByteCount = textByteCount
    self.payload = payload
  }

  /// Decodes a record.
  ///
  /// Returns nil if the bytes are not a valid record; never traps.
  // Inlined, so that a caller that needs only some fields does not pay for the others.
  @inline(__always)
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.tag, let flags = reader.byte(), let code = reader.byte(),
      let status = MessageStatus(rawValue: code),
      let sender = reader.varint(), sender <= UInt64(UInt32.max)
    else { return nil }
    self.init(
      flags: Flags(rawValue: flags), status: status, sender: UInt32(sender), textByteCount: 0,
      payload: .empty)
    if flags & ~(Flags.history.rawValue | Flags.composed.rawValue) != 0 {
      guard readRareFields(&reader) else { return nil }
    }
    payload = reader.rest()
    if !self.flags.contains(.compressed) { textByteCount = payload.count }
    guard textByteCount <= TextCompression.maximumTextByteCount else { return nil }
  }

  /// The head of most records, which the sender follows: the tag, flags with at most three fields
  /// (a local time, a reply, and traits), and the status.
  struct PlainHead {
    let flags: Flags
    let status: MessageStatus

    /// Decodes the head in one comparison.
    ///
    /// Returns nil if the first three of the four bytes are those of any other record.
    @inline(__always)
    init?(_ head: UInt32) {
      let flags: Flags = [.history, .localTime, .reply, .traits]
      let known = UInt32(flags.rawValue) << 8 | 7 << 16 | 0xFF << 24
      guard head & ~known == UInt32(tag) else { return nil }
      self.flags = Flags(rawValue: UInt8(truncatingIfNeeded: head >> 8))
      status = MessageStatus(bits: UInt8(truncatingIfNeeded: head >> 16))
    }
  }
  static let plainHeadByteCount = 3

  @inline(never)
  private mutating func readRareFields(_ reader: inout ByteReader) -> Bool {
    if flags.contains(.localTime) {
      guard let value = reader.signedVarint() else { return false }
      localDelta = value
    }
    if flags.contains(.sequence) {
      guard let value = reader.signedVarint() else { return false }
      sequenceNumber = value
    }
    if flags.contains(.reply) {
      guard let byteCount = reader.byte(), byteCount > 0,
        let reply = reader.take(Int(byteCount)), reply.isText
      else { return false }
      replyBytes = reply
      replyOffset = reader.offset - reply.count
    }
    if flags.contains(.markOrdinal) {
      guard let value = reader.varint() else { return false }
      markOrdinalNumber = value
    }
    if flags.contains(.compressed) {
      guard let value = reader.varint(), value <= UInt64(TextCompression.maximumTextByteCount)
      else {
        return false
      }
      textByteCount = Int(value)
    }
    if flags.contains(.traits) {
      guard let byteCount = reader.varint(), byteCount > 0,
        let count = Int(exactly: byteCount), let traits = reader.take(count)
      else { return false }
      traitsBytes = traits
    }
    return true
  }

  /// Appends the record.
  package func append(to buffer: inout ByteBuffer) {
    buffer.append(Self.tag)
    buffer.append(flags.rawValue)
    buffer.append(status.rawValue)
    buffer.append(varint: UInt64(sender))
    if flags.contains(.localTime) { buffer.append(signedVarint: localDelta) }
    if flags.contains(.sequence) { buffer.append(signedVarint: sequenceNumber) }
    if flags.contains(.reply) {
      buffer.append(UInt8(replyBytes.count))
      buffer.append(replyBytes)
    }
    if flags.contains(.markOrdinal) { buffer.append(varint: markOrdinalNumber) }
    if flags.contains(.compressed) { buffer.append(varint: UInt64(textByteCount)) }
    if flags.contains(.traits) {
      buffer.append(varint: UInt64(traitsBytes.count))
      buffer.append(traitsBytes)
    }
    buffer.append(payload)
  }
}

extension MessageRecord {
  /// The mark ordinal of rule 2.
  package var markOrdinal: UInt64? {
    get { flags.contains(.markOrdinal) ? markOrdinalNumber : nil }
    set {
      markOrdinalNumber = newValue ?? 0
      if newValue == nil { flags.remove(.markOrdinal) } else { flags.insert(.markOrdinal) }
    }
  }

  /// The sequence of a pending message.
  package var pendingSequence: Int64? {
    get { flags.contains(.sequence) ? sequenceNumber : nil }
    set {
      sequenceNumber = newValue ?? 0
      if newValue == nil { flags.remove(.sequence) } else { flags.insert(.sequence) }
    }
  }

  /// Returns the time at which a message at a place was written, by the clock of the writing
  /// device.
  package func localTime(at place: Place) -> Int64? {
    if place.isPending { return place.time }
    return flags.contains(.localTime) ? place.time &+ localDelta : nil
  }

  /// Sets the local time of a message at an acknowledged place.
  ///
  /// At a pending place the key has it.
  package mutating func setLocalTime(_ time: Int64?, at place: Place) {
    if let time, !place.isPending {
      localDelta = time &- place.time
      flags.insert(.localTime)
    } else {
      flags.remove(.localTime)
    }
  }

  /// Decodes the traits.
  ///
  /// Returns nil if their block is malformed.
  @inline(never)
  package func traits() -> MessageTraits? {
    flags.contains(.traits) ? MessageTraits(traitsBytes) : MessageTraits()
  }

  package var replyTo: MessageID? { flags.contains(.reply) ? MessageID(replyBytes) : nil }

  /// Appends the text's bytes to a buffer.
  ///
  /// Returns false and appends nothing if the bytes are not valid UTF-8 or do not decompress to the
  /// byte count in the record.
  package func appendText(to buffer: inout ByteBuffer) -> Bool {
    let start = buffer.count
    if flags.contains(.compressed) {
      guard TextCompression.decompress(payload, byteCount: textByteCount, to: &buffer) else {
        return false
      }
    } else {
      buffer.append(payload)
    }
    guard buffer.bytes.dropFirst(start).isText else {
      buffer.truncate(to: start)
      return false
    }
    return true
  }
}
