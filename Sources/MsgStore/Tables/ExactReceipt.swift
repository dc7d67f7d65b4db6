package import PageFile

/// The times at which a member received and read exactly one message: a fact of kind 4.
///
/// See docs/message-format.md, V-4.
///
///     size  field
///        1  flags: 1 delivered, 2 read, 4 with the time of delivery, 8 with that of reading
///        8  with flag 4: earliest known time of delivery
///        8  with flag 8: earliest known time of reading
package struct ExactReceipt: Hashable, Sendable {
  package private(set) var isDelivered = false
  package private(set) var isRead = false
  package private(set) var deliveredAt: Int64?
  package private(set) var readAt: Int64?

  package init() {}

  package mutating func join(_ kind: ReceiptKind, _ time: Int64?) {
    switch kind {
    case .delivered:
      isDelivered = true
      deliveredAt = earliest(deliveredAt, time)
    case .read:
      isRead = true
      readAt = earliest(readAt, time)
    }
  }

  package mutating func join(_ other: ExactReceipt) {
    if other.isDelivered { join(.delivered, other.deliveredAt) }
    if other.isRead { join(.read, other.readAt) }
  }

  /// Decodes a receipt.
  ///
  /// Returns nil if the bytes are not a valid receipt; never traps.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard let flags = reader.byte(), (1...15).contains(flags), flags & 5 != 4, flags & 10 != 8
    else { return nil }
    isDelivered = flags & 1 != 0
    isRead = flags & 2 != 0
    if flags & 4 != 0 {
      guard let time = reader.uint64() else { return nil }
      deliveredAt = Int64(bitPattern: time)
    }
    if flags & 8 != 0 {
      guard let time = reader.uint64() else { return nil }
      readAt = Int64(bitPattern: time)
    }
    guard reader.isAtEnd else { return nil }
  }

  /// Appends the receipt.
  package func append(to buffer: inout ByteBuffer) {
    var flags: UInt8 = 0
    if isDelivered { flags |= 1 }
    if isRead { flags |= 2 }
    if deliveredAt != nil { flags |= 4 }
    if readAt != nil { flags |= 8 }
    buffer.append(flags)
    for case let time? in [deliveredAt, readAt] { buffer.append(time: time) }
  }
}
