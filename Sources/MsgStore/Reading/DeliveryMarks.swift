import PageFile

/// How far the local member's own messages have come, for all messages of a slice.
///
/// What a slice needs is read once, when the first message needs it: a message of somebody else, a
/// pending one, and one that is read already cost nothing.
struct DeliveryMarks {
  private let view: StoreView
  private let conversation: UInt32
  private var others: MarksOfAll?
  private var marks: [RecipientMarks]?

  /// How far one recipient has come.
  private struct RecipientMarks {
    let recipient: Recipient
    let record: ReceiptRecord
  }

  /// How far all others have come, without the rest of the record: it is copied for each message.
  private struct MarksOfAll {
    let read: Position?
    let delivered: Position?
    let since: Int64

    init(_ receipts: ConversationReceipts) {
      read = receipts.read.mark
      delivered = receipts.delivered.mark
      since = receipts.othersSince ?? .min
    }
  }

  init(_ view: StoreView, _ conversation: UInt32) {
    self.view = view
    self.conversation = conversation
  }

  /// Whether what the others have received counts for a message that is not pending: an own one that
  /// the server has.
  @inline(__always)
  static func concern(
    _ status: MessageStatus, from sender: UInt32, localMember: UInt32?
  ) -> Bool {
    sender == localMember && (status == .sent || status == .delivered)
  }

  /// The status of a message: the higher of the one that is stored, as the server has said it, and
  /// what the others' receipts come to.
  mutating func effectiveStatus(
    _ record: MessageRecord, at position: Position
  ) throws(StoreError) -> MessageStatus {
    guard !position.place.isPending,
      Self.concern(record.status, from: record.sender, localMember: view.localMember)
    else { return record.status }
    let hasExact = record.marks.contains(.receipts)
    return try effectiveStatus(
      record.status, from: record.sender, at: position.place, id: position.id,
      exactly: hasExact ? record.traits()?.names.first ?? position.id : nil)
  }

  /// The same for one that is concerned; `name` is that of its own receipts, if it has any.
  mutating func effectiveStatus(
    _ stored: MessageStatus, from sender: UInt32, at place: Place, id: @autoclosure () -> MessageID,
    exactly name: MessageID?
  ) throws(StoreError) -> MessageStatus {
    let others = try loadedOthers()
    // Ids decide only between messages of one place.
    func isUpTo(_ mark: Position?) -> Bool {
      guard let mark else { return false }
      return place == mark.place ? id() <= mark.id : Place.precedes(place, mark.place)
    }
    // At least one of them was in when the message was sent.
    let isCovered = others.since <= place.time
    if isCovered, isUpTo(others.read) { return .read }
    let status = isCovered && isUpTo(others.delivered) ? .delivered : stored
    guard let name else { return status }
    let counts = try counts(of: name, at: Position(place, id()), sender: sender)
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
    for (member, receipt) in try view.facts.exactReceipts(of: id, in: conversation) {
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
        || (isReadHere && member == view.localMember)
      if isRead { counts.read += 1 }
      if isRead || marks.record.delivered.covers(position) || receipt?.isDelivered ?? false {
        counts.delivered += 1
      }
    }
    return counts
  }

  private mutating func loadedOthers() throws(StoreError) -> MarksOfAll {
    if let others { return others }
    let loaded = MarksOfAll(try view.receipts.receipts(conversation))
    others = loaded
    return loaded
  }

  private mutating func loadedMarks() throws(StoreError) -> [RecipientMarks] {
    if let marks { return marks }
    var loaded: [RecipientMarks] = []
    var rest = try view.conversations.members(conversation).recipients(without: nil)[...]
    try view.receipts.forEachReceipts(conversation) { (member, record) in
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
