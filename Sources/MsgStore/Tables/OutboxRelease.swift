package import PageFile

/// Everything of some states is to go, which is too much for one commit.
///
/// See docs/message-format.md, O-31.
///
///     size  field
///        1  tag: 1
///        1  states: 1 held, 2 waiting, 4 failed
///        4  number of the conversation; 0: all of them
///        8  ordinal of the first entry that was not looked at yet
///        8  ordinal of the first entry that it is not about
package struct OutboxRelease: Hashable {
  static let tag: UInt8 = 1

  /// States of entries that are to go.
  package struct States: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let held = States(rawValue: 1)
    package static let waiting = States(rawValue: 2)
    package static let failed = States(rawValue: 4)
    static let all: States = [.held, .waiting, .failed]

    /// Those of one entry; none of one that goes already.
    init(_ state: OutboxRecord.State) {
      switch state {
      case .queued, .running: self = []
      case .held: self = .held
      case .waiting: self = .waiting
      case .failed: self = .failed
      }
    }

    /// How many entries there are of these.
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

  /// Whether it is about all that another one, which was asked for before, still is about.
  func covers(_ other: OutboxRelease) -> Bool {
    states.isSuperset(of: other.states)
      && (conversation == 0 || conversation == other.conversation)
  }

  /// Reads a release.
  ///
  /// Any bytes may be given; nil when they are none.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.tag, let states = reader.byte(), states > 0,
      states <= States.all.rawValue, let conversation = reader.uint32(),
      let next = reader.uint64(), let end = reader.uint64(), reader.isAtEnd
    else { return nil }
    self.init(States(rawValue: states), of: conversation, next: next, end: end)
  }

  /// Writes the release.
  package func append(to buffer: inout ByteBuffer) {
    buffer.append(Self.tag)
    buffer.append(states.rawValue)
    buffer.append(littleEndian: conversation)
    buffer.append(littleEndian: next)
    buffer.append(littleEndian: end)
  }
}

extension EntryReader {
  /// What is to go and has not gone yet, in the order in which that was asked for.
  package func releases(
    countMax: Int = .max
  ) throws(StoreError) -> [(ordinal: UInt64, release: OutboxRelease)] {
    var found: [(ordinal: UInt64, release: OutboxRelease)] = []
    var prefix = ByteBuffer()
    prefix.append(OutboxKey.releasePrefix)
    try view.forEachCell(with: prefix, in: Schema.work) { (key, value) throws(StoreError) in
      guard let ordinal = OutboxKey.ordinal(key, byteCount: 9), let release = OutboxRelease(value)
      else { throw view.corrupt(Schema.work, "a release of the outbox is no record") }
      found.append((ordinal, release))
      return found.count < countMax
    }
    return found
  }

  /// The newest release that had been asked for when somebody decided about an entry, 0: there was none.
  package func decision(on ordinal: UInt64) throws(StoreError) -> UInt64 {
    let key = OutboxKey.decision(ordinal)
    var value = ByteBuffer()
    guard try view.value(of: key.bytes, in: Schema.work, appendTo: &value) else { return 0 }
    var reader = ByteReader(value.bytes)
    guard let release = reader.uint64(), reader.isAtEnd else {
      throw view.corrupt(Schema.work, "a decision on entry \(ordinal) of the outbox is no record")
    }
    return release
  }
}
