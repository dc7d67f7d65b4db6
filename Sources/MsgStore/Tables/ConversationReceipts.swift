/// A conversation's own side of receipts: the server's knowledge of the local member's receipts,
/// and the progress of all other participants.
///
/// See docs/message-format.md, V-6 … V-8 and V-12.
package struct ConversationReceipts: Equatable, StoredRecord {
  package static let table = Table(
    Schema.conversations, "own receipts", keys: 5, mark: ReceiptKey.ownSuffix)
  /// The progress of all other participants, and the one that is furthest behind.
  package struct Others: Equatable {
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
  /// The ordinal of the last coming of a member who has to have messages that were here before; 0
  /// while no message has been received or read by all.
  package internal(set) var comings: UInt64 = 0
  /// The greatest sequence up to which a member has read or received; nil if no mark says one.
  package internal(set) var sequenceBound: Int64?
  /// A place that no mark up to a sequence lies before; nil if there may be one without a place.
  ///
  /// Messages up to it change no mark, so history that comes later costs a comparison.
  package internal(set) var sequenceFloor: MessagePosition?
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

  @inline(never)
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

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.tag(2)
    fields.flags(.varint)
    fields.varint(&deliveredOrdinal, maximum: 1 << 60, "delivered ordinal")
    fields.varint(&read.laggard, "number of the last of the others in reading; 0: none")
    fields.varint(&delivered.laggard, "number of the last of the others in receiving; 0: none")
    visitMark(&fields, 1, &confirmedRead, "the server was told of reading up to here")
    visitMark(&fields, 2, &confirmedDelivered, "the server was told of delivery up to here")
    visitMark(&fields, 4, &deliveredMark, "the local member's delivered mark")
    visitMark(&fields, 8, &lateFrom, "lowest place that came below the read mark since it moved")
    visitMark(&fields, 16, &read.mark, "all the others have read up to here")
    visitMark(&fields, 32, &delivered.mark, "all the others have received up to here")
    fields.mark(64, &isReadListed)
    fields.mark(128, &isDeliveredListed)
    fields.optional(256, &othersSince, or: 0) {
      $0.fixed(&$1, "time at which the first of the others joined")
    }
    if fields.has(512, comings > 0) {
      fields.varint(&comings, maximum: 1 << 60, "ordinal of comings")
    }
    fields.optional(1024, &sequenceBound, or: 0) {
      $0.fixed(&$1, "greatest sequence of a mark up to one")
    }
    visitMark(&fields, 2048, &sequenceFloor, "no mark up to a sequence lies before this place")
    fields.part(&readTimes, "steps of reading made here")
    fields.part(&deliveredTimes, "steps of delivery made here")
  }

  /// Visits an acknowledged position, whose name may be empty, as between two messages.
  private func visitMark(
    _ fields: inout (some FieldVisitor & ~Copyable), _ flag: UInt64,
    _ mark: inout MessagePosition?, _ field: StaticString
  ) {
    fields.optional(flag, &mark, or: MessagePosition.lowest) { fields, mark in
      fields.bytes(&mark, .uint16, in: 0 ... .max, field)
      fields.require(!mark.place.isPending)
    }
  }
}
