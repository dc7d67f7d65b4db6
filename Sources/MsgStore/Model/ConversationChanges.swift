/// The changes that one or more commits made to one conversation.
public struct ConversationChanges: Sendable, Equatable {
  /// The most messages whose changes are listed one by one.
  public static let maximumMessageCount = 256

  /// The messages that were inserted, moved, changed, or removed, by id.
  public private(set) var messages: [MessageID: MessageChange] = [:]
  /// True if any message of the conversation may have changed, or may be found by another name or
  /// index: because too many changed, or because the conversation was deleted, renamed, or merged
  /// with another.
  ///
  /// `messages` is then empty and says nothing.
  public private(set) var coversAllMessages = false
  /// The positions between which delivery or reading may have changed, which can also change the
  /// shown status of the local member's own messages.
  ///
  /// A receipt covers all messages up to a position, so the messages are not listed one by one.
  public private(set) var delivery: ClosedRange<MessagePosition>?
  /// True if the set of known sequence numbers changed, so that a gap may have changed.
  public internal(set) var hasSequenceChanges = false
  /// The change of the conversation's list entry or of anything else about it: members, attributes,
  /// draft, counters, sync positions.
  ///
  /// An entry that came and went again has neither place, and is told all the same.
  public private(set) var entry: Entry?
  /// The messages with an attachment whose transfer reported progress, see
  /// `MessageStore.reportProgress(_:doneByteCount:of:message:in:)`.
  ///
  /// Progress is told without a commit. The beginning and the end of a transfer are commits, and
  /// listed in `messages`. If there are more than `maximumMessageCount`, `coversAllMessages` is
  /// true.
  public private(set) var progress: Set<MessageID> = []
  /// The current id, if the conversation was renamed or merged with another.
  ///
  /// Changes listed under the former id predate this; later changes are listed under the new id.
  public internal(set) var newID: ConversationID?

  /// A change of a conversation's entry in the lists.
  public struct Entry: Sendable, Equatable {
    /// The former position; nil if it was in no list.
    public let from: ConversationPosition?
    /// The current position; nil if it is in no list.
    public let to: ConversationPosition?

    /// Creates a change of an entry; returns nil if it was and is in no list.
    public init?(from: ConversationPosition?, to: ConversationPosition?) {
      if from == nil && to == nil { return nil }
      self.init(first: from, last: to)
    }

    fileprivate init(first: ConversationPosition?, last: ConversationPosition?) {
      (from, to) = (first, last)
    }
  }

  /// True if the list entry was for a while at a place that `entry` does not name.
  private(set) var hasPassedPlaces = false
  /// True if other messages may count as read by the local member.
  var hasReadingChanges = false

  init() {}

  /// Creates changes, for tests of a listener.
  ///
  /// - Parameters:
  ///   - messages: The messages that changed, by id; more than `maximumMessageCount` cover all.
  ///   - delivery: The positions between which delivery or reading may have changed.
  ///   - hasSequenceChanges: True if a gap may have changed.
  ///   - entry: The change of the conversation's list entry.
  ///   - progress: The messages with an attachment whose transfer reported progress.
  ///   - newID: The current id, if the conversation was renamed or merged.
  public init(
    messages: [MessageID: MessageChange], delivery: ClosedRange<MessagePosition>? = nil,
    hasSequenceChanges: Bool = false, entry: Entry? = nil, progress: Set<MessageID> = [],
    newID: ConversationID? = nil
  ) {
    self.delivery = delivery
    self.hasSequenceChanges = hasSequenceChanges
    self.entry = entry
    self.newID = newID
    for (id, change) in messages { add(change, of: id) }
    for id in progress { addProgress(of: id) }
  }

  var isEmpty: Bool {
    messages.isEmpty && !coversAllMessages && delivery == nil && !hasSequenceChanges
      && entry == nil && newID == nil && progress.isEmpty && !hasReadingChanges
  }

  /// True if the conversation's entry in a list may look different.
  var concernsList: Bool {
    entry != nil || newID != nil || delivery != nil || !messages.isEmpty || coversAllMessages
  }

  /// True if the messages shown by a thread may have changed.
  var concernsMessages: Bool {
    !messages.isEmpty || coversAllMessages || hasSequenceChanges || newID != nil
  }

  // MARK: Adding what comes next

  /// Adds a later change of the same commit, which nobody has seen without it.
  @inline(never)
  mutating func add(_ change: MessageChange?, of id: MessageID) {
    guard let change, !coversAllMessages else { return }
    if let old = messages[id] {
      messages[id] = old.followed(by: change)
    } else if messages.count < Self.maximumMessageCount {
      messages[id] = change
    } else {
      setAnyMessageChanged()
    }
  }

  mutating func addProgress(of id: MessageID) {
    if coversAllMessages { return }
    progress.insert(id)
    if progress.count > Self.maximumMessageCount { setAnyMessageChanged() }
  }

  mutating func setAnyMessageChanged() {
    (messages, progress) = ([:], [])
    coversAllMessages = true
  }

  mutating func addDelivery(_ range: ClosedRange<MessagePosition>) {
    guard let old = delivery else {
      delivery = range
      return
    }
    delivery = min(old.lowerBound, range.lowerBound)...max(old.upperBound, range.upperBound)
  }

  mutating func addEntry(from: ConversationPosition?, to: ConversationPosition?) {
    entry = if let entry { Entry(from: entry.from, to: to) } else { Entry(from: from, to: to) }
  }

  /// Marks the list entry as new under this id.
  mutating func beginEntry() { entry = Entry(from: nil, to: entry?.to) }

  /// Drops message changes that are now reported under another id.
  mutating func forgetMessages() {
    (messages, progress) = ([:], [])
    coversAllMessages = false
    delivery = nil
    hasSequenceChanges = false
    hasReadingChanges = false
  }

  /// Adds the changes of later commits.
  ///
  /// The store may have been read between the commits, so that nothing cancels out: whatever read
  /// came when, all that has changed since is named.
  mutating func add(_ later: ConversationChanges) {
    if let newID = later.newID {
      self.newID = newID
      forgetMessages()
    }
    if later.coversAllMessages { setAnyMessageChanged() }
    for (id, change) in later.messages {
      let isKnown = messages[id] != nil && !StoreDefect.undoneChangeDropped.isPlanted
      add(change, of: id)
      if isKnown, messages[id] == nil { add(.passing, of: id) }
    }
    for id in later.progress { addProgress(of: id) }
    if let range = later.delivery { addDelivery(range) }
    if later.hasSequenceChanges { hasSequenceChanges = true }
    if later.hasReadingChanges { hasReadingChanges = true }
    if later.hasPassedPlaces { hasPassedPlaces = true }
    guard let new = later.entry else { return }
    if let old = entry {
      if old.to != old.from, old.to != new.to { hasPassedPlaces = true }
      entry = Entry(first: old.from, last: new.to)
    } else {
      entry = new
    }
  }
}
