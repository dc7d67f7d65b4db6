package import PageFile

/// The stored state of the outbox entries of one conversation.
///
/// See docs/message-format.md, O-4.
///
///     size  field
///        1  tag: 1
///     1–10  counts of queued, held, running, waiting, failed entries: five varints
///     5–50  ordinals of the newest entries of the kinds that absorb older ones: creation, read,
///           delivered, title, picture; 0: none. Varints.
///        8  ordinal of the entry that may be handed out next; 0: none
///        8  the time from which it may be handed out
///        1  only if nothing is handed out for now: 1
///
/// A conversation is one lane: its entries go one after the other, each when the one before it is
/// out of the way. An entry that is held, has failed or is blocked is out of the way until it is
/// decided about.
package struct OutboxLane: Hashable {
  static let tag: UInt8 = 1

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
  package var isStopped = false

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
  package struct Due: Hashable {
    package var ordinal: UInt64
    package var time: Int64

    package init(ordinal: UInt64, time: Int64) {
      self.ordinal = ordinal
      self.time = time
    }
  }

  package init() {}

  /// Decodes a lane.
  ///
  /// Returns nil if the bytes are not a valid lane; never traps.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.tag, let counts = OutboxCounts(&reader),
      let creation = reader.varint(), let readReceipt = reader.varint(),
      let deliveredReceipt = reader.varint(), let title = reader.varint(),
      let avatar = reader.varint(), let ordinal = reader.uint64(), let time = reader.uint64(),
      let isStopped = reader.lastFlag()
    else { return nil }
    self.isStopped = isStopped
    self.counts = counts
    self.creation = creation
    self.readReceipt = readReceipt
    self.deliveredReceipt = deliveredReceipt
    self.title = title
    self.avatar = avatar
    due = ordinal == 0 ? nil : Due(ordinal: ordinal, time: Int64(bitPattern: time))
  }

  /// Appends the lane.
  package func append(to buffer: inout ByteBuffer) {
    buffer.append(Self.tag)
    counts.append(to: &buffer)
    for ordinal in [creation, readReceipt, deliveredReceipt, title, avatar] {
      buffer.append(varint: ordinal)
    }
    buffer.append(littleEndian: due?.ordinal ?? 0)
    buffer.append(time: due?.time ?? 0)
    if isStopped { buffer.append(1) }
  }
}

/// The stored state of all outbox entries.
///
/// See docs/message-format.md, O-5.
///
///     size  field
///        1  tag: 1
///     5–50  counts, as in a lane
///        1  1 if new entries are held, else 0
///     1–10  ordinal of the next entry, varint
///     1–10  number of the next lease, varint
///        1  only if work in steps is left: 1
package struct OutboxTotals: Hashable {
  static let tag: UInt8 = 1

  package var counts = OutboxCounts()
  package var holdsNewEntries = false
  package var nextOrdinal: UInt64 = 1
  package var nextLease: UInt64 = 1
  /// True if work in steps is left.
  package var hasSteps = false

  package init() {}

  /// Decodes the totals.
  ///
  /// Returns nil if the bytes are not valid totals; never traps.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.tag, let counts = OutboxCounts(&reader),
      let holdsNewEntries = reader.byte(), holdsNewEntries <= 1, let nextOrdinal = reader.varint(),
      let nextLease = reader.varint(), let hasSteps = reader.lastFlag()
    else { return nil }
    self.counts = counts
    self.holdsNewEntries = holdsNewEntries == 1
    self.nextOrdinal = nextOrdinal
    self.nextLease = nextLease
    self.hasSteps = hasSteps
  }

  /// Appends the totals.
  package func append(to buffer: inout ByteBuffer) {
    buffer.append(Self.tag)
    counts.append(to: &buffer)
    buffer.append(holdsNewEntries ? 1 : 0)
    buffer.append(varint: nextOrdinal)
    buffer.append(varint: nextLease)
    if hasSteps { buffer.append(1) }
  }
}

extension OutboxCounts {
  init?(_ reader: inout ByteReader) {
    guard let queued = reader.count(), let held = reader.count(), let running = reader.count(),
      let waiting = reader.count(), let failed = reader.count()
    else { return nil }
    self.queued = queued
    self.held = held
    self.running = running
    self.waiting = waiting
    self.failed = failed
  }

  func append(to buffer: inout ByteBuffer) {
    for count in [queued, held, running, waiting, failed] {
      buffer.append(varint: UInt64(max(count, 0)))
    }
  }

  /// Adds a change to the count of a state.
  ///
  /// The counts of a damaged store may have any value.
  package mutating func add(_ change: Int, _ state: OutboxRecord.State) {
    switch state {
    case .queued: queued = Self.sum(queued, change)
    case .held: held = Self.sum(held, change)
    case .running: running = Self.sum(running, change)
    case .waiting: waiting = Self.sum(waiting, change)
    case .failed: failed = Self.sum(failed, change)
    }
  }

  /// Subtracts the counts of other entries.
  mutating func subtract(_ other: OutboxCounts) {
    queued = Self.sum(queued, -other.queued)
    held = Self.sum(held, -other.held)
    running = Self.sum(running, -other.running)
    waiting = Self.sum(waiting, -other.waiting)
    failed = Self.sum(failed, -other.failed)
  }

  /// Returns a sum limited to the counts that can be decoded.
  private static func sum(_ count: Int, _ change: Int) -> Int {
    min(max(Totals.sum(count, change), 0), Int(UInt32.max))
  }
}

extension ByteReader {
  /// Reads a count of stored items.
  ///
  /// No store has more than the limit.
  fileprivate mutating func count() -> Int? {
    guard let number = varint(), number <= UInt64(UInt32.max) else { return nil }
    return Int(number)
  }

  /// Reads an optional last byte of 1.
  ///
  /// Returns nil if anything else is there.
  fileprivate mutating func lastFlag() -> Bool? {
    if isAtEnd { return false }
    guard byte() == 1, isAtEnd else { return nil }
    return true
  }
}
