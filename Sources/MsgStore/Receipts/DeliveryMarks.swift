import PageFile

/// How far the local member's own messages have come, for all messages of a slice.
///
/// What a slice needs is read once, when the first message needs it: a message of somebody else, a
/// pending one, and one that is read already cost nothing.
struct DeliveryMarks {
  private let reader: StoreReader
  private let conversation: UInt32
  private var own: ConversationReceipts?
  private var marks: [RecipientMarks]?

  /// How far one recipient has come.
  private struct RecipientMarks {
    let recipient: Recipient
    let record: ReceiptRecord
  }

  init(_ reader: StoreReader, _ conversation: UInt32) {
    self.reader = reader
    self.conversation = conversation
  }

  /// The status of a message: the higher of the one that is stored, as the server has said it, and
  /// what the others' receipts come to.
  mutating func effectiveStatus(
    _ record: MessageRecord, at position: @autoclosure () -> Position
  ) throws(StoreError) -> MessageStatus {
    guard record.status == .sent || record.status == .delivered,
      record.sender == reader.localMember, reader.localMember != nil,
      case let position = position(), !position.place.isPending
    else { return record.status }
    let own = try loadedOwn()
    if own.covers(.read, position) { return .read }
    let status = own.covers(.delivered, position) ? .delivered : record.status
    guard record.marks.contains(.receipts) else { return status }
    let id = record.traits()?.names.first ?? position.id
    let counts = try counts(of: id, at: position, sender: record.sender)
    if counts.recipients > 0, counts.read == counts.recipients { return .read }
    return counts.recipients > 0 && counts.delivered == counts.recipients ? .delivered : status
  }

  /// How many of those that a message was sent to have it, and have read it.
  ///
  /// - Parameter isReadHere: Whether the local member has read it, whatever the server knows.
  mutating func counts(
    of id: MessageID, at position: Position, sender: UInt32, isReadHere: Bool = false
  ) throws(StoreError) -> (recipients: Int, delivered: Int, read: Int) {
    var exact: [UInt32: ExactReceipt] = [:]
    for (member, receipt) in try reader.exactReceipts(of: id, in: conversation) {
      exact[member] = receipt
    }
    var counts = (recipients: 0, delivered: 0, read: 0)
    for marks in try loadedMarks() {
      let member = marks.recipient.number
      guard member != sender, marks.recipient.wasIn(at: position) else { continue }
      counts.recipients += 1
      let receipt = exact[member]
      let isRead =
        marks.record.read.covers(position) || receipt?.isRead ?? false
        || (isReadHere && member == reader.localMember)
      if isRead { counts.read += 1 }
      if isRead || marks.record.delivered.covers(position) || receipt?.isDelivered ?? false {
        counts.delivered += 1
      }
    }
    return counts
  }

  private mutating func loadedOwn() throws(StoreError) -> ConversationReceipts {
    if let own { return own }
    let loaded = try reader.receipts(conversation)
    own = loaded
    return loaded
  }

  private mutating func loadedMarks() throws(StoreError) -> [RecipientMarks] {
    if let marks { return marks }
    var loaded: [RecipientMarks] = []
    var rest = try reader.members(conversation).recipients(without: nil)[...]
    try reader.forEachReceipts(conversation) { (member, record) in
      while let next = rest.first, next.number <= member {
        rest.removeFirst()
        loaded.append(
          RecipientMarks(
            recipient: next, record: next.number == member ? record : ReceiptRecord()))
      }
      return !rest.isEmpty
    }
    for next in rest { loaded.append(RecipientMarks(recipient: next, record: ReceiptRecord())) }
    marks = loaded
    return loaded
  }
}

extension ConversationReceipts {
  /// Whether all the others have come to a message, of whom at least one was in when it was sent.
  func covers(_ kind: ReceiptKind, _ position: Position) -> Bool {
    guard let mark = others(kind).mark, position <= mark else { return false }
    return othersSince.map { $0 <= position.place.time } ?? true
  }
}
