import PageFile

/// A release of all entries in some states that is too large for one commit.
///
/// See docs/message-format.md, O-31.
package struct OutboxRelease: Equatable, StoredRecord {
  package static let table = Table(
    Schema.work, "outbox release", keys: 9, mark: OutboxKey.releasePrefix)
  /// The states of entries that a release covers.
  package struct States: OptionSet, Equatable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let held = States(rawValue: 1)
    package static let waiting = States(rawValue: 2)
    package static let failed = States(rawValue: 4)
    static let all: States = [.held, .waiting, .failed]

    /// Creates the set for the state of one entry.
    ///
    /// It is empty if the entry is queued, running, or scheduled.
    init(_ state: OutboxRecord.State) {
      switch state {
      case .queued, .running, .scheduled: self = []
      case .held: self = .held
      case .waiting: self = .waiting
      case .failed: self = .failed
      }
    }

    /// Returns the number of entries in these states.
    func count(_ counts: OutboxCounts) -> Int {
      (contains(.held) ? counts.held : 0) + (contains(.waiting) ? counts.waiting : 0)
        + (contains(.failed) ? counts.failed : 0)
    }
  }

  package internal(set) var states: States = []
  package var conversation: UInt32 = 0
  package internal(set) var next: UInt64 = 0
  package private(set) var end: UInt64 = 0

  package init() {}

  package init(_ states: States, of conversation: UInt32, next: UInt64, end: UInt64) {
    self.states = states
    self.conversation = conversation
    self.next = next
    self.end = end
  }

  /// Returns true if this release covers everything that an earlier one still covers.
  func covers(_ other: OutboxRelease) -> Bool {
    states.isSuperset(of: other.states)
      && (conversation == 0 || conversation == other.conversation)
  }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.tag(1)
    fields.code(&states, "states: 1 held, 2 waiting, 4 failed")
    fields.require(!states.isEmpty && states.isSubset(of: .all))
    fields.fixed(&conversation, "number of the conversation; 0: all of them")
    fields.fixed(&next, "ordinal of the first entry that was not examined yet")
    fields.fixed(&end, "ordinal of the first entry that the release does not cover")
  }
}

extension EntryReader {
  /// Returns the unfinished releases, in the order in which they were requested.
  package func releases(
    maximumCount: Int = .max
  ) throws(StoreError) -> [(ordinal: UInt64, release: OutboxRelease)] {
    var found: [(ordinal: UInt64, release: OutboxRelease)] = []
    let prefix = KeyEncoding.prefix(OutboxKey.releasePrefix)
    try view.forEachCell(with: prefix, in: Schema.work) { (key, value) throws(StoreError) in
      guard let ordinal = OutboxKey.ordinal(key, byteCount: 9) else {
        throw view.corrupt(Schema.work, "outbox release: malformed key (\(key.count) bytes)")
      }
      found.append((ordinal, try view.decoded(value, at: key)))
      return found.count < maximumCount
    }
    return found
  }

  /// Returns the newest release that had been requested when an entry was decided about, or 0 if
  /// there is no such decision.
  @inline(never)
  package func decision(on ordinal: UInt64) throws(StoreError) -> UInt64 {
    let key = OutboxKey.decision(ordinal)
    return try view.record(key, in: Schema.work, "decision on an outbox entry") ?? 0
  }
}
