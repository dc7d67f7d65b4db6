/// A thread of a store, as a source of live values; see `MessageStore.thread(_:)`.
public struct StoreThread: Sendable {
  private let store: MessageStore
  private let id: ConversationID

  init(_ store: MessageStore, _ id: ConversationID) {
    self.store = store
    self.id = id
  }

  /// Returns the newest messages, with their changes.
  ///
  /// The first value arrives at once, even if there are no messages or the conversation does not
  /// exist yet. The next arrives once a commit has changed these messages or what lies beyond
  /// them; other commits are not reported. The sequence follows the conversation when it is renamed
  /// or merged with another.
  ///
  /// - Parameter count: The maximum number of messages, 1 or more.
  public func live(newest count: Int) -> LiveThread {
    LiveThread(store, LiveThreadRequest(conversation: id, pin: .end, count: count))
  }

  /// Returns a message with its neighbours, as in `MessageThread.around(_:count:)`, with their
  /// changes.
  ///
  /// The sequence follows the message when it moves and stays at its last place when it is deleted.
  /// The slice is empty until the message arrives. Otherwise it behaves like `live(newest:)`.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - count: The maximum number of messages, 1 or more.
  public func live(around message: MessageID, count: Int) -> LiveThread {
    LiveThread(store, LiveThreadRequest(conversation: id, pin: .message(message), count: count))
  }
}

/// The current part of a thread and its differences from the previous value.
public struct LiveSlice: Sendable, Hashable {
  /// The messages.
  public let slice: MessageSlice
  /// The differences from the previous value; for the first value, from an empty slice.
  public let differences: LiveDifferences
}

/// A live view of a part of a thread.
///
/// Each iterator starts anew and has its own position. A slow one gets the newest value, with the
/// differences from the one that it had. After a commit to the thread the part is read again on the
/// thread of the caller, which costs microseconds whatever the length of the thread. The sequence
/// ends with its task and with the store, which it does not keep open.
///
/// Temporary failures do not end it. While the store is suspended or `poisoned` it waits for the
/// store to be resumed. After `deviceLocked`, `diskFull`, `ioError`, `busy`, `snapshotExpired`, and
/// `limitExceeded` it reads again when something changes, and after pauses from 20 milliseconds to
/// two seconds.
public struct LiveThread: AsyncSequence, Sendable {
  /// The current part and its differences.
  public typealias Element = LiveSlice
  /// An error that does not pass with time and ends the sequence: `input(.count)`, `corruptRecord`,
  /// `storage` with `corruptPage` inside, or another error of a damaged or replaced store.
  public typealias Failure = StoreError

  private weak var core: StoreCore?
  private let listeners: ChangeListeners
  private let request: LiveThreadRequest

  init(_ store: MessageStore, _ request: LiveThreadRequest) {
    core = store.core
    listeners = store.core.listeners
    self.request = request
  }

  /// Starts following the thread.
  public func makeAsyncIterator() -> Iterator { Iterator(LiveReader(core, listeners, request)) }

  /// An iterator, whose copies share one listener; only one of them may await at a time.
  public struct Iterator: AsyncIteratorProtocol {
    private var reader: LiveReader<LiveThreadRequest>

    init(_ reader: LiveReader<LiveThreadRequest>) { self.reader = reader }

    /// Returns the part once it differs from the previous value; nil at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(StoreError) -> LiveSlice? {
      guard let (slice, differences) = try await reader.next(isolation: actor) else { return nil }
      return LiveSlice(slice: slice, differences: differences)
    }

    /// Returns the part if it differs from the previous value.
    package mutating func nextIfThere() throws(StoreError) -> LiveSlice? {
      try reader.nextIfThere().map { LiveSlice(slice: $0.content, differences: $0.differences) }
    }
  }
}

/// The part of a thread to read.
struct LiveThreadRequest: LiveRequest {
  /// The anchor of the part.
  enum Pin: Sendable {
    case end
    case message(MessageID)
  }

  /// The conversation's id at the last read.
  private(set) var conversation: ConversationID
  let pin: Pin
  let count: Int
  /// The message's position at the last read.
  private var position: MessagePosition?

  init(conversation: ConversationID, pin: Pin, count: Int) {
    self.conversation = conversation
    self.pin = pin
    self.count = count
  }

  mutating func read(_ chat: borrowing StoreSnapshot) throws(StoreError) -> MessageSlice {
    let thread = try chat.thread(conversation)
    let slice: MessageSlice
    switch pin {
    case .end: slice = try thread.tail(count)
    case .message(let id):
      position = try thread.position(of: id) ?? position
      slice =
        if let position { try thread.around(position, count: count) } else {
          try thread.before(.start, count: count)
        }
    }
    conversation = slice.content.origin.conversation
    return slice
  }

  func isConcerned(by changes: StoreChanges, showing slice: MessageSlice) -> Bool {
    guard let changes = changes.conversations[conversation] else { return false }
    if changes.concernsMessages { return true }
    guard let delivery = changes.delivery, let first = slice.first, let last = slice.last else {
      return false
    }
    return delivery.overlaps(first.position...last.position)
  }

  static func differences(from old: MessageSlice?, to new: MessageSlice) -> LiveDifferences {
    let (a, b) = (old?.content, new.content)
    var differences = LiveDifferences(
      a?.count ?? 0, b.count,
      order: { a?.order($0, b, $1) ?? 1 },
      isSame: { a?.isSame($0, b, $1) },
      oldName: { a?.message(at: $0).id },
      newName: { b.message(at: $0).id },
      compare: { a?.message(at: $0) == b.message(at: $1) })
    differences.isOlderChanged = old.map { $0.older != new.older } ?? false
    differences.isNewerChanged = old.map { $0.newer != new.newer } ?? false
    return differences
  }
}

extension MessageStore {
  /// Returns a thread of this store, to follow its changes.
  ///
  ///     for try await value in store.thread(room).live(newest: 50) {
  ///       value.differences.apply(to: &rows) { row(value.slice[$0]) }
  ///     }
  public func thread(_ id: ConversationID) -> StoreThread { StoreThread(self, id) }
}
