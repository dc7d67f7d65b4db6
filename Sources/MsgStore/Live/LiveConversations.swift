/// The conversations of a store, from which live values are read; see `MessageStore.conversations`.
public struct StoreConversations: Sendable {
  private let store: MessageStore

  init(_ store: MessageStore) { self.store = store }

  /// The head of the list of conversations, and how it changes.
  ///
  /// The first value comes at once, also when there is no conversation; another one as soon as a commit
  /// has made one of these look different, or others have come in their place. Nothing comes for a
  /// conversation behind them that stays there.
  ///
  /// - Parameter count: How many at most, 1 or more.
  public func live(newest count: Int) -> LiveConversations { LiveConversations(store, count) }
}

/// The head of the list of conversations as it is now, and how it differs from the value before.
public struct LiveConversationSlice: Sendable, Hashable {
  /// The conversations.
  public let conversations: ConversationSlice
  /// What is different; from nothing, of the first value.
  ///
  /// Of the edges a list of conversations has the older one alone.
  public let differences: LiveDifferences
}

/// The head of the list of conversations, which follows what changes.
///
/// Iterators are as those of `LiveThread`.
public struct LiveConversations: AsyncSequence, Sendable {
  /// The list as it is, and what is different.
  public typealias Element = LiveConversationSlice
  /// What no waiting mends, and then it ends, as of `LiveThread`.
  public typealias Failure = StoreError

  private weak var core: StoreCore?
  private let listeners: ChangeListeners
  private let count: Int

  init(_ store: MessageStore, _ count: Int) {
    core = store.core
    listeners = store.core.listeners
    self.count = count
  }

  /// Begins to follow.
  public func makeAsyncIterator() -> Iterator {
    Iterator(LiveReader(core, listeners, LiveConversationsRequest(count: count)))
  }

  /// One who follows, of whose copies one may wait at a time.
  public struct Iterator: AsyncIteratorProtocol {
    private var reader: LiveReader<LiveConversationsRequest>

    init(_ reader: LiveReader<LiveConversationsRequest>) { self.reader = reader }

    /// The list as soon as it is another than before; nil at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(StoreError) -> LiveConversationSlice? {
      guard let (list, differences) = try await reader.next(isolation: actor) else { return nil }
      return LiveConversationSlice(conversations: list, differences: differences)
    }

    /// The list if it is another than before.
    package mutating func nextIfThere() throws(StoreError) -> LiveConversationSlice? {
      try reader.nextIfThere().map {
        LiveConversationSlice(conversations: $0.content, differences: $0.differences)
      }
    }
  }
}

/// How much of the list is read.
struct LiveConversationsRequest: LiveRequest {
  let count: Int

  mutating func read(_ chat: borrowing StoreSnapshot) throws(StoreError) -> ConversationSlice {
    try chat.conversations(count: count)
  }

  func isConcerned(by changes: StoreChanges, showing list: ConversationSlice) -> Bool {
    // Behind this place nothing is shown; where the list is at its end there is no such place.
    let end = list.older
    for (id, changes) in changes.conversations {
      if let entry = changes.entry {
        for position in [entry.from, entry.to] {
          guard let position, position.place.section != .archived else { continue }
          guard let end, position.isBehind(end) else { return true }
        }
        // What lies behind may have gone.
        if (entry.from == nil) != (entry.to == nil) { return true }
      }
      // Receipts may change how a last message is shown.
      if changes.delivery != nil || !changes.messages.isEmpty || changes.isAnyMessageChanged,
        list.contains(where: { $0.id == id })
      {
        return true
      }
    }
    return false
  }

  static func differences(
    from old: ConversationSlice?, to new: ConversationSlice
  ) -> LiveDifferences {
    var differences = LiveDifferences(
      old?.count ?? 0, new.count,
      order: { a, b in
        guard let place = old?[a].position else { return 1 }
        return new[b].position.isBehind(place) ? -1 : place.isBehind(new[b].position) ? 1 : 0
      },
      isSame: { old?[$0].id == new[$1].id ? old?[$0] == new[$1] : nil },
      oldName: { old?[$0].id }, newName: { new[$0].id },
      compare: { old?[$0] == new[$1] })
    differences.isOlderChanged = old.map { ($0.older == nil) != (new.older == nil) } ?? false
    return differences
  }
}

extension ConversationPosition {
  /// Whether the list has it further down than another.
  fileprivate func isBehind(_ other: ConversationPosition) -> Bool {
    if place.section != other.place.section {
      return place.section.rawValue < other.place.section.rawValue
    }
    if place.time != other.place.time { return place.time < other.place.time }
    return number < other.number
  }
}

extension MessageStore {
  /// The conversations of this store, to follow what changes in their list.
  public var conversations: StoreConversations { StoreConversations(self) }
}
