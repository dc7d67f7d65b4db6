import PageFile

/// The numbers of recipients who have received and read each of several messages of one sender.
///
/// Each member is looked at once: it is a recipient of the messages from its joining on, and its
/// marks cover those up to a place. So a member counts for an interval of the messages, of which
/// only the ends are noted. Receipts by name are added for each message.
struct DeliveryCounts {
  typealias Counts = (recipients: Int, delivered: Int, read: Int)

  /// The counts, in the order of the messages.
  private(set) var counts: [Counts]

  /// The intervals of messages for which a member counts.
  private struct Share {
    let member: UInt32
    /// The first message of which the member is a recipient.
    let start: Int
    /// The ends of the messages that the member's marks cover.
    let deliveredEnd: Int
    let readEnd: Int
  }

  /// Counts for messages of a sender that the server has, in order.
  init(
    _ view: StoreView, _ conversation: UInt32, from sender: UInt32, _ messages: [Message]
  ) throws(StoreError) {
    counts = [Counts](repeating: (0, 0, 0), count: messages.count)
    if messages.isEmpty { return }
    let shares = try Self.shares(view, conversation, without: sender, messages.map(\.position))
    for share in shares {
      // For now each count is the difference from the one before.
      counts[share.start].recipients += 1
      if share.start < share.deliveredEnd {
        counts[share.start].delivered += 1
        if share.deliveredEnd < messages.count { counts[share.deliveredEnd].delivered -= 1 }
      }
      if share.start < share.readEnd {
        counts[share.start].read += 1
        if share.readEnd < messages.count { counts[share.readEnd].read -= 1 }
      }
    }
    sumUp()
    for (index, message) in messages.enumerated() {
      let named = try view.facts.exactReceipts(of: message.id, in: conversation)
      for (member, receipt) in named {
        guard let share = Self.share(of: member, shares), share.start <= index else { continue }
        let isRead = receipt.isRead && index >= share.readEnd
        if isRead { counts[index].read += 1 }
        let isDelivered = receipt.isRead || receipt.isDelivered
        if isDelivered, index >= share.deliveredEnd { counts[index].delivered += 1 }
      }
    }
  }

  /// Makes counts of the differences from one message to the next.
  private mutating func sumUp() {
    for index in counts.indices.dropFirst() {
      counts[index].recipients += counts[index - 1].recipients
      counts[index].delivered += counts[index - 1].delivered
      counts[index].read += counts[index - 1].read
    }
  }

  /// Returns the shares of all recipients of any of the messages, by ascending numbers.
  private static func shares(
    _ view: StoreView, _ conversation: UInt32, without sender: UInt32,
    _ positions: [MessagePosition]
  ) throws(StoreError) -> [Share] {
    let recipients = try view.conversations.members(conversation).recipients(without: sender)
    var shares: [Share] = []
    shares.reserveCapacity(recipients.count)
    var rest = recipients[...]
    func add(_ recipient: Recipient, _ record: ReceiptRecord?) {
      let start = firstIndex(positions) { recipient.wasIn(at: $0) }
      guard start < positions.count else { return }
      let readEnd = end(positions, upTo: record?.read.mark)
      let deliveredEnd = max(readEnd, end(positions, upTo: record?.delivered.mark))
      shares.append(
        Share(
          member: recipient.number, start: start, deliveredEnd: deliveredEnd, readEnd: readEnd))
    }
    try view.receipts.forEachReceipts(conversation) { (member, record) in
      while let next = rest.first, next.number < member { add(rest.removeFirst(), nil) }
      if rest.first?.number == member { add(rest.removeFirst(), record) }
      return !rest.isEmpty
    }
    for recipient in rest { add(recipient, nil) }
    return shares
  }

  private static func end(_ positions: [MessagePosition], upTo mark: MessagePosition?) -> Int {
    guard let mark else { return 0 }
    return firstIndex(positions) { mark < $0 }
  }

  /// Returns the index of the first position for which a condition holds that holds for all later
  /// ones, too.
  private static func firstIndex(
    _ positions: [MessagePosition], _ holds: (MessagePosition) -> Bool
  ) -> Int {
    var (lower, upper) = (0, positions.count)
    while lower < upper {
      let middle = (lower + upper) / 2
      if holds(positions[middle]) { upper = middle } else { lower = middle + 1 }
    }
    return lower
  }

  private static func share(of member: UInt32, _ shares: [Share]) -> Share? {
    var (lower, upper) = (0, shares.count)
    while lower < upper {
      let middle = (lower + upper) / 2
      if shares[middle].member < member { lower = middle + 1 } else { upper = middle }
    }
    return lower < shares.count && shares[lower].member == member ? shares[lower] : nil
  }
}
