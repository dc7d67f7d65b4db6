package import PageFile

/// An entry of the outbox, as the work tree stores it.
///
/// See docs/message-format.md, O-2.
///
///     size  field
///        1  tag: 1
///        1  kind, see `OutboxKind`
///        1  state: 1 queued, 2 held, 3 running, 4 waiting, 5 failed
///        1  flags: 1 blocked, 2 a failure follows
///        4  number of the conversation; 0: none
///       16  token
///        8  entered at
///     1–10  number of times it was handed out, varint
///     1–10  number of consecutive failed attempts, varint
///        8  checksum of the content handed out; 0: it does not matter
///     1–10  running: number of the lease, varint
///        8  running: expiry of the lease; waiting: end of the wait
///      1+n  running: byte count of the owner's name, name
///        n  with flag 2: the failure
///        n  the subject, up to the end, see `OutboxSubject`
package struct OutboxRecord: Hashable {
  package static let tag: UInt8 = 1
  /// A limit that no entry's counts reach.
  static let maximumCount: UInt64 = 1 << 62

  /// The state of an entry.
  package enum State: Hashable {
    case queued
    case held
    case running(lease: UInt64, expiry: Int64, owner: String)
    case waiting(until: Int64)
    case failed
  }

  package var conversation: UInt32
  package var subject: OutboxSubject
  package var state = State.queued
  /// True if something that the entry needs is held or has failed.
  package var isBlocked = false
  package var token: OutboxToken
  package var created: Int64
  package var attemptCount: UInt64 = 0
  package var failureCount: UInt64 = 0
  /// A checksum of the content told by the last attempt, if the next one may tell other content.
  ///
  /// Other content needs another token.
  package var contentSum: UInt64 = 0
  package var failure: SendFailure?

  package init(
    _ subject: OutboxSubject, of conversation: UInt32, token: OutboxToken, created: Int64
  ) {
    self.subject = subject
    self.conversation = conversation
    self.token = token
    self.created = created
  }

  /// True if the entry can have its turn: neither it nor anything that it needs awaits a decision.
  package var isActive: Bool {
    switch state {
    case .queued, .running, .waiting: !isBlocked
    case .held, .failed: false
    }
  }

  /// True if the entry awaits a decision before it goes on.
  package var isAside: Bool { state == .held || state == .failed || isBlocked }

  package var isRunning: Bool { if case .running = state { true } else { false } }

  /// True if the server may have the entry's content.
  ///
  /// The server does not have an entry that it refused.
  var mayHaveLeft: Bool {
    attemptCount > 0 && !(failure?.kind.isRefusal ?? false)
  }

  /// The number of consecutive failed attempts, counting a running one, whose answer never came.
  var failuresSoFar: UInt64 { failureCount + (isRunning ? 1 : 0) }

  /// The time from which the entry may be handed out.
  package var dueTime: Int64 {
    switch state {
    case .queued, .held, .failed: 0
    case .running(_, let expiry, _): expiry
    case .waiting(let time): time
    }
  }

  /// Decodes an entry.
  ///
  /// Returns nil if the bytes are not a valid entry; never traps.
  package init?(_ bytes: Bytes) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.tag, let kindCode = reader.byte(),
      let kind = OutboxKind(rawValue: kindCode), let stateCode = reader.byte(),
      let flags = reader.byte(), flags <= 3, let conversation = reader.uint32(),
      let high = reader.uint64(), let low = reader.uint64(), let created = reader.uint64(),
      let attemptCount = reader.varint(), let failureCount = reader.varint(),
      attemptCount < Self.maximumCount, failureCount < Self.maximumCount,
      let contentSum = reader.uint64(), let state = Self.state(stateCode, &reader)
    else { return nil }
    if flags & 2 != 0 {
      guard let failure = SendFailure(&reader) else { return nil }
      self.failure = failure
    }
    guard let subject = OutboxSubject(kind, reader.rest()) else { return nil }
    self.conversation = conversation
    self.subject = subject
    self.state = state
    isBlocked = flags & 1 != 0
    token = OutboxToken(high: high, low: low)
    self.created = Int64(bitPattern: created)
    self.attemptCount = attemptCount
    self.failureCount = failureCount
    self.contentSum = contentSum
  }

  private static func state(_ code: UInt8, _ reader: inout ByteReader) -> State? {
    switch code {
    case 1: return .queued
    case 2: return .held
    case 3:
      guard let lease = reader.varint(), let expiry = reader.uint64(),
        let byteCount = reader.byte(), let owner = reader.take(Int(byteCount)), owner.isText
      else { return nil }
      return .running(
        lease: lease, expiry: Int64(bitPattern: expiry), owner: owner.repairedText())
    case 4:
      guard let time = reader.uint64() else { return nil }
      return .waiting(until: Int64(bitPattern: time))
    case 5: return .failed
    default: return nil
    }
  }

  /// Appends the entry.
  package func append(to buffer: inout ByteBuffer) {
    buffer.append(Self.tag)
    buffer.append(subject.kind.rawValue)
    switch state {
    case .queued: buffer.append(1)
    case .held: buffer.append(2)
    case .running: buffer.append(3)
    case .waiting: buffer.append(4)
    case .failed: buffer.append(5)
    }
    buffer.append((isBlocked ? 1 : 0) | (failure == nil ? 0 : 2))
    buffer.append(littleEndian: conversation)
    buffer.append(littleEndian: token.high)
    buffer.append(littleEndian: token.low)
    buffer.append(time: created)
    buffer.append(varint: attemptCount)
    buffer.append(varint: failureCount)
    buffer.append(littleEndian: contentSum)
    switch state {
    case .queued, .held, .failed: break
    case .running(let lease, let expiry, let owner):
      buffer.append(varint: lease)
      buffer.append(time: expiry)
      buffer.append(UInt8(owner.utf8.count))
      buffer.append(owner)
    case .waiting(let time):
      buffer.append(time: time)
    }
    failure?.append(to: &buffer)
    subject.append(to: &buffer)
  }
}
