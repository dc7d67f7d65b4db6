import PageFile

/// A reader of the delivery of single messages: the members that have received and read one.
struct DeliveryReader {
  let view: StoreView

  func delivery(
    of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> Delivery? {
    guard let message = try receivedMessage(id, in: conversation) else { return nil }
    var marks = DeliveryMarks(view, message.conversation)
    let counts = try marks.counts(
      of: message.id, at: message.position, sender: message.sender, isReadHere: message.isReadHere)
    return Delivery(message.status, isPending: message.position.place.isPending, counts)
  }

  /// Returns the delivery of the local member's acknowledged messages in a slice, by index; nil for
  /// all other messages.
  ///
  /// The marks of the members are read once for all of them.
  func deliveries(of slice: MessageSlice) throws(StoreError) -> [Delivery?] {
    guard let localMember = view.localMember,
      let number = try view.number(of: slice.content.origin.conversation)
    else { return [Delivery?](repeating: nil, count: slice.count) }
    let sender = try view.member(localMember)
    var own: [(index: Int, message: Message)] = []
    for (index, message) in slice.enumerated()
    where message.sender == sender && !message.position.place.isPending {
      own.append((index, message))
    }
    // Parts of a thread are in order, whatever they pass over.
    own.sort { $0.message.position.precedes($1.message.position) }
    var deliveries = [Delivery?](repeating: nil, count: slice.count)
    let counts = try DeliveryCounts(view, number, from: localMember, own.map(\.message)).counts
    for ((index, message), counts) in zip(own, counts) {
      deliveries[index] = Delivery(message.status, isPending: false, counts)
    }
    return deliveries
  }

  /// Returns true for each message of a slice that the local member has not read, by index.
  func unread(in slice: MessageSlice) throws(StoreError) -> [Bool] {
    var unread = [Bool](repeating: false, count: slice.count)
    guard view.localMember != nil,
      let number = try view.number(of: slice.content.origin.conversation),
      case let summary = try view.conversations.summary(number), summary.unreadCount > 0
    else { return unread }
    let start = try unreadStart(number, summary) ?? .start
    let positions = slice.map(\.position)
    guard let first = positions.firstIndex(where: { $0 >= start }) else { return unread }
    var scan = try ThreadScan(view, number, from: positions[first])
    for index in first..<positions.count {
      var record = try scan.next()
      let isThere = record == nil ? false : try scan.position() == positions[index]
      if !isThere {
        // The slice passes over messages, as those with a tag do.
        scan = try ThreadScan(view, number, from: positions[index])
        record = try scan.next()
      }
      guard let record, try scan.position() == positions[index] else {
        throw view.corrupt(Schema.messages, "message \"\(positions[index].id)\": missing")
      }
      let count = view.receipts.unreadCount(record, at: positions[index], summary)
      unread[index] = count.messages > 0
    }
    return unread
  }

  /// Returns the receipts of all members that are known to have a message, in order of their names.
  func readers(
    of id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> [MemberReceipt] {
    guard let message = try receivedMessage(id, in: conversation) else { return [] }
    var known: [UInt32: ExactReceipt] = [:]
    for (member, receipt) in try view.facts.exactReceipts(of: message.id, in: message.conversation)
    {
      known[member] = receipt
    }
    let position = message.position
    try view.receipts.forEachReceipts(message.conversation) { (member, record) in
      for kind in ReceiptKind.allCases where record[kind].covers(position) {
        known[member, default: ExactReceipt()].join(kind, record[kind].time(of: position))
      }
      return true
    }
    if let localMember = view.localMember {
      let own = try view.receipts.receipts(message.conversation)
      if message.isReadHere {
        known[localMember, default: ExactReceipt()].join(
          .read, message.isLate ? nil : own.readTimes.time(of: position))
      }
      if own.deliveredTimes.covers(position), try !isLateToDeliver(message, own) {
        known[localMember, default: ExactReceipt()].join(
          .delivered, own.deliveredTimes.time(of: position))
      }
    }
    known[message.sender] = nil
    let receipts = try known.map { (member, receipt) throws(StoreError) in
      let deliveredAt = earliest(receipt.deliveredAt, receipt.readAt)
      return MemberReceipt(
        member: try view.member(member), isRead: receipt.isRead,
        deliveredAt: deliveredAt.map { Timestamp(microseconds: $0) },
        readAt: receipt.readAt.map { Timestamp(microseconds: $0) })
    }
    // Member numbers differ between stores; names do not.
    return receipts.sorted { $0.member < $1.member }
  }

  /// The receipt data in a message's own record.
  private struct ReceivedMessage {
    let conversation: UInt32
    let id: MessageID
    let position: MessagePosition
    let sender: UInt32
    let status: MessageStatus
    /// True if the message is from another member and the local member has read it.
    let isReadHere: Bool
    /// True if the message came to lie below the read mark.
    let isLate: Bool
  }

  private func receivedMessage(
    _ id: MessageID, in conversation: ConversationID
  ) throws(StoreError) -> ReceivedMessage? {
    guard let number = try view.number(of: conversation),
      let position = try view.ids.position(of: id, in: number)
    else { return nil }
    let summary = try view.conversations.summary(number)
    var scan = try ThreadScan(view, number, from: position)
    guard let record = try scan.next(), try scan.position() == position else {
      throw view.corrupt(Schema.ids, "message \"\(id)\": missing at its place")
    }
    // A message that came as history counts as read only once a mark has passed it.
    let isRead =
      record.flags.contains(.history)
      ? summary.seenUpTo.map { position <= $0 } ?? false
      : !summary.isUnseen(record, at: position)
    return ReceivedMessage(
      conversation: number, id: record.traits()?.names.first ?? position.id,
      position: position, sender: record.sender, status: record.status,
      isReadHere: isRead && view.localMember != nil && record.sender != view.localMember,
      isLate: record.markOrdinal != nil && !record.flags.contains(.history))
  }

  private func isLateToDeliver(
    _ message: ReceivedMessage, _ own: ConversationReceipts
  ) throws(StoreError) -> Bool {
    let named = try view.pendingReceipts.exact(.delivered, message.conversation, message.id)
    return named.map { $0.ordinal > own.deliveredOrdinal } ?? false
  }
}

extension DeliveryReader {
  /// Returns a place before which no message is unread, or nil if any message may be.
  func unreadStart(
    _ conversation: UInt32, _ summary: ConversationSummary
  ) throws(StoreError) -> MessagePosition? {
    guard let seen = summary.seenUpTo else { return nil }
    guard let mark = summary.mark, summary.toldMark.map({ $0 < mark }) ?? true,
      let late = try view.receipts.receipts(conversation).lateFrom, late < seen
    else { return seen }
    return latest(late, summary.toldMark)
  }

  /// Returns the place of the first unread message, or nil if no message is unread.
  ///
  /// The walk alternates between the messages from the marks on and those back from the end. From
  /// the end, the first unread message is the one at which the count of unread messages is reached.
  func firstUnread(
    _ conversation: UInt32, _ summary: ConversationSummary
  ) throws(StoreError) -> MessagePosition? {
    guard view.localMember != nil, summary.unreadCount > 0 else { return nil }
    let start = try unreadStart(conversation, summary)
    var forward = try ThreadScan(view, conversation, from: start ?? .start)
    var backward = try ThreadScan(view, conversation, after: .end)
    var remaining = summary.unreadCount
    while true {
      guard let record = try forward.next(), case let position = try forward.position() else {
        return nil
      }
      if view.receipts.unreadCount(record, at: position, summary).messages > 0 { return position }
      guard let record = try backward.previous(), case let position = try backward.position()
      else { continue }
      remaining -= view.receipts.unreadCount(record, at: position, summary).messages
      if remaining == 0 { return position }
    }
  }

  /// Finds the first unread message after a position that mentions the local member; nil if all
  /// mentions there are read.
  func nextUnreadMention(
    _ conversation: UInt32, after position: MessagePosition?, _ summary: ConversationSummary
  ) throws(StoreError) -> MessagePosition? {
    guard view.localMember != nil, summary.mentionCount > 0 else { return nil }
    let start = try unreadStart(conversation, summary) ?? .start
    var scan =
      if let position, position >= start {
        try ThreadScan(view, conversation, after: position)
      } else {
        try ThreadScan(view, conversation, from: start)
      }
    while let record = try scan.next() {
      let place = try scan.position()
      if view.receipts.unreadCount(record, at: place, summary).mentions > 0 { return place }
    }
    return nil
  }
}

extension StoreView {
  var delivery: DeliveryReader { DeliveryReader(view: self) }
}

extension Delivery {
  /// Combines a message's own status with the receipts of its recipients.
  fileprivate init(
    _ status: MessageStatus, isPending: Bool, _ counts: (recipients: Int, delivered: Int, read: Int)
  ) {
    var status = status
    if !isPending, status == .sent || status == .delivered, counts.recipients > 0 {
      if counts.read == counts.recipients {
        status = .read
      } else if counts.delivered == counts.recipients {
        status = .delivered
      }
    }
    self.init(
      status: status, recipientCount: counts.recipients, deliveredCount: counts.delivered,
      readCount: counts.read)
  }
}
