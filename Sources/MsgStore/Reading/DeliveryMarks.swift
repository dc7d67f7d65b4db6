import PageFile

/// The delivery status of the local member's own messages, for all messages of a slice.
///
/// Marks are read once, when the first message needs them. A message from another member, a pending
/// one, and one that was read already cost nothing. One that has named receipts costs a walk along
/// them up to the first recipient who settles that not all have it.
struct DeliveryMarks {
  private let view: StoreView
  private let conversation: UInt32
  private var others: MarksOfAll?
  private var recipients: [Recipient]?
  /// The receipt marks of members, for those who have any.
  private var records: [UInt32: ReceiptRecord]?

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
    return try statusOfAll(name, at: MessagePosition(place, id()), sender: sender) ?? status
  }

  /// Returns `read` or `delivered` if all recipients of a message have read or received it; nil if
  /// neither is so, or if it has no recipients.
  ///
  /// The named receipts and the recipients are both in the order of the members' numbers.
  private mutating func statusOfAll(
    _ name: MessageID, at position: MessagePosition, sender: UInt32
  ) throws(StoreError) -> MessageStatus? {
    let (recipients, records) = (try loadedRecipients(), try loadedRecords())
    var (isRead, isDelivered) = (true, true)
    var (index, count) = (0, 0)
    /// Takes a recipient's receipts into account; returns false once they settle the result.
    func take(_ recipient: Recipient, _ receipt: ExactReceipt?) -> Bool {
      guard recipient.number != sender, recipient.wasIn(at: position) else { return true }
      count += 1
      if receipt?.isRead == true { return true }
      let record = records[recipient.number]
      if record?.read.covers(position) == true { return true }
      isRead = false
      if receipt?.isDelivered != true, record?.delivered.covers(position) != true {
        isDelivered = false
      }
      return isDelivered
    }
    let prefix = FactKey.prefix(conversation, name, .receipt)
    let prefixByteCount = prefix.count
    try view.forEachCell(with: prefix, in: Schema.facts) { (key, value) throws(StoreError) in
      guard key.count == prefixByteCount + 4,
        let member = key.bigEndianNumber(at: prefixByteCount), let receipt = ExactReceipt(value)
      else { throw view.corrupt(Schema.facts, "message \"\(name)\": malformed receipt") }
      while index < recipients.count, recipients[index].number <= member {
        let recipient = recipients[index]
        index += 1
        guard take(recipient, recipient.number == member ? receipt : nil) else { return false }
      }
      return index < recipients.count
    }
    while isDelivered, index < recipients.count, take(recipients[index], nil) { index += 1 }
    guard isDelivered, count > 0 else { return nil }
    return isRead ? .read : .delivered
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
    let records = try loadedRecords()
    for recipient in try loadedRecipients() {
      let member = recipient.number
      guard member != sender, recipient.wasIn(at: position) else { continue }
      counts.recipients += 1
      let (receipt, record) = (exact[member], records[member])
      let isRead =
        record?.read.covers(position) ?? false || receipt?.isRead ?? false
        || (isReadHere && member == view.localMember)
      if isRead { counts.read += 1 }
      let isDelivered = record?.delivered.covers(position) ?? false
      if isRead || isDelivered || receipt?.isDelivered ?? false { counts.delivered += 1 }
    }
    return counts
  }

  private mutating func loadedOthers() throws(StoreError) -> MarksOfAll {
    if let others { return others }
    let loaded = MarksOfAll(try view.receipts.receipts(conversation))
    others = loaded
    return loaded
  }

  private mutating func loadedRecipients() throws(StoreError) -> [Recipient] {
    if let recipients { return recipients }
    let loaded = try view.conversations.members(conversation).recipients(without: nil)
    recipients = loaded
    return loaded
  }

  private mutating func loadedRecords() throws(StoreError) -> [UInt32: ReceiptRecord] {
    if let records { return records }
    var loaded: [UInt32: ReceiptRecord] = [:]
    try view.receipts.forEachReceipts(conversation) { (member, record) in
      loaded[member] = record
      return true
    }
    records = loaded
    return loaded
  }
}
