/// An entry of the outbox, as the work tree stores it.
///
/// See docs/message-format.md, O-2.
package struct OutboxRecord: Equatable, StoredRecord {
  package static let table = Table(
    Schema.work, "outbox entry", keys: 9, mark: OutboxKey.entryPrefix)
  /// A limit that no entry's counts reach.
  static let maximumCount: UInt64 = 1 << 62

  /// The state of an entry.
  package enum State: Equatable {
    case queued
    case held
    case running(lease: UInt64, expiry: Int64, owner: String)
    /// Waiting after a failed attempt; `isOwn` is true for a pause that the server did not ask for.
    case waiting(until: Int64, isOwn: Bool = false)
    case failed
    /// Held until a time, of which the program takes care.
    case scheduled(at: Int64)

    package init?(code: UInt8) {
      switch code {
      case 1: self = .queued
      case 2: self = .held
      case 3: self = .running(lease: 0, expiry: 0, owner: "")
      case 4: self = .waiting(until: 0)
      case 5: self = .failed
      case 6: self = .scheduled(at: 0)
      default: return nil
      }
    }

    /// True if an entry in this state does not go on without a decision, or before its time.
    var needsDecision: Bool {
      switch self {
      case .held, .failed, .scheduled: true
      case .queued, .running, .waiting: false
      }
    }

    fileprivate var code: UInt8 {
      switch self {
      case .queued: 1
      case .held: 2
      case .running: 3
      case .waiting: 4
      case .failed: 5
      case .scheduled: 6
      }
    }
  }

  package var conversation: UInt32 = 0
  package var subject = OutboxSubject.createConversation
  package var state = State.queued
  /// True if something that the entry needs is held or has failed.
  package var isBlocked = false
  package internal(set) var token = OutboxToken(high: 0, low: 0)
  package var created: Int64 = 0
  package var attemptCount: UInt64 = 0
  package var failureCount: UInt64 = 0
  /// A checksum of the content told by the last attempt, if the next one may tell other content.
  ///
  /// Other content needs another token.
  package var contentSum: UInt64 = 0
  package var failure: SendFailure?

  package init() {}

  @inline(never)
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
    case .held, .failed, .scheduled: false
    }
  }

  /// True if the entry awaits a decision, or its scheduled time, before it goes on.
  package var isAside: Bool { state.needsDecision || isBlocked }

  /// The time for which the entry is scheduled; nil if it is not.
  package var scheduledTime: Int64? {
    if case .scheduled(let time) = state { time } else { nil }
  }

  /// True if the entry waits for a pause that the server did not ask for.
  var isInOwnPause: Bool { if case .waiting(_, isOwn: true) = state { true } else { false } }

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
    case .queued, .held, .failed, .scheduled: 0
    case .running(_, let expiry, _): expiry
    case .waiting(let time, _): time
    }
  }

  package mutating func visit(_ fields: inout (some FieldVisitor & ~Copyable)) {
    fields.tag(1)
    var kind = subject.kind
    fields.code(&kind, "kind ([O-3])")
    if kind != subject.kind { subject = OutboxSubject(kind) }
    var code = state.code
    fields.fixed(&code, "state: 1 queued, 2 held, 3 running, 4 waiting, 5 failed, 6 scheduled")
    if code != state.code {
      if let known = State(code: code) { state = known } else { fields.require(false) }
    }
    fields.flags(.byte)
    fields.mark(1, &isBlocked)
    var isOwn = isInOwnPause
    fields.mark(4, &isOwn)
    if isOwn, code != State.waiting(until: 0).code { fields.require(false) }
    fields.fixed(&conversation, "number of the conversation; 0: none")
    var (high, low) = (token.high, token.low)
    fields.fixed(&high, "high half of the token")
    fields.fixed(&low, "low half of the token")
    token = OutboxToken(high: high, low: low)
    fields.fixed(&created, "entered at")
    fields.varint(&attemptCount, maximum: Self.maximumCount - 1, "times it was handed out")
    fields.varint(&failureCount, maximum: Self.maximumCount - 1, "failed attempts in a row")
    fields.fixed(&contentSum, "checksum of the content handed out; 0: it does not matter")
    switch state {
    case .queued, .held, .failed: break
    case .running(var lease, var expiry, var owner):
      fields.varint(&lease, "running: number of the lease")
      fields.fixed(&expiry, "running: expiry of the lease")
      fields.bytes(&owner, .byte, in: 0...255, "running: the owner's name")
      state = .running(lease: lease, expiry: expiry, owner: owner)
    case .waiting(var time, _):
      fields.fixed(&time, "waiting: end of the wait")
      state = .waiting(until: time, isOwn: isOwn)
    case .scheduled(var time):
      fields.fixed(&time, "scheduled: the time")
      state = .scheduled(at: time)
    }
    fields.optional(2, &failure, or: SendFailure()) { $0.part(&$1, "the last failure ([X-6])") }
    fields.part(&subject, "subject ([O-3]), up to the end")
  }
}
