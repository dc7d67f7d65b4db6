package import PageFile

/// What is kept of the entries of one conversation together.
///
/// See docs/message-format.md, O-4.
///
///     size  field
///        1  tag: 1
///     1–10  how many are queued, held, running, waiting, failed: five varints
///     5–50  ordinals of the newest entries of the kinds that take in what is older: the conversation
///           is made, read, delivered, title, picture; 0: there is none. Varints.
///        8  ordinal of the entry that may be handed out next; 0: none
///        8  from when on
///        1  where nothing is handed out for now: 1
///
/// The conversation goes as one lane: one entry after the other, each when the one before it is out of
/// the way. What is held, has failed or is blocked is out of the way until somebody decides.
package struct OutboxLane: Hashable {
  static let tag: UInt8 = 1

  package var counts = OutboxCounts()
  /// What makes the conversation: nothing goes before it, also when it is held or has failed.
  package var creation: UInt64 = 0
  package var readReceipt: UInt64 = 0
  package var deliveredReceipt: UInt64 = 0
  package var title: UInt64 = 0
  package var avatar: UInt64 = 0
  package var due: Due?
  /// Whether nothing is handed out, as older entries are still on their way to it, or as it belongs to
  /// a conversation that was deleted.
  package var isStopped = false

  /// The newest entry of a kind that takes in what is older, 0 where there is none; nil of another
  /// kind.
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

  /// The first entry of the lane, where it does not wait for an upload.
  package struct Due: Hashable {
    package var ordinal: UInt64
    package var time: Int64

    package init(ordinal: UInt64, time: Int64) {
      self.ordinal = ordinal
      self.time = time
    }
  }

  package init() {}

  /// Reads a lane.
  ///
  /// Any bytes may be given; nil when they are none.
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

  /// Writes the lane.
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

/// What is kept of all entries together.
///
/// See docs/message-format.md, O-5.
///
///     size  field
///        1  tag: 1
///     5–50  counts, as of a lane
///        1  whether new entries are held
///     1–10  ordinal of the next entry, varint
///     1–10  number of the next lease, varint
///        1  where something is done in steps: 1
package struct OutboxTotals: Hashable {
  static let tag: UInt8 = 1

  package var counts = OutboxCounts()
  package var isHolding = false
  package var nextOrdinal: UInt64 = 1
  package var nextLease: UInt64 = 1
  /// Whether something is done in steps.
  package var hasSteps = false

  package init() {}

  /// Reads the totals.
  ///
  /// Any bytes may be given; nil when they are none.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.tag, let counts = OutboxCounts(&reader),
      let isHolding = reader.byte(), isHolding <= 1, let nextOrdinal = reader.varint(),
      let nextLease = reader.varint(), let hasSteps = reader.lastFlag()
    else { return nil }
    self.counts = counts
    self.isHolding = isHolding == 1
    self.nextOrdinal = nextOrdinal
    self.nextLease = nextLease
    self.hasSteps = hasSteps
  }

  /// Writes the totals.
  package func append(to buffer: inout ByteBuffer) {
    buffer.append(Self.tag)
    counts.append(to: &buffer)
    buffer.append(isHolding ? 1 : 0)
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

  /// Counts an entry in, or out again.
  ///
  /// The counts of a damaged store may be any.
  package mutating func add(_ change: Int, _ state: OutboxRecord.State) {
    switch state {
    case .queued: queued = Self.sum(queued, change)
    case .held: held = Self.sum(held, change)
    case .running: running = Self.sum(running, change)
    case .waiting: waiting = Self.sum(waiting, change)
    case .failed: failed = Self.sum(failed, change)
    }
  }

  /// Takes out all that others have counted in.
  mutating func subtract(_ other: OutboxCounts) {
    queued = Self.sum(queued, -other.queued)
    held = Self.sum(held, -other.held)
    running = Self.sum(running, -other.running)
    waiting = Self.sum(waiting, -other.waiting)
    failed = Self.sum(failed, -other.failed)
  }

  /// A sum that can be read again.
  private static func sum(_ count: Int, _ change: Int) -> Int {
    min(max(Totals.sum(count, change), 0), Int(UInt32.max))
  }
}

extension ByteReader {
  /// A count of what is stored, which no store has more of.
  fileprivate mutating func count() -> Int? {
    guard let number = varint(), number <= UInt64(UInt32.max) else { return nil }
    return Int(number)
  }

  /// A byte of 1 at the end, which may be missing; nil where something else is there.
  fileprivate mutating func lastFlag() -> Bool? {
    if isAtEnd { return false }
    guard byte() == 1, isAtEnd else { return nil }
    return true
  }
}
