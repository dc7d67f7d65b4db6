/// Leased work: a task for the server, its token, and the duration of the lease.
///
/// Return it to the outbox with `complete`, `fail`, or `returnWork`. The value stays usable after
/// that and after the store is closed.
public struct OutboxItem: Sendable, Hashable {
  /// The outbox entry.
  public let id: OutboxEntry.ID
  /// The token by which the server recognises the task.
  public let token: OutboxToken
  /// The conversation concerned; nil for client work without a conversation.
  public let conversation: ConversationID?
  /// The task to perform.
  public let task: OutboxTask
  /// The server's own id of the message that the task is about, if it is known by another one than
  /// the task names.
  public let serverName: MessageID?
  /// For a retraction, its time by the clock of the device, which the server's is to replace.
  let retractedAt: Int64?
  /// The number of this attempt, from 1.
  public let attempt: Int
  /// The time, by the store's clock, at which the lease expires unless it is renewed.
  public let expiry: Timestamp
  /// The owner of the lease.
  public let owner: String
  /// The number of the lease; later leases of the same entry have greater numbers.
  let lease: UInt64

  init(
    id: OutboxEntry.ID, token: OutboxToken, conversation: ConversationID?, task: OutboxTask,
    serverName: MessageID?, retractedAt: Int64?, attempt: Int, expiry: Timestamp, owner: String,
    lease: UInt64
  ) {
    self.id = id
    self.serverName = serverName
    self.retractedAt = retractedAt
    self.token = token
    self.conversation = conversation
    self.task = task
    self.attempt = attempt
    self.expiry = expiry
    self.owner = owner
    self.lease = lease
  }

  /// Creates work that no store has handed out, for tests of a worker.
  ///
  /// To a store it is work whose lease was lost.
  ///
  /// - Parameters:
  ///   - id: The outbox entry.
  ///   - token: The token by which the server recognises the task.
  ///   - conversation: The conversation concerned.
  ///   - task: The task to perform.
  ///   - serverName: The server's own id of the message.
  ///   - attempt: The number of the attempt, from 1.
  ///   - expiry: The time at which the lease expires.
  ///   - owner: The owner of the lease.
  public init(
    id: OutboxEntry.ID, token: OutboxToken, conversation: ConversationID?, task: OutboxTask,
    serverName: MessageID? = nil, attempt: Int = 1, expiry: Timestamp, owner: String
  ) {
    self.init(
      id: id, token: token, conversation: conversation, task: task, serverName: serverName,
      retractedAt: nil, attempt: attempt, expiry: expiry, owner: owner, lease: 0)
  }
}

/// An outbox entry as shown to people.
public struct OutboxEntry: Sendable, Hashable, Identifiable {
  /// The identifier of an entry, unique in its store; later entries have greater ids.
  public struct ID: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number; never reused.
    public let rawValue: UInt64

    /// Creates an id from the number that `msgdump outbox` shows.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Orders by the time of entry.
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

    /// The number.
    public var description: String { "\(rawValue)" }
  }

  /// The identifier.
  public let id: ID
  /// The kind of entry.
  public let kind: OutboxKind
  /// The conversation concerned; nil for client work without a conversation.
  public let conversation: ConversationID?
  /// The message concerned, if any.
  public let message: MessageID?
  /// The content: the text of a message or an edit, the emoji, the title, or the name of the
  /// attachment or of the client work.
  public let text: String?
  /// The state of the entry.
  public let state: OutboxState
  /// True if the entry waits for something that needs a decision or an action.
  ///
  /// Something that it depends on is held, failed, or blocked: its message, an upload of the
  /// message, or the conversation to be created; or its message is to be retracted. An upload is
  /// blocked while its file, as described, breaks a limit; it waits for
  /// `StoreWriter.prepareUpload`.
  public let isBlocked: Bool
  /// The number of times the entry was leased.
  public let attemptCount: Int
  /// The reason why the last attempt failed, if one did.
  public let failure: SendFailure?
  /// The time at which the entry was added.
  public let created: Timestamp
  /// The token by which the server recognises the entry.
  public let token: OutboxToken

  /// Creates an entry, for previews and tests of views.
  ///
  /// - Parameters:
  ///   - id: The identifier.
  ///   - kind: The kind of entry.
  ///   - conversation: The conversation concerned.
  ///   - message: The message concerned, if any.
  ///   - text: The content to show.
  ///   - state: The state of the entry.
  ///   - isBlocked: True if the entry waits for a decision or an action.
  ///   - attemptCount: The number of times the entry was leased.
  ///   - failure: The reason why the last attempt failed.
  ///   - created: The time at which the entry was added.
  ///   - token: The token by which the server recognises the entry.
  public init(
    id: ID, kind: OutboxKind, conversation: ConversationID?, message: MessageID? = nil,
    text: String? = nil, state: OutboxState = .queued, isBlocked: Bool = false,
    attemptCount: Int = 0, failure: SendFailure? = nil, created: Timestamp, token: OutboxToken
  ) {
    self.id = id
    self.kind = kind
    self.conversation = conversation
    self.message = message
    self.text = text
    self.state = state
    self.isBlocked = isBlocked
    self.attemptCount = attemptCount
    self.failure = failure
    self.created = created
    self.token = token
  }
}

/// The state of an outbox entry.
public enum OutboxState: Sendable, Hashable {
  /// Waiting for its turn.
  case queued
  /// Held until it is released.
  case held
  /// Leased; `expiry` is the time at which the lease expires unless it is renewed.
  case running(owner: String, expiry: Timestamp)
  /// An attempt failed; the next one is made at the given time.
  case waiting(until: Timestamp)
  /// The server refused it, or a limit was reached; it stays until it is retried or removed.
  case failed
  /// Held until a time; then it is queued by itself.
  case scheduled(at: Timestamp)
}

/// The number of outbox entries in each state.
public struct OutboxCounts: Sendable, Equatable {
  /// Entries waiting for their turn, including blocked ones.
  public var queued = 0
  /// Entries that wait to be released, or for their scheduled time.
  public var held = 0
  /// Leased entries, including expired leases that have not been leased again.
  public var running = 0
  /// Entries with a failed attempt, even if the time of the next attempt has come.
  public var waiting = 0
  /// Entries that stay until they are retried or removed.
  public var failed = 0

  /// The number of all entries.
  public var total: Int { queued + held + running + waiting + failed }

  /// Creates counts of zero.
  public init() {}
}

/// A part of the outbox, in order of entry.
public struct OutboxSlice: Sendable, Hashable {
  /// The entries.
  public let entries: [OutboxEntry]
  /// The id to continue from; nil if there are no more entries.
  public let next: OutboxEntry.ID?

  /// Creates a part of an outbox, for previews and tests of views.
  ///
  /// - Parameters:
  ///   - entries: The entries, in order of entry.
  ///   - next: The id to continue from.
  public init(entries: [OutboxEntry], next: OutboxEntry.ID? = nil) {
    self.entries = entries
    self.next = next
  }
}
