/// What one or several commits have changed in one conversation.
public struct ConversationChanges: Sendable, Hashable {
  /// Of so many messages at most it is told what has become of each.
  public static let messageCountMax = 256

  /// The messages that have come, moved, changed or gone, by their names.
  public private(set) var messages: [MessageID: MessageChange] = [:]
  /// Whether anything may have become of any of its messages: too many have changed, or the
  /// conversation was deleted, renamed, or made one with another.
  ///
  /// Then `messages` says nothing.
  public private(set) var isAnyMessageChanged = false
  /// Between which places messages may have been received or read by others than before, and one's
  /// own may show another status for that.
  ///
  /// A receipt covers all messages up to one, so they are not told one by one.
  public private(set) var delivery: ClosedRange<Position>?
  /// Whether other sequence numbers are known than before, so that a gap may be another.
  public internal(set) var hasSequenceChanges = false
  /// What has become of its entry in the lists, or of what else is known of the conversation: members,
  /// attributes, draft, counters.
  public private(set) var entry: Entry?
  /// Its name now, where it was renamed or made one with another conversation: what is told under this
  /// name is of the time before, and what has become of it since, under the new one.
  public internal(set) var newID: ConversationID?

  /// What has become of a conversation's entry in the lists.
  public struct Entry: Sendable, Hashable {
    /// Where it was; nil: it was in none of the lists.
    public let from: ConversationPosition?
    /// Where it is now; nil: it is in none of the lists.
    public let to: ConversationPosition?

    init?(from: ConversationPosition?, to: ConversationPosition?) {
      if from == nil && to == nil { return nil }
      self.from = from
      self.to = to
    }
  }

  init() {}

  var isEmpty: Bool {
    messages.isEmpty && !isAnyMessageChanged && delivery == nil && !hasSequenceChanges
      && entry == nil && newID == nil
  }

  /// Whether the messages that a thread shows may be others or look different.
  var concernsMessages: Bool {
    !messages.isEmpty || isAnyMessageChanged || hasSequenceChanges || newID != nil
  }

  // MARK: Adding what comes next

  mutating func add(_ change: MessageChange?, of id: MessageID) {
    guard let change, !isAnyMessageChanged else { return }
    if let old = messages[id] {
      messages[id] = old.followed(by: change)
    } else if messages.count < Self.messageCountMax {
      messages[id] = change
    } else {
      setAnyMessageChanged()
    }
  }

  mutating func setAnyMessageChanged() {
    messages = [:]
    isAnyMessageChanged = true
  }

  mutating func addDelivery(_ range: ClosedRange<Position>) {
    guard let old = delivery else {
      delivery = range
      return
    }
    delivery = min(old.lowerBound, range.lowerBound)...max(old.upperBound, range.upperBound)
  }

  mutating func addEntry(from: ConversationPosition?, to: ConversationPosition?) {
    entry = if let entry { Entry(from: entry.from, to: to) } else { Entry(from: from, to: to) }
  }

  /// What is in the lists under this name was not before.
  mutating func beginEntry() { entry = Entry(from: nil, to: entry?.to) }

  /// Forgets messages that are told under another name now.
  mutating func forgetMessages() {
    messages = [:]
    isAnyMessageChanged = false
    delivery = nil
    hasSequenceChanges = false
  }

  mutating func add(_ later: ConversationChanges) {
    if let newID = later.newID {
      self.newID = newID
      forgetMessages()
    }
    if later.isAnyMessageChanged { setAnyMessageChanged() }
    for (id, change) in later.messages { add(change, of: id) }
    if let range = later.delivery { addDelivery(range) }
    if later.hasSequenceChanges { hasSequenceChanges = true }
    if let entry = later.entry { addEntry(from: entry.from, to: entry.to) }
  }
}
