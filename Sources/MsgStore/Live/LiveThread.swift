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
  /// - Parameters:
  ///   - count: The maximum number of messages, 1 or more; `LiveThread.loadOlder(_:)` raises it.
  ///   - countsReceipts: True to follow how many recipients have received and read the local
  ///     member's messages; see `LiveSlice.deliveries`.
  public func live(newest count: Int, countsReceipts: Bool = false) -> LiveThread {
    live(at: .end, count, countsReceipts)
  }

  /// Returns a message with its neighbours, as in `MessageThread.around(_:count:)`, with their
  /// changes.
  ///
  /// The sequence follows the message when it moves and stays at its last place when it is deleted.
  /// The slice is empty until the message arrives. Otherwise it behaves like
  /// `live(newest:countsReceipts:)`.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - count: The maximum number of messages, 1 or more; `LiveThread.loadOlder(_:)` and
  ///     `loadNewer(_:)` raise it.
  ///   - countsReceipts: True to follow receipts; see `LiveSlice.deliveries`.
  public func live(
    around message: MessageID, count: Int, countsReceipts: Bool = false
  ) -> LiveThread {
    live(at: .message(message), count, countsReceipts)
  }

  /// Returns the first message at or after a server time with its neighbours, as in
  /// `MessageThread.at(_:count:)`, with their changes.
  ///
  /// The part stays at this time whatever arrives before or after it. Otherwise it behaves like
  /// `live(around:count:countsReceipts:)`.
  ///
  /// - Parameters:
  ///   - time: The server time.
  ///   - count: The maximum number of messages, 1 or more.
  ///   - countsReceipts: True to follow receipts; see `LiveSlice.deliveries`.
  public func live(
    at time: Timestamp, count: Int, countsReceipts: Bool = false
  ) -> LiveThread {
    live(at: .position(.start(of: time)), count, countsReceipts)
  }

  /// Returns the first unread message with its neighbours, as in
  /// `MessageThread.firstUnread(count:)`, with their changes.
  ///
  /// The message is looked up once, in the same snapshot as the first value. Marking messages as
  /// read later does not move the part. If no message is unread then, it behaves like
  /// `live(newest:countsReceipts:)`.
  ///
  /// - Parameters:
  ///   - count: The maximum number of messages, 1 or more.
  ///   - countsReceipts: True to follow receipts; see `LiveSlice.deliveries`.
  public func live(firstUnread count: Int, countsReceipts: Bool = false) -> LiveThread {
    live(at: .firstUnread, count, countsReceipts)
  }

  /// Returns the newest messages that answer a message, with their changes; see `MessageReplies`.
  ///
  /// The answered message need not be here, now or later. Otherwise it behaves like
  /// `live(newest:countsReceipts:)`; `LiveThread.loadOlder(_:)` shows older replies.
  ///
  /// - Parameters:
  ///   - message: Any name of the answered message.
  ///   - count: The maximum number of replies, 1 or more.
  ///   - countsReceipts: True to follow receipts; see `LiveSlice.deliveries`.
  public func live(
    repliesTo message: MessageID, newest count: Int, countsReceipts: Bool = false
  ) -> LiveThread {
    live(at: .replies(to: message), count, countsReceipts)
  }

  /// Returns the newest messages with a tag, as in `TaggedMessages.tail(_:)`, with their changes.
  ///
  /// Otherwise it behaves like `live(newest:countsReceipts:)`.
  ///
  /// - Parameters:
  ///   - tag: The tag.
  ///   - count: The maximum number of messages, 1 or more; `LiveThread.loadOlder(_:)` raises it.
  ///   - countsReceipts: True to follow receipts; see `LiveSlice.deliveries`.
  public func live(
    tagged tag: MessageTag, newest count: Int, countsReceipts: Bool = false
  ) -> LiveThread {
    live(at: .tagged(tag), count, countsReceipts)
  }

  private func live(
    at pin: LiveThreadRequest.Pin, _ count: Int, _ countsReceipts: Bool
  ) -> LiveThread {
    LiveThread(
      store,
      LiveThreadRequest(
        conversation: id, pin: pin, count: count, countsReceipts: countsReceipts))
  }
}

