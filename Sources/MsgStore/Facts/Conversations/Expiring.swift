import PageFile

/// Lets messages go that have expired, and erases them, a part in each commit; ends mutes likewise.
///
/// See docs/message-format.md, F-26 … F-29.
///
///  1. Readers hide a message from its time on, by the clock. The first step after that lets it go:
///     counters, previews, lists, tags, and replies pass over it from then on. A clock that was set
///     back brings it back.
///  2. It is erased once a time heard from the server has passed its own, too. A clock that is
///     ahead hides, and destroys nothing.
///  3. A mute that has ended is let go and taken back like a message. Instead of being erased it
///     ends for good.
///  4. What is let go lies before one place of the expiry tree, and what is erased is in it no
///     more. So a step begins where the last one has ended, however many messages wait for the
///     server.
package struct Expiring: TransactionPart {
  package let transaction: Transaction

  /// The time after which messages are looked at again that could not be erased, in microseconds.
  private static let retryInterval: Int64 = 60 * 1_000_000

  /// The number of messages of an entry after which a step looks at its time again.
  private static let maximumPartCount = 64

  /// A part of the work.
  private enum Part {
    case takeBack(ExpiryKey)
    case letGo(ExpiryKey)
    case erase(ExpiryKey)
  }

  /// True if a step would change something.
  var hasWork: Bool {
    get throws(StoreError) {
      if view.expiry.isUnused { return false }
      return try next(at: transaction.expiryTime) != nil
    }
  }

  /// Performs one step; returns false if there is nothing to do.
  func step() throws(StoreError) -> Bool {
    if view.expiry.isUnused { return false }
    let now = transaction.expiryTime
    let limit = transaction.maximumSweepCount
    var count = 0
    while !transaction.isStepFull(count, of: limit) {
      let part = min(limit - count, Self.maximumPartCount)
      switch try next(at: now) {
      case .takeBack(let entry): count += try takeBack(entry, atMost: part)
      case .letGo(let entry): count += try letGo(entry, at: now, atMost: part)
      case .erase(let entry): count += try erase(entry, at: now, atMost: part)
      case nil: return count > 0
      }
    }
    return true
  }

  /// Returns the part that comes next.
  private func next(at now: Int64) throws(StoreError) -> Part? {
    let reached = try transaction.expiries.reached
    if let reached, let last = try view.expiry.last(before: reached), last.time > now {
      return .takeBack(last)
    }
    if let first = try view.expiry.first(from: reached?.entry ?? .start(of: .min)),
      first.time <= now
    {
      return .letGo(first)
    }
    guard let reached, let limit = try erasedTime(at: now) else { return nil }
    let passed = passed(at: now)
    let first =
      if let passed { try view.expiry.first(behind: passed) } else { try view.expiry.first() }
    guard let first else { return nil }
    return first < reached.entry && first.time <= limit ? .erase(first) : nil
  }

  /// Returns the last entry that was passed over; nil if all are to be looked at.
  ///
  /// Forgets a mark that is older than the retry interval, so that the next look sets a new one.
  private func passed(at now: Int64) -> ExpiryKey? {
    guard let known = memory.expiryErasure else { return nil }
    // A clock that was set back does not tell how long ago the last look was.
    if now < known.retryTime, known.retryTime <= now &+ Self.retryInterval { return known.passed }
    if !StoreDefect.retryTimeKept.isPlanted { memory.expiryErasure = nil }
    return nil
  }

  /// Returns the time up to which messages may be erased; nil if none may.
  private func erasedTime(at now: Int64) throws(StoreError) -> Int64? {
    if rules.erasesExpiredByClock || StoreDefect.erasedByClock.isPlanted { return now }
    let heard = view.source[.heardTime]
    return heard == 0 ? nil : min(now, Int64(bitPattern: heard))
  }

  /// Stores the latest time that the server has told, if it lets a message be erased.
  ///
  /// A time counts for no more than the clock at that moment. So of two wrong ones, a clock that is
  /// ahead and a message from the future, neither lets anything be erased later.
  func noteHeardTime() throws(StoreError) {
    guard let heard = transaction.heardTime, !view.expiry.isUnused,
      let first = try view.expiry.first(), first.time <= heard
    else { return }
    let time = min(heard, transaction.clock().microseconds)
    let old = view.source[.heardTime]
    guard first.time <= time, old == 0 || time > Int64(bitPattern: old) else { return }
    view.source[.heardTime] = UInt64(bitPattern: time)
  }

  /// Lets messages of an entry go, from the border on, and returns their number, at least 1.
  private func letGo(
    _ entry: ExpiryKey, at now: Int64, atMost limit: Int
  ) throws(StoreError) -> Int {
    let border = try transaction.expiries.reached
    let start = border?.entry == entry ? border?.position : nil
    // The one behind them tells if there are more.
    var found = try positions(of: entry, from: start, atMost: limit + 1)
    if found.count > limit, let next = found.popLast() {
      try transaction.expiries.setReached(ExpiryBorder(entry, next))
    } else {
      let next = try view.expiry.first(behind: entry)
      let isMore = next.map { $0.time <= now } ?? false
      try transaction.expiries.setReached(
        ExpiryBorder(isMore ? next ?? entry : .start(of: now == .max ? now : now + 1)))
    }
    try update(found, of: entry, isBack: false)
    return max(found.count, 1)
  }

  /// Lets messages of an entry count again, from the border backwards, and returns their number, at
  /// least 1.
  private func takeBack(_ entry: ExpiryKey, atMost limit: Int) throws(StoreError) -> Int {
    let border = try transaction.expiries.reached
    let end = border?.entry == entry ? border?.position : nil
    let found = try positions(of: entry, before: end, atMost: limit)
    // One that is full begins with its last message, before which there may be more.
    let next = found.count == limit ? found.last : nil
    try transaction.expiries.setReached(ExpiryBorder(entry, next))
    try update(found, of: entry, isBack: true)
    return max(found.count, 1)
  }

  /// Returns the positions of the first messages of an entry that are not before a position; none
  /// for a mute.
  ///
  /// Costs a step of a cursor for each message of the moment, too.
  private func positions(
    of entry: ExpiryKey, from start: MessagePosition?, atMost limit: Int
  ) throws(StoreError) -> [MessagePosition] {
    guard let moment = entry.moment else { return [] }
    var found: [MessagePosition] = []
    var scan = try ThreadScan(
      flushed(), entry.conversation, from: start ?? moment.firstPosition)
    while found.count < limit, let record = try scan.next() {
      let expiryTime = record.expiryTime
      let position = try scan.position()
      guard ThreadMoment(position.place) == moment else { break }
      if expiryTime == entry.time { found.append(position) }
    }
    return found
  }

  /// Returns the positions of the last messages of an entry before a position, the last one first;
  /// none for a mute.
  private func positions(
    of entry: ExpiryKey, before end: MessagePosition?, atMost limit: Int
  ) throws(StoreError) -> [MessagePosition] {
    guard let moment = entry.moment else { return [] }
    var found: [MessagePosition] = []
    var scan = try ThreadScan(
      flushed(), entry.conversation, after: end ?? moment.endPosition)
    while found.count < limit, let record = try scan.previous() {
      let expiryTime = record.expiryTime
      let position = try scan.position()
      guard ThreadMoment(position.place) == moment else { break }
      if expiryTime == entry.time { found.append(position) }
    }
    return found
  }

  /// Gives messages of an entry, or the conversation of a mute, the mark that they have now, with
  /// all that follows from it.
  private func update(
    _ positions: [MessagePosition], of entry: ExpiryKey, isBack: Bool
  ) throws(StoreError) {
    // Messages of a deleted conversation count nowhere, and go with it.
    guard try transaction.isStored(entry.conversation) else { return }
    let conversation = try transaction.conversation(entry.conversation)
    if entry.moment == nil { _ = try transaction.conversations.update(conversation) { _ in } }
    for position in positions {
      let message = try flushed().messages.message(at: position, in: entry.conversation)
      try transaction.messages.replace(
        message, at: position, with: message, at: position, in: conversation)
      guard position.place.isPending else { continue }
      let id = message.id(at: position)
      if isBack {
        try transaction.emit(entering: .messageReturned(id, in: entry.conversation))
      } else {
        try transaction.emit(.messageExpired(id, in: entry.conversation))
      }
    }
  }

  /// Erases messages of an entry, or ends its mute, and returns their number, at least 1.
  private func erase(
    _ entry: ExpiryKey, at now: Int64, atMost limit: Int
  ) throws(StoreError) -> Int {
    guard try transaction.isStored(entry.conversation) else {
      pass(entry, at: now)
      return 1
    }
    let conversation = try transaction.conversation(entry.conversation)
    if entry.moment == nil { return try endMute(entry, of: conversation) }
    let begun = memory.begunErasure.flatMap { $0.entry == entry ? $0 : nil }
    memory.begunErasure = nil
    var count = 0
    var start = begun?.position
    var isPassed = begun?.hasPassed ?? false
    while count < limit {
      guard let position = try positions(of: entry, from: start, atMost: 1).first else {
        if isPassed {
          pass(entry, at: now)
        } else if count == 0, begun == nil {
          throw view.corrupt(Schema.expiry, "entry without a message")
        }
        return max(count, 1)
      }
      count += 1
      if position.place.isPending, try mayBeOnItsWay(position, in: entry.conversation) {
        isPassed = true
        let next = try flushed().messages.nextPosition(
          behind: position, in: entry.conversation)
        start = next ?? .end
        transaction.hasPassedOver = transaction.hasPassedOver || count == limit
      } else {
        start = position
        transaction.hasErasedExpired = true
        try transaction.receivedMessages.delete(at: position, in: conversation)
      }
    }
    memory.begunErasure = start.map {
      BegunErasure(entry: entry, position: $0, hasPassed: isPassed)
    }
    return count
  }

  /// Ends a mute for good, and returns 1.
  private func endMute(
    _ entry: ExpiryKey, of conversation: OpenConversation
  ) throws(StoreError) -> Int {
    let isChanged = try transaction.conversations.update(conversation) { new in
      if new.details.mutedUntil == entry.time { new.details.hasMuteEnded = true }
    }
    if !isChanged { throw view.corrupt(Schema.expiry, "entry without a mute") }
    return 1
  }

  /// Notes that messages of an entry are not erased yet.
  private func pass(_ entry: ExpiryKey, at now: Int64) {
    let known = KnownErasure(
      passed: entry, retryTime: memory.expiryErasure?.retryTime ?? now &+ Self.retryInterval)
    if known != memory.expiryErasure { transaction.hasPassedOver = true }
    memory.expiryErasure = known
  }

  /// Returns true if the server may have a pending message.
  ///
  /// An entry of the outbox that has not been handed out goes with the message.
  private func mayBeOnItsWay(
    _ position: MessagePosition, in number: UInt32
  ) throws(StoreError) -> Bool {
    let message = try flushed().messages.message(at: position, in: number)
    return try view.outbox.entries(of: message.id(at: position), in: number).contains {
      if case .send = $0.record.subject { $0.record.mayHaveLeft } else { false }
    }
  }
}

extension Transaction {
  package var expiring: Expiring { Expiring(transaction: self) }
}
