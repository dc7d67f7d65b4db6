package import PageFile

/// A release of all entries in some states that is too large for one commit.
///
/// See docs/message-format.md, O-31.
///
///     size  field
///        1  tag: 1
///        1  states: 1 held, 2 waiting, 4 failed
///        4  number of the conversation; 0: all of them
///        8  ordinal of the first entry that was not examined yet
///        8  ordinal of the first entry that the release does not cover
package struct OutboxRelease: Hashable {
  static let tag: UInt8 = 1

  /// The states of entries that a release covers.
  package struct States: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let held = States(rawValue: 1)
    package static let waiting = States(rawValue: 2)
    package static let failed = States(rawValue: 4)
    static let all: States = [.held, .waiting, .failed]

    /// Creates the set for the state of one entry.
    ///
    /// It is empty if the entry is queued or running.
    init(_ state: OutboxRecord.State) {
      switch state {
      case .queued, .running: self = []
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

  package let states: States
  package var conversation: UInt32
  package var next: UInt64
  package let end: UInt64

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

  /// Decodes a release.
  ///
  /// Returns nil if the bytes are not a valid release; never traps.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.tag, let states = reader.byte(), states > 0,
      states <= States.all.rawValue, let conversation = reader.uint32(),
      let next = reader.uint64(), let end = reader.uint64(), reader.isAtEnd
    else { return nil }
    self.init(States(rawValue: states), of: conversation, next: next, end: end)
  }

  /// Appends the release.
  package func append(to buffer: inout ByteBuffer) {
    buffer.append(Self.tag)
    buffer.append(states.rawValue)
    buffer.append(littleEndian: conversation)
    buffer.append(littleEndian: next)
    buffer.append(littleEndian: end)
  }
}

extension EntryReader {
  /// Returns the unfinished releases, in the order in which they were requested.
  package func releases(
    maximumCount: Int = .max
  ) throws(StoreError) -> [(ordinal: UInt64, release: OutboxRelease)] {
    var found: [(ordinal: UInt64, release: OutboxRelease)] = []
    var prefix = ByteBuffer()
    prefix.append(OutboxKey.releasePrefix)
    try view.forEachCell(with: prefix, in: Schema.work) { (key, value) throws(StoreError) in
      guard let ordinal = OutboxKey.ordinal(key, byteCount: 9), let release = OutboxRelease(value)
      else { throw view.corrupt(Schema.work, "outbox release: malformed record") }
      found.append((ordinal, release))
      return found.count < maximumCount
    }
    return found
  }

  /// Returns the newest release that had been requested when an entry was decided about, or 0 if
  /// there is no such decision.
  package func decision(on ordinal: UInt64) throws(StoreError) -> UInt64 {
    let key = OutboxKey.decision(ordinal)
    var value = ByteBuffer()
    guard try view.value(of: key.bytes, in: Schema.work, appendTo: &value) else { return 0 }
    var reader = ByteReader(value.bytes)
    guard let release = reader.uint64(), reader.isAtEnd else {
      throw view.corrupt(Schema.work, "outbox entry \(ordinal): malformed decision")
    }
    return release
  }
}
