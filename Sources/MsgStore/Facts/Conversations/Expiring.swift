import PageFile

/// Lets messages go that have expired, and erases them, a part in each commit.
///
/// See docs/message-format.md, F-26 … F-28.
///
///  1. Readers hide a message from its time on, by the clock. The first step after that lets it go:
///     counters, previews, lists, tags, and replies pass over it from then on. A clock that was set
///     back brings it back.
///  2. It is erased once a time heard from the server has passed its own, too. A clock that is
///     ahead hides, and destroys nothing.
///  3. What is let go lies before one place of the expiry tree, and what is erased is in it no
///     more. So a step begins where the last one has ended, however many messages wait for the
///     server.
package struct Expiring: TransactionPart {
  package let transaction: Transaction

  /// The time after which messages are looked at again that could not be erased, in microseconds.
  private static let retryInterval: Int64 = 60 * 1_000_000

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
      return try next(at: transaction.clock().microseconds) != nil
    }
  }

  /// Performs one step; returns false if there is nothing to do.
  func step() throws(StoreError) -> Bool {
    if view.expiry.isUnused { return false }
    let now = transaction.clock().microseconds
    var count = 0
    while !transaction.isStepFull(count, of: transaction.maximumSweepCount) {
      switch try next(at: now) {
      case .takeBack(let entry):
        try transaction.expiries.setReached(entry)
        count += try update(entry, isBack: true)
      case .letGo(let entry):
        let next = try view.expiry.first(behind: entry)
        let isMore = next.map { $0.time <= now } ?? false
        try transaction.expiries.setReached(isMore ? next : .start(of: now &+ 1))
        count += try update(entry, isBack: false)
      case .erase(let entry): count += try erase(entry, at: now)
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
    if let first = try view.expiry.first(from: reached ?? .start(of: .min)), first.time <= now {
      return .letGo(first)
    }
    guard let reached, let limit = try erasedTime(at: now) else { return nil }
    if let known = memory.expiryErasure, now < known.retryTime,
      known.retryTime <= now &+ Self.retryInterval
    {
      guard let next = try view.expiry.first(behind: known.passed) else { return nil }
      return next < reached && next.time <= limit ? .erase(next) : nil
    }
    guard let first = try view.expiry.first() else { return nil }
    return first < reached && first.time <= limit ? .erase(first) : nil
  }

  /// Returns the time up to which messages may be erased; nil if none may.
  private func erasedTime(at now: Int64) throws(StoreError) -> Int64? {
    if rules.erasesExpiredByClock || StoreDefect.erasedByClock.isPlanted { return now }
    return try view.source.value(of: .heardTime).map { min(now, Int64(bitPattern: $0)) }
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
    let old = try view.source.value(of: .heardTime).map { Int64(bitPattern: $0) } ?? .min
    guard first.time <= time, time > old else { return }
    try view.source.set(.heardTime, to: UInt64(bitPattern: time))
  }

  /// Returns the positions of an entry's messages.
  private func positions(of entry: ExpiryKey) throws(StoreError) -> [MessagePosition] {
    let place: Place =
      entry.moment.phase == .pending
      ? .pending(entry.moment.time, localOrder: .min)
      : .acknowledged(entry.moment.time, sequence: .min)
    var found: [MessagePosition] = []
    var scan = try ThreadScan(flushed(), entry.conversation, from: MessagePosition(place, ""))
    while let record = try scan.next() {
      let expiryTime = record.expiryTime
      let position = try scan.position()
      guard ThreadMoment(position.place) == entry.moment else { break }
      if expiryTime == entry.time { found.append(position) }
    }
    return found
  }

  /// Gives the messages of an entry the mark that they have now, with all that follows from it.
  ///
  /// Returns the number of messages.
  private func update(_ entry: ExpiryKey, isBack: Bool) throws(StoreError) -> Int {
    // Those of a deleted conversation count nowhere, and go with it.
    guard try transaction.isStored(entry.conversation) else { return 1 }
    let conversation = try transaction.conversation(entry.conversation)
    let positions = try positions(of: entry)
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
    return max(positions.count, 1)
  }

  /// Erases the messages of an entry, and returns their number.
  private func erase(_ entry: ExpiryKey, at now: Int64) throws(StoreError) -> Int {
    guard try transaction.isStored(entry.conversation) else {
      pass(entry, at: now)
      return 1
    }
    let conversation = try transaction.conversation(entry.conversation)
    let positions = try positions(of: entry)
    if positions.isEmpty {
      throw view.corrupt(Schema.expiry, "entry without a message")
    }
    for position in positions {
      if position.place.isPending, try mayBeOnItsWay(position, in: entry.conversation) {
        pass(entry, at: now)
      } else {
        transaction.hasErasedExpired = true
        try transaction.receivedMessages.delete(at: position, in: conversation)
      }
    }
    return positions.count
  }

  /// Notes that messages of an entry are not erased yet.
  private func pass(_ entry: ExpiryKey, at now: Int64) {
    memory.expiryErasure = KnownErasure(
      passed: entry, retryTime: memory.expiryErasure?.retryTime ?? now &+ Self.retryInterval)
  }

  /// Returns true if a pending message is still being told to the server.
  private func mayBeOnItsWay(
    _ position: MessagePosition, in number: UInt32
  ) throws(StoreError) -> Bool {
    let message = try flushed().messages.message(at: position, in: number)
    return try view.outbox.entries(of: message.id(at: position), in: number).contains {
      if case .send = $0.record.subject { true } else { false }
    }
  }
}

/// The expired messages that could not be erased, as a writer remembers them.
struct KnownErasure {
  /// The last entry that was passed over.
  let passed: ExpiryKey
  /// The time from which all are looked at again.
  let retryTime: Int64
}

extension Transaction {
  package var expiring: Expiring { Expiring(transaction: self) }
}