extension MessagePosition {
  /// The first position of a server time: before all sequences and ids.
  static func start(of time: Timestamp) -> MessagePosition {
    MessagePosition(.acknowledged(time.microseconds, sequence: .min), "")
  }
}

/// The current part of a thread and its differences from the previous value.
public struct LiveSlice: Sendable, Equatable {
  /// The messages.
  public let slice: MessageSlice
  /// The differences from the previous value; for the first value, from an empty slice.
  ///
  /// A message is `changed` also if only the profile of its author changed, or, where receipts are
  /// counted, its delivery or its reading.
  public let differences: LiveDifferences
  /// The delivery of the local member's acknowledged messages, by index; nil for all others.
  ///
  /// Empty unless the sequence counts receipts.
  public let deliveries: [Delivery?]
  /// True for each message that the local member has not read, by index.
  ///
  /// Empty unless the sequence counts receipts.
  public let unread: [Bool]

  /// Creates a value, for previews and tests of views.
  ///
  /// - Parameters:
  ///   - slice: The messages.
  ///   - differences: The differences from the previous value.
  ///   - deliveries: One element for each message, or none.
  ///   - unread: One element for each message, or none.
  public init(
    _ slice: MessageSlice, differences: LiveDifferences = LiveDifferences(),
    deliveries: [Delivery?] = [], unread: [Bool] = []
  ) {
    self.slice = slice
    self.differences = differences
    self.deliveries = deliveries
    self.unread = unread
  }

  /// Returns the differences from any other value of the same thread, such as the one that a list
  /// on screen still shows after values that it has skipped.
  ///
  /// - Parameter shown: The other value; nil for an empty slice.
  public func differences(from shown: LiveSlice?) -> LiveDifferences {
    LiveThreadRequest.differences(from: shown?.content, to: content) ?? LiveDifferences()
  }

  private var content: LiveThreadRequest.Content {
    LiveThreadRequest.Content(slice: slice, deliveries: deliveries, unread: unread)
  }
}

/// A live view of a part of a thread.
///
/// Each iterator starts anew and has its own position. A slow one gets the newest value, with the
/// differences from the one that it had. After a commit to the thread the part is read again on the
/// thread of the caller, which costs microseconds whatever the length of the thread. Only where the
/// receipts of a large group are counted it is read on one of the store's own threads. The sequence
/// ends with its task and with the store, which it does not keep open.
///
/// The part grows by `loadOlder(_:)` and `loadNewer(_:)`. All iterators of the sequence and of its
/// copies show the larger part, and their differences say which messages were added.
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

  /// Extends the part by up to `count` older messages.
  ///
  /// The next value contains them; a part that begins the thread gives no new value. The part keeps
  /// its length: as new messages arrive at its end, the oldest leave it again. Costs nothing by
  /// itself and may be called from any thread, also before the first value.
  ///
  /// - Parameter count: The number of messages; a negative number counts as 0.
  public func loadOlder(_ count: Int) { request.extent.extend(older: count) }

  /// Extends the part by up to `count` newer messages, as `loadOlder(_:)` does by older ones.
  ///
  /// Changes nothing in a part that reaches to the newest message anyway.
  ///
  /// - Parameter count: The number of messages; a negative number counts as 0.
  public func loadNewer(_ count: Int) { request.extent.extend(newer: count) }

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
      try await reader.next(isolation: actor).map(LiveSlice.init)
    }

    /// Returns the part if it differs from the previous value.
    package mutating func nextIfThere() throws -> LiveSlice? {
      try reader.nextIfThere().map(LiveSlice.init)
    }
  }
}

extension LiveSlice {
  fileprivate init(_ value: LiveReader<LiveThreadRequest>.Value) {
    self.init(
      value.content.slice, differences: value.differences, deliveries: value.content.deliveries,
      unread: value.content.unread)
  }
}

/// The part of a thread to read.
struct LiveThreadRequest: LiveRequest {
  /// The anchor of the part.
  enum Pin: Sendable {
    case end
    case message(MessageID)
    case position(MessagePosition)
    /// The first unread message, until the first read replaces it by that message or by the end.
    case firstUnread
    /// The newest messages that answer one.
    case replies(to: MessageID)
    /// The newest messages with a tag.
    case tagged(MessageTag)
  }

  struct Content: Sendable {
    let slice: MessageSlice
    let deliveries: [Delivery?]
    let unread: [Bool]
  }

