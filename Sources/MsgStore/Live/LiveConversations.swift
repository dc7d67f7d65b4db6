/// The conversations of a store, as a source of live values; see `MessageStore.conversations`.
public struct StoreConversations: Sendable {
  private let store: MessageStore

  init(_ store: MessageStore) { self.store = store }

  /// Returns the head of the list of conversations, with its changes.
  ///
  /// The first value arrives at once, even if there are no conversations. The next arrives once a
  /// commit has changed how these conversations look or which ones they are. Changes to
  /// conversations that stay behind them are not reported.
  ///
  /// - Parameter count: The maximum number of conversations, 1 or more.
  public func live(newest count: Int) -> LiveConversations {
    LiveConversations(store, LiveConversationsRequest(count: count, isArchived: false))
  }

  /// Returns the head of the list of archived conversations, with its changes; see
  /// `live(newest:)`.
  ///
  /// - Parameter count: The maximum number of conversations, 1 or more.
  public func live(newestArchived count: Int) -> LiveConversations {
    LiveConversations(store, LiveConversationsRequest(count: count, isArchived: true))
  }

  /// Returns one conversation as lists show it, with its changes; nil while it is not there.
  ///
  /// The sequence follows the conversation when it is renamed or merged with another.
  public func live(_ id: ConversationID) -> LiveValue<Conversation?> {
    store.live(.conversation(id)) { chat in try chat.conversation(id) }
  }

  /// The unread totals of the whole store, with their changes.
  public var liveUnreadTotals: LiveValue<UnreadTotals> {
    store.live(.counters) { chat in try chat.unreadTotals }
  }
}

/// The current head of the list of conversations and its differences from the previous value.
public struct LiveConversationSlice: Sendable, Equatable {
  /// The conversations.
  public let conversations: ConversationSlice
  /// The differences from the previous value; for the first value, from an empty list.
  ///
  /// A list of conversations has only the older of the two edges.
  public let differences: LiveDifferences

  /// Creates a value, for previews and tests of views.
  ///
  /// - Parameters:
  ///   - conversations: The conversations.
  ///   - differences: The differences from the previous value.
  public init(
    _ conversations: ConversationSlice, differences: LiveDifferences = LiveDifferences()
  ) {
    self.conversations = conversations
    self.differences = differences
  }

  /// Returns the differences from any other value of the same list, such as the one that a list on
  /// screen still shows after values that it has skipped.
  ///
  /// - Parameter shown: The other value; nil for an empty list.
  public func differences(from shown: LiveConversationSlice?) -> LiveDifferences {
    LiveConversationsRequest.differences(from: shown?.conversations, to: conversations)
      ?? LiveDifferences()
  }
}

/// A live view of the head of the list of conversations.
///
/// Its iterators behave like those of `LiveThread`.
public struct LiveConversations: AsyncSequence, Sendable {
  /// The current list and its differences.
  public typealias Element = LiveConversationSlice
  /// An error that does not pass with time and ends the sequence, as in `LiveThread`.
  public typealias Failure = StoreError

  private weak var core: StoreCore?
  private let listeners: ChangeListeners
  private let request: LiveConversationsRequest

  init(_ store: MessageStore, _ request: LiveConversationsRequest) {
    core = store.core
    listeners = store.core.listeners
    self.request = request
  }

  /// Extends the list by up to `count` conversations.
  ///
  /// The next value of each iterator contains them; a list that is complete gives no new value. May
  /// be called from any thread.
  ///
  /// - Parameter count: The number of conversations; a negative number counts as 0.
  public func loadOlder(_ count: Int) { request.extent.extend(older: count) }

  /// Starts following the list.
  public func makeAsyncIterator() -> Iterator { Iterator(LiveReader(core, listeners, request)) }

  /// An iterator, whose copies share one listener; only one of them may await at a time.
  public struct Iterator: AsyncIteratorProtocol {
    private var reader: LiveReader<LiveConversationsRequest>

    init(_ reader: LiveReader<LiveConversationsRequest>) { self.reader = reader }

    /// Returns the list once it differs from the previous value; nil at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(StoreError) -> LiveConversationSlice? {
      try await reader.next(isolation: actor).map {
        LiveConversationSlice($0.content, differences: $0.differences)
      }
    }

    /// Returns the list if it differs from the previous value.
    package mutating func nextIfThere() throws -> LiveConversationSlice? {
      try reader.nextIfThere().map {
        LiveConversationSlice($0.content, differences: $0.differences)
      }
    }
  }
}

/// The part of the list to read.
struct LiveConversationsRequest: LiveRequest {
  private let count: Int
  private let isArchived: Bool
  let extent = LiveExtent()

  init(count: Int, isArchived: Bool) {
    self.count = count.clampedRequest
    self.isArchived = isArchived
  }

  var extensionCount: Int { extent.extensionCount }

  func attach(_ listener: ChangeListener) { extent.attach(listener) }

  mutating func read(_ chat: borrowing StoreSnapshot) throws(StoreError) -> ConversationSlice {
    // A count below 1 is refused, whatever was loaded since.
    let count = count < 1 ? count : count + extent.counts.older
    return isArchived
      ? try chat.archivedConversations(count: count) : try chat.conversations(count: count)
  }

  func isConcerned(by changes: StoreChanges, showing list: ConversationSlice) -> Bool {
    if changes.hasProfileChanges,
      list.contains(where: { changes.mayConcern($0.profiledMembers) })
    {
      return true
    }
    // Nothing is shown after this place; a list that is complete has no such place.
    let end = list.older
    for (id, changes) in changes.conversations {
      if let entry = changes.entry {
        // It may have been read in between.
        if changes.hasPassedPlaces { return true }
        let places = [entry.from, entry.to].map { place in
          place.flatMap { isInThisList($0) ? $0 : nil }
        }
        // Nothing may be left behind the end.
        if (places[0] == nil) != (places[1] == nil) { return true }
        for place in places.compactMap(\.self) {
          guard let end, place.isBehind(end) else { return true }
        }
      }
      // Receipts may change how a last message is shown.
      if changes.delivery != nil || !changes.messages.isEmpty || changes.coversAllMessages,
        list.contains(where: { $0.id == id })
      {
        return true
      }
    }
    return false
  }

  private func isInThisList(_ position: ConversationPosition) -> Bool {
    (position.place.section == .archived) == isArchived
  }

  static func differences(
    from old: ConversationSlice?, to new: ConversationSlice
  ) -> LiveDifferences? {
    var differences = LiveDifferences(
      old?.count ?? 0, new.count,
      order: { a, b in
        guard let place = old?[a].position else { return 1 }
        return new[b].position.isBehind(place) ? -1 : place.isBehind(new[b].position) ? 1 : 0
      },
      isSame: { old?[$0].id == new[$1].id ? old?[$0] == new[$1] : nil },
      oldName: { old?[$0].id }, newName: { new[$0].id },
      compare: { old?[$0] == new[$1] })
    guard let old else { return differences }
    differences.isOlderChanged = (old.older == nil) != (new.older == nil)
    return differences.isEmpty ? nil : differences
  }
}

extension ConversationPosition {
  /// Returns true if this position is further down the list than another.
  fileprivate func isBehind(_ other: ConversationPosition) -> Bool {
    if place.section != other.place.section {
      return place.section.rawValue < other.place.section.rawValue
    }
    if place.time != other.place.time { return place.time < other.place.time }
    return number < other.number
  }
}

extension MessageStore {
  /// The conversations of this store, to follow changes in their list.
  public var conversations: StoreConversations { StoreConversations(self) }
}
