/// Work that was handed out: what to tell the server, under which token, and for how long it is the
/// holder's.
///
/// It is given back to the outbox by `done`, `failed` or `giveBack`. It stays a value after that, and
/// after the store is closed.
public struct OutboxItem: Sendable, Hashable {
  /// Which entry it is.
  public let id: OutboxEntry.ID
  /// What the server has to know it by.
  public let token: OutboxToken
  /// The conversation it is about; nil of the client's own work that is about none.
  public let conversation: ConversationID?
  /// What to tell.
  public let task: OutboxTask
  /// Which attempt this is, from 1.
  public let attempt: Int
  /// When the work goes back if the holder is not heard of, by the store's clock.
  public let expiry: Timestamp
  /// Who has it.
  public let owner: String
  /// Which handing out this was: a later one of the same entry has a greater number.
  let lease: UInt64
}

/// Something that waits to go out, as people see it.
public struct OutboxEntry: Sendable, Hashable, Identifiable {
  /// What tells entries of one store apart; later entries have greater ones.
  public struct ID: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number; never given twice.
    public let rawValue: UInt64

    /// An entry by its number, as `msgdump outbox` shows it.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// What was entered earlier comes first.
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

    /// The number.
    public var description: String { "\(rawValue)" }
  }

  /// Which entry it is.
  public let id: ID
  /// What kind of thing it is.
  public let kind: OutboxKind
  /// The conversation it is about; nil of the client's own work that is about none.
  public let conversation: ConversationID?
  /// The message it is about, where it is about one.
  public let message: MessageID?
  /// What it says: the text of a message or an edit, the emoji, the title, the name of the
  /// attachment, or of the client's own work.
  public let text: String?
  /// How it stands.
  public let state: OutboxState
  /// Whether it waits for something that somebody has to decide about, or do.
  ///
  /// What it needs is held, has failed or is blocked: its message, an upload of it, or the conversation
  /// that is to be made; or its message is to be taken back. An upload is blocked while its file, as it
  /// is described, breaks a limit: it waits for `StoreWriter.prepareUpload`.
  public let isBlocked: Bool
  /// How often it was handed out.
  public let attemptCount: Int
  /// Why the last attempt failed, where one has.
  public let failure: Failure?
  /// When it was entered.
  public let created: Timestamp
  /// What the server knows it by.
  public let token: OutboxToken
}

/// How something in the outbox stands.
public enum OutboxState: Sendable, Hashable {
  /// It goes when its turn comes.
  case queued
  /// It stays until somebody releases it.
  case held
  /// It was handed out; the work goes back at that time if the holder is not heard of.
  case running(owner: String, expiry: Timestamp)
  /// An attempt failed, and the next one is made then.
  case waiting(until: Timestamp)
  /// It was refused, or a limit was reached; it stays aside until somebody retries or removes it.
  case failed
}

/// How many entries there are, by how they stand.
public struct OutboxCounts: Sendable, Hashable {
  /// Those whose turn will come, blocked ones among them.
  public var queued = 0
  /// Those that somebody has to release.
  public var held = 0
  /// Those that were handed out, expired leases among them until the work is handed out again.
  public var running = 0
  /// Those with a failed attempt, also when their time has come.
  public var waiting = 0
  /// Those that stay aside until somebody retries or removes them.
  public var failed = 0

  /// All of them.
  public var total: Int { queued + held + running + waiting + failed }

  /// None.
  public init() {}
}

/// Some entries of the outbox, in the order in which they were entered.
public struct OutboxSlice: Sendable, Hashable {
  /// The entries.
  public let entries: [OutboxEntry]
  /// Where to go on; nil when there are no more.
  public let next: OutboxEntry.ID?
}
