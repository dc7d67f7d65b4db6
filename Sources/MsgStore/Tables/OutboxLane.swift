package import PageFile

/// The stored state of the outbox entries of one conversation.
///
/// See docs/message-format.md, O-4.
///
/// A conversation is one lane: its entries go one after the other, each when the one before it is
/// out of the way. An entry that is held, has failed or is blocked is out of the way until it is
/// decided about.
package struct OutboxLane: Equatable, StoredRecord {
  package static let table = Table(Schema.work, "lane", keys: 5, mark: OutboxKey.conversationPrefix)
  package var counts = OutboxCounts()
  /// The entry that creates the conversation.
  ///
  /// No other goes before it, even if it is held or has failed.
  package var creation: UInt64 = 0
  package var readReceipt: UInt64 = 0
  package var deliveredReceipt: UInt64 = 0
  package var title: UInt64 = 0
  package var avatar: UInt64 = 0
  package var due: Due?
  /// True if nothing is handed out: older entries are still on their way to the lane, or its
  /// conversation was deleted.
  package internal(set) var isStopped = false

  /// The ordinal of the newest entry of a kind that absorbs older entries, 0 if there is none; nil
  /// for any other kind.
  package subscript(subject: OutboxSubject) -> UInt64? {
    get {
      switch subject {
      case .createConversation: creation
      case .receipt(.read): readReceipt
      case .receipt(.delivered): deliveredReceipt
      case .setTitle: title
      case .setAvatar: avatar
      default: nil
      }
    }
    set {
      let ordinal = newValue ?? 0
      switch subject {
      case .createConversation: creation = ordinal
      case .receipt(.read): readReceipt = ordinal
      case .receipt(.delivered): deliveredReceipt = ordinal
      case .setTitle: title = ordinal
      case .setAvatar: avatar = ordinal
      default: break
      }
    }
  }

  /// The first entry of the lane, unless it waits for an upload.
  package struct Due: Equatable {
    package internal(set) var ordinal: UInt64
    package var time: Int64

    package init(ordinal: UInt64, time: Int64) {
      self.ordinal = ordinal
      self.time = time
    }
  }

  package init() {}

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.tag(1)
    counts.visit(&fields)
    fields.varint(&creation, "ordinal of the newest entry of kind 7; 0: none")
    fields.varint(&readReceipt, "the same of kind 5")
    fields.varint(&deliveredReceipt, "the same of kind 6")
    fields.varint(&title, "the same of kind 11")
    fields.varint(&avatar, "the same of kind 12")
    var (ordinal, time) = (due?.ordinal ?? 0, due?.time ?? 0)
    fields.fixed(&ordinal, "ordinal of the entry that may be handed out next; 0: none")
    fields.fixed(&time, "the time from which it may be handed out; 0: none")
    due = ordinal == 0 ? nil : Due(ordinal: ordinal, time: time)
    fields.lastMark(&isStopped, "1 if the lane is stopped")
  }
}

/// The state of all outbox entries, which is in words.
///
/// See docs/message-format.md, O-5.
package struct OutboxTotals: Equatable {
  package var counts = OutboxCounts()
  package internal(set) var holdsNewEntries = false
  package internal(set) var nextOrdinal: UInt64 = 1
  package internal(set) var nextLease: UInt64 = 1
  /// True if work in steps is left.
  package internal(set) var hasSteps = false

  /// Reads the words by a function that returns one of them.
  package init(_ word: (StoreWord) -> UInt64) {
    counts.queued = Self.count(word(.queuedEntries))
    counts.held = Self.count(word(.heldEntries))
    counts.running = Self.count(word(.runningEntries))
    counts.waiting = Self.count(word(.waitingEntries))
    counts.failed = Self.count(word(.failedEntries))
    holdsNewEntries = word(.holdsNewEntries) != 0
    hasSteps = word(.hasOutboxSteps) != 0
    // 0 means no entry and no lease.
    nextOrdinal = max(1, word(.nextEntry))
    nextLease = max(1, word(.nextLease))
  }

  /// No store has more than the limit; a damaged one may say anything.
  private static func count(_ word: UInt64) -> Int { Int(min(word, UInt64(UInt32.max))) }
}

extension PageSource {
  package var outboxTotals: OutboxTotals { OutboxTotals { self[$0] } }

  func set(_ counts: OutboxCounts) {
    self[.queuedEntries] = UInt64(counts.queued)
    self[.heldEntries] = UInt64(counts.held)
    self[.runningEntries] = UInt64(counts.running)
    self[.waitingEntries] = UInt64(counts.waiting)
    self[.failedEntries] = UInt64(counts.failed)
  }
}

extension OutboxCounts {
  mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    // No store has more than the limit.
    let maximum = Int(UInt32.max)
    fields.varint(&queued, maximum: maximum, "number of queued entries")
    fields.varint(&held, maximum: maximum, "number of held entries")
    fields.varint(&running, maximum: maximum, "number of running entries")
    fields.varint(&waiting, maximum: maximum, "number of waiting entries")
    fields.varint(&failed, maximum: maximum, "number of failed entries")
  }

  /// Adds a change to the count of a state.
  ///
  /// The counts of a damaged store may have any value.
  package mutating func add(_ change: Int, _ state: OutboxRecord.State) {
    switch state {
    case .queued: queued = Self.sum(queued, change)
    case .held, .scheduled: held = Self.sum(held, change)
    case .running: running = Self.sum(running, change)
    case .waiting: waiting = Self.sum(waiting, change)
    case .failed: failed = Self.sum(failed, change)
    }
  }

  /// Adds the counts of other entries, or subtracts them.
  mutating func add(_ other: OutboxCounts, times factor: Int = 1) {
    queued = Self.sum(queued, factor * other.queued)
    held = Self.sum(held, factor * other.held)
    running = Self.sum(running, factor * other.running)
    waiting = Self.sum(waiting, factor * other.waiting)
    failed = Self.sum(failed, factor * other.failed)
  }

  /// Returns a sum limited to the counts that can be decoded.
  @inline(never)
  private static func sum(_ count: Int, _ change: Int) -> Int {
    min(max(Totals.sum(count, change), 0), Int(UInt32.max))
  }
}
