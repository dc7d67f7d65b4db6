/// The part of a store that a live value depends on.
public enum LiveScope: Sendable, Hashable {
  /// One conversation, with its messages, receipts, draft, and transfers, see
  /// `ConversationChanges`, and the profiles of members.
  ///
  /// The id may be a former one, and the scope follows a rename.
  case conversation(ConversationID)
  /// The lists of conversations: all that a `Conversation` shows, of any conversation, and the
  /// profiles of members.
  case list
  /// The unread totals.
  case counters
  /// The outbox.
  case outbox
  /// The profiles of members.
  case profiles
  /// The whole store.
  case everything
}

/// A live view of any value read from a store; see `MessageStore.live(_:_:)`.
///
/// Its iterators behave like those of `LiveThread`.
public struct LiveValue<Value: Equatable & Sendable>: AsyncSequence, Sendable {
  /// The value as last read.
  public typealias Element = Value
  /// An error that does not pass with time, or that the closure has thrown; it ends the sequence.
  public typealias Failure = any Error

  private weak var core: StoreCore?
  private let listeners: ChangeListeners
  private let request: LiveValueRequest<Value>

  init(_ store: MessageStore, _ request: LiveValueRequest<Value>) {
    core = store.core
    listeners = store.core.listeners
    self.request = request
  }

  /// Starts following the value.
  public func makeAsyncIterator() -> Iterator { Iterator(LiveReader(core, listeners, request)) }

  /// An iterator, whose copies share one listener; only one of them may await at a time.
  public struct Iterator: AsyncIteratorProtocol {
    private var reader: LiveReader<LiveValueRequest<Value>>

    init(_ reader: LiveReader<LiveValueRequest<Value>>) { self.reader = reader }

    /// Returns the value once it differs from the previous one; nil at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> Value? {
      try await reader.next(isolation: actor)?.content
    }

    /// Returns the value if it differs from the previous one.
    package mutating func nextIfThere() throws -> Value? { try reader.nextIfThere()?.content }
  }
}

/// A closure to call again when its scope has changed.
struct LiveValueRequest<Value: Equatable & Sendable>: LiveRequest {
  /// The scope, with the conversation's id at the last read.
  private var scope: LiveScope
  private let body: @Sendable (borrowing StoreSnapshot) throws -> Value

  init(_ scope: LiveScope, _ body: @escaping @Sendable (borrowing StoreSnapshot) throws -> Value) {
    self.scope = scope
    self.body = body
  }

  mutating func read(_ chat: borrowing StoreSnapshot) throws -> Value {
    if case .conversation(let id) = scope {
      scope = .conversation(try chat.currentID(of: id))
    }
    return try body(chat)
  }

  func isConcerned(by changes: StoreChanges, showing content: Value) -> Bool {
    switch scope {
    case .conversation(let id): changes.conversations[id] != nil || changes.hasProfileChanges
    case .list:
      changes.hasProfileChanges || changes.conversations.contains { $0.value.concernsList }
    case .counters: changes.hasCounterChanges
    case .outbox: changes.hasOutboxChanges
    case .profiles: changes.hasProfileChanges
    case .everything: true
    }
  }

  static func differences(from old: Value?, to new: Value) -> Void? { old == new ? nil : () }

  static func failure(_ error: any Error) -> any Error { error }
}

extension MessageStore {
  /// Returns the result of a read, and again after each commit that changes it.
  ///
  ///     let header = store.live(.conversation(room)) { chat in
  ///       Header(try chat.conversation(room), try chat.draft(of: room))
  ///     }
  ///     for try await header in header { show(header) }
  ///
  /// The first value arrives at once. The closure is called again after commits that change
  /// `scope`, and not for others; equal results are not reported. It is first called on one of the
  /// store's threads, later on that of the task that iterates, and may be called again without a
  /// change. It must read nothing outside its scope: such a change would be missed.
  ///
  /// - Parameters:
  ///   - scope: The part of the store that the closure reads.
  ///   - body: Reads the value.
  public func live<Value: Equatable & Sendable>(
    _ scope: LiveScope = .everything,
    _ body: @escaping @Sendable (borrowing StoreSnapshot) throws -> Value
  ) -> LiveValue<Value> {
    LiveValue(self, LiveValueRequest(scope, body))
  }

  /// Returns the first entries of the outbox, with their changes.
  ///
  /// - Parameters:
  ///   - count: The maximum number of entries, 1 or more.
  ///   - conversation: Limits the result to entries about this conversation; nil means all.
  public func liveOutbox(
    count: Int, in conversation: ConversationID? = nil
  ) -> LiveValue<OutboxSlice> {
    live(.outbox) { chat in try chat.outbox.entries(in: conversation, count: count) }
  }
}
