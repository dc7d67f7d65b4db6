/// A thread of a store, from which live values are read; see `MessageStore.thread(_:)`.
public struct StoreThread: Sendable {
  private let store: MessageStore
  private let id: ConversationID

  init(_ store: MessageStore, _ id: ConversationID) {
    self.store = store
    self.id = id
  }

  /// The newest messages, and how they change.
  ///
  /// The first value comes at once, also when there is no message or no such conversation yet; another
  /// one as soon as a commit has made these messages others, or what lies beyond them. Nothing comes
  /// for what leaves them as they are. It goes along when the conversation gets another name or becomes
  /// one with another.
  ///
  /// - Parameter count: How many at most, 1 or more.
  public func live(newest count: Int) -> LiveThread {
    LiveThread(store, LiveThreadRequest(conversation: id, pin: .end, count: count))
  }

  /// A message among its neighbours, as `Thread.around(_:count:)` has them, and how they change.
  ///
  /// It follows the message when that moves, and stays where the message was when that is deleted. It is
  /// empty until the message comes. For the rest see `live(newest:)`.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - count: How many at most, 1 or more.
  public func live(around message: MessageID, count: Int) -> LiveThread {
    LiveThread(store, LiveThreadRequest(conversation: id, pin: .message(message), count: count))
  }
}

/// A part of a thread as it is now, and how it differs from the value before.
public struct LiveSlice: Sendable, Hashable {
  /// The messages.
  public let slice: Slice
  /// What is different; from nothing, of the first value.
  public let differences: LiveDifferences
}

/// A part of a thread that follows what changes.
///
/// Each iterator begins anew and has a place of its own: whoever is slow gets the newest value, with
/// the differences from the one they had. After a commit to the thread the part is read again, which
/// costs microseconds whatever the length of the thread, on the thread of whoever asks. It ends with
/// its task and with the store, which it does not keep open.
///
/// What may pass does not end it. While the store is suspended or `poisoned` it waits until that is
/// resumed. After `deviceLocked`, `diskFull`, `ioError`, `busy`, `snapshotExpired` and `limitExceeded`
/// it reads again when something changes, and after pauses from 20 milliseconds to two seconds.
public struct LiveThread: AsyncSequence, Sendable {
  /// The part as it is, and what is different.
  public typealias Element = LiveSlice
  /// What no waiting mends, and then it ends: `invalidCount`, `corruptRecord`, and `storage` with
  /// `corruptPage` inside, or what else a damaged or replaced store throws.
  public typealias Failure = StoreError

  private weak var core: StoreCore?
  private let listeners: ChangeListeners
  private let request: LiveThreadRequest

  init(_ store: MessageStore, _ request: LiveThreadRequest) {
    core = store.core
    listeners = store.core.listeners
    self.request = request
  }

  /// Begins to follow.
  public func makeAsyncIterator() -> Iterator { Iterator(LiveReader(core, listeners, request)) }

  /// One who follows, of whose copies one may wait at a time.
  public struct Iterator: AsyncIteratorProtocol {
    private var reader: LiveReader<LiveThreadRequest>

    init(_ reader: LiveReader<LiveThreadRequest>) { self.reader = reader }

    /// The part as soon as it is another than before; nil at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(StoreError) -> LiveSlice? {
      guard let (slice, differences) = try await reader.next(isolation: actor) else { return nil }
      return LiveSlice(slice: slice, differences: differences)
    }

    /// The part if it is another than before.
    package mutating func nextIfThere() throws(StoreError) -> LiveSlice? {
      try reader.nextIfThere().map { LiveSlice(slice: $0.content, differences: $0.differences) }
    }
  }
}

/// Which part of a thread is read.
struct LiveThreadRequest: LiveRequest {
  enum Pin: Sendable {
    case end
    case message(MessageID)
  }

  /// Its name when it was read last.
  private(set) var conversation: ConversationID
  let pin: Pin
  let count: Int
  /// Where the message was when it was read last.
  private var position: Position?

  init(conversation: ConversationID, pin: Pin, count: Int) {
    self.conversation = conversation
    self.pin = pin
    self.count = count
  }

  mutating func read(_ chat: borrowing StoreSnapshot) throws(StoreError) -> Slice {
    let thread = try chat.thread(conversation)
    let slice: Slice
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

  func isConcerned(by changes: StoreChanges, showing slice: Slice) -> Bool {
    guard let changes = changes.conversations[conversation] else { return false }
    if changes.concernsMessages { return true }
    guard let delivery = changes.delivery, let first = slice.first, let last = slice.last else {
      return false
    }
    return delivery.overlaps(first.position...last.position)
  }

  static func differences(from old: Slice?, to new: Slice) -> LiveDifferences {
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
  /// A thread of this store, to follow what changes in it.
  ///
  ///     for try await value in store.thread(room).live(newest: 50) {
  ///       value.differences.apply(to: &rows) { row(value.slice[$0]) }
  ///     }
  public func thread(_ id: ConversationID) -> StoreThread { StoreThread(self, id) }
}