  /// The conversation's id at the last read.
  private(set) var conversation: ConversationID
  private var pin: Pin
  let count: Int
  let countsReceipts: Bool
  let extent = LiveExtent()
  /// The message's position at the last read.
  private var position: MessagePosition?

  init(conversation: ConversationID, pin: Pin, count: Int, countsReceipts: Bool) {
    self.conversation = conversation
    self.pin = pin
    self.count = count.clampedRequest
    self.countsReceipts = countsReceipts
  }

  var extensionCount: Int { extent.extensionCount }

  func attach(_ listener: ChangeListener) { extent.attach(listener) }

  mutating func read(_ chat: borrowing StoreSnapshot) throws(StoreError) -> Content {
    let thread = try chat.thread(conversation)
    if case .firstUnread = pin {
      pin = try thread.firstUnread().map { .message($0.id) } ?? .end
    }
    let slice =
      if case .replies(let id) = pin {
        try replies(to: id, chat)
      } else {
        try slice(of: thread)
      }
    conversation = slice.content.origin.conversation
    let deliveries = countsReceipts ? try chat.deliveries(of: slice) : []
    let unread = countsReceipts ? try chat.unread(in: slice) : []
    return Content(slice: slice, deliveries: deliveries, unread: unread)
  }

  private func replies(
    to id: MessageID, _ chat: borrowing StoreSnapshot
  ) throws(StoreError) -> MessageSlice {
    let older = extent.counts.older
    return try chat.replies(to: id, in: conversation).newest(count < 1 ? count : count + older)
  }

  private mutating func slice(
    of thread: borrowing MessageThread
  ) throws(StoreError) -> MessageSlice {
    let (older, newer) = extent.counts
    switch pin {
    case .end, .firstUnread, .replies:
      // A count below 1 is refused, whatever was loaded since.
      return try thread.tail(count < 1 ? count : count + older)
    case .tagged(let tag):
      return try thread.tagged(tag).tail(count < 1 ? count : count + older)
    case .position(let position):
      return try thread.around(position, count: count, older: older, newer: newer)
    case .message(let id):
      position = try thread.position(of: id) ?? position
      guard let position else { return try thread.before(.start, count: count) }
      return try thread.around(position, count: count, older: older, newer: newer)
    }
  }

  func isConcerned(by changes: StoreChanges, showing content: Content) -> Bool {
    if changes.hasProfileChanges, changes.mayConcern(content.slice.content.origin.senders) {
      return true
    }
    guard let changes = changes.conversations[conversation] else { return false }
    if changes.concernsMessages { return true }
    if countsReceipts, changes.hasReadingChanges { return true }
    // Also names all places if members come or go.
    guard let delivery = changes.delivery, let first = content.slice.first,
      let last = content.slice.last
    else { return false }
    return delivery.overlaps(first.position...last.position)
  }

  func isSlow(showing content: Content) -> Bool {
    content.deliveries.contains { ($0?.recipientCount ?? 0) > Self.maximumQuickRecipientCount }
  }

  /// The greatest number of recipients whose receipts are counted on the caller's thread.
  private static let maximumQuickRecipientCount = 200

  static func differences(from old: Content?, to new: Content) -> LiveDifferences? {
    let (a, b) = (old?.slice.content, new.slice.content)
    func isDeliverySame(_ index: Int, _ newIndex: Int) -> Bool {
      guard let old, !old.deliveries.isEmpty, !new.deliveries.isEmpty else { return true }
      return old.deliveries[index] == new.deliveries[newIndex]
        && old.unread[index] == new.unread[newIndex]
    }
    var differences = LiveDifferences(
      a?.count ?? 0, b.count,
      order: { a?.order($0, b, $1) ?? 1 },
      isSame: { index, newIndex in
        a?.isSame(index, b, newIndex).map { $0 && isDeliverySame(index, newIndex) }
      },
      oldName: { a?.message(at: $0).id },
      newName: { b.message(at: $0).id },
      compare: { a?.looksSame($0, b, $1) == true && isDeliverySame($0, $1) })
    guard let old else { return differences }
    differences.isOlderChanged = old.slice.older != new.slice.older
    differences.isNewerChanged = old.slice.newer != new.slice.newer
    return differences.isEmpty ? nil : differences
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
