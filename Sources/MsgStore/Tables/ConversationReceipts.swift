package import PageFile

/// A conversation's own side of receipts: the server's knowledge of the local member's receipts,
/// and the progress of all other participants.
///
/// See docs/message-format.md, V-6 … V-8.
///
///     size  field
///        1  tag: 2
///     1–2   flags, varint
///     1–10  delivered ordinal, varint: incremented when something is marked as delivered here
///     1–5   number of the last participant in reading, varint; 0: none, or not determined
///     1–5   number of the last participant in receiving, varint
///      2+n  with flag 1: position up to which the server was told of reading
///      2+n  with flag 2: position up to which the server was told of delivery
///      2+n  with flag 4: the local member's delivered mark
///      2+n  with flag 8: lowest place of a message that came below the read mark since it moved
///      2+n  with flag 16: position up to which every other active participant has read
///      2+n  with flag 32: position up to which every other active participant has received
///        8  with flag 256: time at which the first of the other active participants joined
///        n  steps of reading made here
///        n  steps of delivery made here
///
/// Flags without a field: 64 listed with reading to tell, 128 listed with delivery to tell.
package struct ConversationReceipts: Hashable {
  static let tag: UInt8 = 2

  private struct Flags: OptionSet {
    let rawValue: UInt64
    static let confirmedRead = Flags(rawValue: 1)
    static let confirmedDelivered = Flags(rawValue: 2)
    static let deliveredMark = Flags(rawValue: 4)
    static let lateFrom = Flags(rawValue: 8)
    static let allRead = Flags(rawValue: 16)
    static let allDelivered = Flags(rawValue: 32)
    static let listedRead = Flags(rawValue: 64)
    static let listedDelivered = Flags(rawValue: 128)
    static let othersSince = Flags(rawValue: 256)
    static let known: UInt64 = 511
  }

  /// The progress of all other participants, and the one that is furthest behind.
  package struct Others: Hashable {
    /// nil if there are no others, or if one of them has no mark yet.
    package var mark: MessagePosition?
    /// The participant that is furthest behind.
    ///
    /// The mark stays while others move on.
    package var laggard: UInt32 = 0

    package init() {}
  }

  package var deliveredOrdinal: UInt64 = 0
  package var confirmedRead: MessagePosition?
  package var confirmedDelivered: MessagePosition?
  package var deliveredMark: MessagePosition?
  package var lateFrom: MessagePosition?
  package var read = Others()
  package var delivered = Others()
  package var othersSince: Int64?
  package var isReadListed = false
  package var isDeliveredListed = false
  /// The steps of reading that the local member has made here, with their times.
  package var readTimes = ReceiptSteps()
  package var deliveredTimes = ReceiptSteps()

  package init() {}

  package func others(_ kind: ReceiptKind) -> Others { kind == .read ? read : delivered }

  func confirmed(_ kind: ReceiptKind) -> MessagePosition? {
    kind == .read ? confirmedRead : confirmedDelivered
  }

  mutating func confirm(_ kind: ReceiptKind, upTo position: MessagePosition) {
    switch kind {
    case .read: confirmedRead = latest(confirmedRead, position)
    case .delivered: confirmedDelivered = latest(confirmedDelivered, position)
    }
  }

  package func isListed(_ kind: ReceiptKind) -> Bool {
    kind == .read ? isReadListed : isDeliveredListed
  }

  mutating func setListed(_ kind: ReceiptKind, _ isListed: Bool) {
    switch kind {
    case .read: isReadListed = isListed
    case .delivered: isDeliveredListed = isListed
    }
  }

  private var flags: Flags {
    var flags: Flags = []
    if confirmedRead != nil { flags.insert(.confirmedRead) }
    if confirmedDelivered != nil { flags.insert(.confirmedDelivered) }
    if deliveredMark != nil { flags.insert(.deliveredMark) }
    if lateFrom != nil { flags.insert(.lateFrom) }
    if read.mark != nil { flags.insert(.allRead) }
    if delivered.mark != nil { flags.insert(.allDelivered) }
    if isReadListed { flags.insert(.listedRead) }
    if isDeliveredListed { flags.insert(.listedDelivered) }
    if othersSince != nil { flags.insert(.othersSince) }
    return flags
  }

  /// Decodes a record.
  ///
  /// Returns nil if the bytes are not a valid record; never traps.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.tag, let raw = reader.varint(), raw <= Flags.known,
      let ordinal = reader.varint(), ordinal <= 1 << 60,
      let readLaggard = reader.varint(), readLaggard <= UInt64(UInt32.max),
      let deliveredLaggard = reader.varint(), deliveredLaggard <= UInt64(UInt32.max)
    else { return nil }
    let flags = Flags(rawValue: raw)
    deliveredOrdinal = ordinal
    read.laggard = UInt32(readLaggard)
    delivered.laggard = UInt32(deliveredLaggard)
    isReadListed = flags.contains(.listedRead)
    isDeliveredListed = flags.contains(.listedDelivered)
    let fields: [(Flags, WritableKeyPath<ConversationReceipts, MessagePosition?>)] = [
      (.confirmedRead, \.confirmedRead), (.confirmedDelivered, \.confirmedDelivered),
      (.deliveredMark, \.deliveredMark), (.lateFrom, \.lateFrom), (.allRead, \.read.mark),
      (.allDelivered, \.delivered.mark),
    ]
    for (flag, field) in fields where flags.contains(flag) {
      guard let position = reader.cut() else { return nil }
      self[keyPath: field] = position
    }
    if flags.contains(.othersSince) {
      guard let time = reader.uint64() else { return nil }
      othersSince = Int64(bitPattern: time)
    }
    guard let readTimes = ReceiptSteps(&reader), let deliveredTimes = ReceiptSteps(&reader),
      reader.isAtEnd
    else { return nil }
    self.readTimes = readTimes
    self.deliveredTimes = deliveredTimes
  }

  /// Appends the record.
  package func append(to buffer: inout ByteBuffer) {
    buffer.append(Self.tag)
    buffer.append(varint: flags.rawValue)
    buffer.append(varint: deliveredOrdinal)
    buffer.append(varint: UInt64(read.laggard))
    buffer.append(varint: UInt64(delivered.laggard))
    let positions = [
      confirmedRead, confirmedDelivered, deliveredMark, lateFrom, read.mark, delivered.mark,
    ]
    for case let position? in positions { buffer.append(measured: position) }
    if let othersSince { buffer.append(time: othersSince) }
    readTimes.append(to: &buffer)
    deliveredTimes.append(to: &buffer)
  }
}

extension ByteReader {
  /// Reads an acknowledged position, prefixed by its byte count.
  ///
  /// Its id may be empty, as in a place between messages.
  fileprivate mutating func cut() -> MessagePosition? {
    guard let byteCount = uint16(), let bytes = take(Int(byteCount)),
      let (place, placeByteCount) = bytes.place(at: 0), !place.isPending,
      case let id = bytes.dropFirst(placeByteCount), id.count <= Identifier.maximumByteCount,
      id.isValidUTF8
    else { return nil }
    return MessagePosition(place, MessageID(id))
  }
}
