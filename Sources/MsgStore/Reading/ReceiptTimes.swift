import PageFile

/// The earliest known times at which the other members have received and read messages, from their
/// marks in one conversation.
///
/// See docs/message-format.md, V-11.
///
/// The steps of all members are joined into one list for each kind, in which a lookup is a binary
/// search. Steps without a time are left out. In a conversation whose members have cells of their
/// own, of more than 32, no times are looked for: a screen must not cost a walk along thousands.
struct ReceiptTimes {
  /// A place, and the earliest time of all marks at it or behind it.
  private typealias Limit = (position: MessagePosition, time: Int64)

  private var read: [Limit] = []
  private var delivered: [Limit] = []

  /// Reads the marks of all members but one.
  init(
    _ view: StoreView, _ conversation: UInt32, without member: UInt32?
  ) throws(StoreError) {
    let isRead = try readMarks(view, conversation, without: member, maximumCount: 64)
    if !isRead || !delivered.isEmpty, try Self.isTooLarge(view, conversation) {
      (read, delivered) = ([], [])
      return
    }
    if !isRead {
      // Of a few members, and many who are not known to take part.
      (read, delivered) = ([], [])
      _ = try readMarks(view, conversation, without: member, maximumCount: .max)
    }
    Self.joinLimits(&read)
    Self.joinLimits(&delivered)
  }

  /// Returns true if the conversation has too many members for their times to be looked for.
  static func isTooLarge(
    _ view: StoreView, _ conversation: UInt32
  ) throws(StoreError) -> Bool {
    try view.conversations.details(conversation).roster != nil
  }

  /// Returns false if there are marks of more members, which were not read.
  @inline(never)
  private mutating func readMarks(
    _ view: StoreView, _ conversation: UInt32, without member: UInt32?, maximumCount: Int
  ) throws(StoreError) -> Bool {
    var count = 0
    try view.receipts.forEachReceipts(conversation) { (number, record) in
      if number == member { return true }
      count += 1
      if count > maximumCount { return false }
      record.read.forEachMark { if let time = $1 { read.append(($0, time)) } }
      record.delivered.forEachMark { if let time = $1 { delivered.append(($0, time)) } }
      return true
    }
    // A message that was read was delivered.
    delivered += read
    return count <= maximumCount
  }

  /// True if no mark has a time.
  var isEmpty: Bool { delivered.isEmpty }

  /// Returns the earliest time of a mark that covers a position.
  func time(_ kind: ReceiptKind, of position: MessagePosition) -> Int64? {
    let limits = kind == .read ? read : delivered
    var lower = 0
    var upper = limits.count
    while lower < upper {
      let middle = (lower + upper) / 2
      if limits[middle].position < position { lower = middle + 1 } else { upper = middle }
    }
    return lower < limits.count ? limits[lower].time : nil
  }

  /// Sorts limits, gives each the earliest time of those behind it, too, and leaves out those that
  /// say no earlier time than the next one.
  private static func joinLimits(_ limits: inout [Limit]) {
    if limits.isEmpty { return }
    // Indices are sorted, since each move of a position counts references.
    let places = limits.map(\.position.place)
    var order = Array(limits.indices)
    order.sort {
      places[$0] == places[$1]
        ? limits[$0].position.precedes(limits[$1].position)
        : Place.precedes(places[$0], places[$1])
    }
    var joined: [Limit] = []
    for index in order.reversed() where joined.last.map({ limits[index].time < $0.time }) ?? true {
      joined.append(limits[index])
    }
    joined.reverse()
    limits = joined
  }
}

/// The times at which one message had been received and read, as receipts say.
struct KnownTimes {
  var deliveredAt: Int64?
  var readAt: Int64?

  var isEmpty: Bool { deliveredAt == nil && readAt == nil }
}

extension DeliveryMarks {
  /// Returns true if receipts may say times of a message: an own message that others have.
  @inline(__always)
  static func mayBeTimed(
    _ status: MessageStatus, from sender: UInt32, localMember: UInt32?
  ) -> Bool {
    sender == localMember && (status == .delivered || status == .read)
  }

  /// Returns the times that the receipts of others say of a message that `mayBeTimed` holds for;
  /// nil if they say none.
  ///
  /// A time is known only of what the status says: a message that not all have read has no time of
  /// reading.
  ///
  /// - Parameters:
  ///   - status: The status that all receipts amount to.
  ///   - name: The message's own name if it has named receipts, else nil.
  mutating func times(
    _ status: MessageStatus, at place: Place, id: @autoclosure () -> MessageID,
    exactly name: MessageID?
  ) throws(StoreError) -> KnownTimes? {
    let marks = try loadedTimes()
    if marks.isEmpty, name == nil { return nil }
    var times = KnownTimes()
    if !marks.isEmpty {
      let position = MessagePosition(place, id())
      times.deliveredAt = marks.time(.delivered, of: position)
      times.readAt = marks.time(.read, of: position)
    }
    if let name, !StoreDefect.namedTimesIgnored.isPlanted, try !isTooLarge() {
      for (member, receipt) in try view.facts.exactReceipts(of: name, in: conversation)
      where member != view.localMember {
        times.readAt = earliest(times.readAt, receipt.readAt)
        times.deliveredAt = earliest(
          times.deliveredAt, earliest(receipt.deliveredAt, receipt.readAt))
      }
    }
    if status != .read, !StoreDefect.timeBeforeStatus.isPlanted { times.readAt = nil }
    return times.isEmpty ? nil : times
  }
}

extension MessageTraits {
  /// Joins the times that receipts say.
  mutating func join(_ times: KnownTimes) {
    deliveredAt = earliest(deliveredAt, times.deliveredAt)
    readAt = earliest(readAt, times.readAt)
  }
}

extension RareFields {
  /// Joins the times that receipts say.
  mutating func join(_ times: KnownTimes) {
    deliveredAt = earliest(deliveredAt?.microseconds, times.deliveredAt)
      .map(Timestamp.init(microseconds:))
    readAt = earliest(readAt?.microseconds, times.readAt).map(Timestamp.init(microseconds:))
  }
}
