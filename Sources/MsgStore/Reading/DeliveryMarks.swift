import PageFile

/// The delivery status of the local member's own messages, for all messages of a slice.
///
/// Marks are read once, when the first message needs them. A message from another member, a pending
/// one, and one that was read already cost nothing.
struct DeliveryMarks {
  private let view: StoreView
  private let conversation: UInt32
  private var others: MarksOfAll?
  private var marks: [RecipientMarks]?

  /// The progress of one recipient.
  private struct RecipientMarks {
    let recipient: Recipient
    let record: ReceiptRecord
  }

  /// The progress of all other participants, without the rest of the record, since this is copied
  /// for each message.
  private struct MarksOfAll {
    let read: MessagePosition?
    let delivered: MessagePosition?
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

  /// Returns true if the receipts of others matter for a message that is not pending: an own
  /// message that the server has and that is not read yet.
  @inline(__always)
  static func concern(
    _ status: MessageStatus, from sender: UInt32, localMember: UInt32?
  ) -> Bool {
    sender == localMember && (status == .sent || status == .delivered)
  }

  /// Returns the status of a message: the higher of the stored status, as told by the server, and
  /// the status that the others' receipts amount to.
  mutating func effectiveStatus(
    _ record: MessageRecord, at position: MessagePosition
  ) throws(StoreError) -> MessageStatus {
    guard !position.place.isPending,
      Self.concern(record.status, from: record.sender, localMember: view.localMember)
    else { return record.status }
    let hasExact = record.marks.contains(.receipts)
    return try effectiveStatus(
      record.status, from: record.sender, at: position.place, id: position.id,
      exactly: hasExact ? record.traits()?.names.first ?? position.id : nil)
  }

  /// Returns the same for a message that `concern` holds for.
  ///
  /// `name` is the message's own name if it has named receipts, else nil.
  mutating func effectiveStatus(
    _ stored: MessageStatus, from sender: UInt32, at place: Place, id: @autoclosure () -> MessageID,
    exactly name: MessageID?
  ) throws(StoreError) -> MessageStatus {
    let others = try loadedOthers()
    // Ids decide only between messages at one place.
    func isUpTo(_ mark: MessagePosition?) -> Bool {
      guard let mark else { return false }
      return place == mark.place ? id() <= mark.id : Place.precedes(place, mark.place)
    }
    // At least one of the others took part when the message was sent.
    let isCovered = others.since <= place.time
    if isCovered, isUpTo(others.read) { return .read }
    let status = isCovered && isUpTo(others.delivered) ? .delivered : stored
    guard let name else { return status }
    let counts = try counts(of: name, at: MessagePosition(place, id()), sender: sender)
    if counts.recipients > 0, counts.read == counts.recipients { return .read }
    return counts.recipients > 0 && counts.delivered == counts.recipients ? .delivered : status
  }

  /// Returns the number of a message's recipients, and of those who have received and read it.
  ///
  /// - Parameter isReadHere: True if the local member has read the message, whatever the server
  ///   knows.
  mutating func counts(
    of id: MessageID, at position: MessagePosition, sender: UInt32, isReadHere: Bool = false
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
