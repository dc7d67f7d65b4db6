import PageFile

/// The delivery status of the local member's own messages, for all messages of a slice.
///
/// Marks are read once, when the first message needs them. A message from another member, a pending
/// one, and one that was read already cost nothing. One that has named receipts costs a walk along
/// them up to the first recipient who settles that not all have it.
struct DeliveryMarks {
  let view: StoreView
  let conversation: UInt32
  private var others: MarksOfAll?
  private var search: AwaitedSearch
  private var recipients: [Recipient]?
  /// The receipt marks of members, for those who have any.
  private var records: [UInt32: ReceiptRecord]?
  private var knownTimes: ReceiptTimes?
  private var isKnownTooLarge: Bool?

  /// The progress of all other participants, without the rest of the record, since this is copied
  /// for each message.
  private struct MarksOfAll {
    let read: MessagePosition?
    let delivered: MessagePosition?
    let since: Int64
    let comings: UInt64

    init(_ receipts: ConversationReceipts) {
      read = receipts.read.mark
      delivered = receipts.delivered.mark
      since = receipts.othersSince ?? .min
      comings = receipts.comings
    }
  }

  init(_ view: StoreView, _ conversation: UInt32) {
    self.view = view
    self.conversation = conversation
    search = AwaitedSearch(view, conversation)
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
    let traits = record.marks.contains(.receipts) ? record.traits() : nil
    return try effectiveStatus(
      record.status, from: record.sender, at: position.place, id: position.id,
      exactly: traits.map { $0.names.first ?? position.id }, awaited: traits?.awaited)
  }

  /// Returns the same for a message that `concern` holds for.
  ///
  /// - Parameters:
  ///   - name: The message's own name if it has named receipts, else nil.
  ///   - awaited: The recipients that it says it waits for.
  mutating func effectiveStatus(
    _ stored: MessageStatus, from sender: UInt32, at place: Place, id: @autoclosure () -> MessageID,
    exactly name: MessageID?, awaited: Awaited? = nil
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
    let position = MessagePosition(place, id())
    for kind in [ReceiptKind.read, .delivered] {
      let reached: MessageStatus = kind == .read ? .read : .delivered
      if status >= reached { break }
      if try haveAll(kind, name, at: position, from: sender, awaited, others) { return reached }
    }
    return status
  }

  /// Returns true if a message has recipients, and all of them have received or read it.
  private mutating func haveAll(
    _ kind: ReceiptKind, _ name: MessageID, at position: MessagePosition, from sender: UInt32,
    _ awaited: Awaited?, _ others: MarksOfAll
  ) throws(StoreError) -> Bool {
    if let awaited {
      let member = awaited[kind]
      if member == 0 {
        // Some who had it may have gone, but not all of them.
        if awaited.comings == others.comings { return others.since <= position.place.time }
      } else if try search.isMissing(member, kind, at: position, from: sender) {
        return false
      }
    }
    return try search.first(
      kind, missing: name, at: position, from: sender, beginningWith: awaited?[kind] ?? 0) == 0
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

  /// Returns the times of the others' marks, which are read once.
  mutating func loadedTimes() throws(StoreError) -> ReceiptTimes {
    if let knownTimes { return knownTimes }
    let loaded = try ReceiptTimes(view, conversation, without: view.localMember)
    knownTimes = loaded
    return loaded
  }

  /// Returns true if the conversation has too many members for times to be looked for.
  mutating func isTooLarge() throws(StoreError) -> Bool {
    if let isKnownTooLarge { return isKnownTooLarge }
    let isTooLarge = try ReceiptTimes.isTooLarge(view, conversation)
    isKnownTooLarge = isTooLarge
    return isTooLarge
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
