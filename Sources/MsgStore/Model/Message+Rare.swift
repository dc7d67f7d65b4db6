/// The fields that few messages have.
///
/// A message that was read decodes some of them when they are asked for: mentions, reactions,
/// attachments, the times of expiry and of an edit, the times of delivery and reading, the mark of
/// a history, and the client's own fields. The others, if it has any, are made with it.
@usableFromInline
struct RareFields: Equatable, Sendable {
  /// The name of the answered message, if it has more than 31 bytes.
  @usableFromInline var longReply: MessageID?
  @usableFromInline var localOrder: Int64 = 0
  /// The name in the message's position, if it differs from the id.
  @usableFromInline var keyName: MessageID?
  /// The id, if it differs from the name in the message's position.
  @usableFromInline var ownID: MessageID?
  @usableFromInline var mentions: [MemberID] = []
  @usableFromInline var reactions: [Reaction] = []
  @usableFromInline var countedReactions = CountedReactions()
  @usableFromInline var attachments: [MessageAttachment] = []
  @usableFromInline var tags: [MessageTag] = []
  @usableFromInline var expiresAt: Timestamp?
  @usableFromInline var editedAt: Timestamp?
  /// The server's own id of the edit.
  @usableFromInline var editName: MessageID?
  @usableFromInline var retractedAt: Timestamp?
  @usableFromInline var deliveredAt: Timestamp?
  @usableFromInline var readAt: Timestamp?
  @usableFromInline var retryAt: Timestamp?
  @usableFromInline var failure: SendFailure?
  @usableFromInline var retryCount = 0
  @usableFromInline var isRetracted = false
  @usableFromInline var hasHistory = false
  @usableFromInline var isAwaitingServer = false
  var ownFields = OwnFields()
  /// True if an own field without a name was set, which an insertion refuses.
  var hasUnnamedField = false

  init() {}
}

/// The rare fields of the messages of a slice, which are decoded when they are asked for.
protocol RareSource: AnyObject, Sendable {
  /// Returns the rare fields of a message.
  func rare(at index: Int) -> Message.Rare
}

/// The numbers of reactions to a message from a store.
///
/// They do not count in comparisons while the reactions themselves are listed, so a message equals
/// the one that was inserted.
@usableFromInline
struct CountedReactions: Sendable {
  @usableFromInline var all: [ReactionCount] = []
  var isListed = true

  init() {}

  init(_ all: [ReactionCount], isListed: Bool) {
    self.all = all
    self.isListed = isListed
  }
}

extension CountedReactions: Hashable {
  @usableFromInline
  static func == (a: Self, b: Self) -> Bool {
    a.isListed == b.isListed && (a.isListed || a.all == b.all)
  }

  @usableFromInline
  func hash(into hasher: inout Hasher) {
    if !isListed { hasher.combine(all) }
  }
}

extension Message {
  /// The members that the message mentions.
  public var mentions: [MemberID] {
    @inlinable get { rare?.fields.mentions ?? [] }
    set { setRare(\.mentions, newValue) }
  }

  /// The reactions, one for each member and emoji, sorted by member and emoji.
  ///
  /// A message read from a store with more than ``maximumListedReactionCount`` reactions has none
  /// here: `reactionCounts` has their numbers, and ``StoreReading/reactions(to:in:)`` all of them.
  public var reactions: [Reaction] {
    @inlinable get { rare?.fields.reactions ?? [] }
    set { setRare(\.reactions, newValue) }
  }

  /// The most reactions that a message from a store lists.
  public static let maximumListedReactionCount = 20

  /// The number of reactions with each emoji, in the order of the emoji's bytes.
  ///
  /// Of more than 256 emoji it has those that are used most, of equally used ones the first by
  /// their bytes; ``StoreReading/reactions(to:in:)`` has all.
  ///
  /// Set by the store, and not read from messages that are inserted. Two messages that list the
  /// same reactions are equal, whatever their numbers.
  public var reactionCounts: [ReactionCount] {
    @inlinable get { rare?.fields.countedReactions.all ?? [] }
  }

  /// The attachments, in the message's order.
  public var attachments: [MessageAttachment] {
    @inlinable get { rare?.fields.attachments ?? [] }
    set { setRare(\.attachments, newValue) }
  }

  /// The tags that were set on the message: ``MessageTag/link``, ``MessageTag/pinned``,
  /// ``MessageTag/starred``, then those of the client's own.
  ///
  /// Set by the store, and not read from messages that are inserted.
  public var tags: [MessageTag] {
    @inlinable get { rare?.fields.tags ?? [] }
  }

  /// The time at which the message expires; nil if it does not.
  ///
  /// From then on no snapshot of the store has the message, and its content is erased once the
  /// server's time has passed it, too: see <doc:ExpiringMessages>. Of several times for one message
  /// the earliest counts. A time that has passed is stored as any other.
  public var expiresAt: Timestamp? {
    @inlinable get { rare?.fields.expiresAt }
    set { setRare(\.expiresAt, newValue) }
  }

  /// The time at which the current text was written as an edit; nil if the message was never
  /// edited.
  public var editedAt: Timestamp? {
    @inlinable get { rare?.fields.editedAt }
    set { setRare(\.editedAt, newValue) }
  }

  /// The server's own id of the edit that the current text is from; nil if it has told none.
  ///
  /// A server that sends edits as events of their own names them by it, in a later retraction or
  /// an answer. It counts only with ``editedAt``, and goes with its edit when a later one replaces
  /// that; then it is in ``MessageVersion/serverName``. Costs its bytes in the message, and nothing
  /// without one.
  public var editServerName: MessageID? {
    @inlinable get { ownRare?.fields.editName }
    set { setRare(\.editName, newValue) }
  }

  /// True if the text has been edited.
  ///
  /// Earlier texts are in `StoreReading.history(of:in:)`.
  public var isEdited: Bool {
    @inlinable get { rare?.fields.editedAt != nil }
  }

  /// True if the author retracted the message.
  ///
  /// It then has its id, place, sender, and times only.
  public var isRetracted: Bool {
    @inlinable get { ownRare?.fields.isRetracted ?? false }
    set { setRare(\.isRetracted, newValue) }
  }

  /// The time of the retraction; nil if unknown.
  public var retractedAt: Timestamp? {
    @inlinable get { ownRare?.fields.retractedAt }
    set { setRare(\.retractedAt, newValue) }
  }

  /// The earliest known time at which the message had reached a recipient's device.
  ///
  /// Of an own message with the status `delivered` or `read`, the times of the receipts that others
  /// sent count as well as a time told with a status. As of each member's marks the last eight are
  /// kept, a message below all of them has the time of the lowest. Receipts do not count in a
  /// conversation of more than 32 members, present and former; `StoreReading.readers(of:in:)` has
  /// the times of each member.
  public var deliveredAt: Timestamp? {
    @inlinable get { rare?.fields.deliveredAt }
    set { setRare(\.deliveredAt, newValue) }
  }

  /// The earliest known time at which the message had been read.
  ///
  /// Receipts count as they do for `deliveredAt`, once the status is `read`: in a group, when all
  /// active recipients have read the message. nil if no time was told.
  public var readAt: Timestamp? {
    @inlinable get { rare?.fields.readAt }
    set { setRare(\.readAt, newValue) }
  }

  /// The number of further attempts at sending; meaningless once the server has the message.
  public var retryCount: Int {
    @inlinable get { ownRare?.fields.retryCount ?? 0 }
    set { setRare(\.retryCount, newValue) }
  }

  /// The time of the next attempt while the status is `retrying`.
  public var retryAt: Timestamp? {
    @inlinable get { ownRare?.fields.retryAt }
    set { setRare(\.retryAt, newValue) }
  }

  /// The reason for the last failure to send, edit, or retract the message.
  public var failure: SendFailure? {
    @inlinable get { ownRare?.fields.failure }
    set { setRare(\.failure, newValue) }
  }

  /// The state of the message on its way to the server: waiting, on the server, or failed.
  ///
  /// An edit or retraction made here that the server has not confirmed also counts as waiting.
  public var syncStatus: SyncStatus {
    let status = status.syncStatus
    return status == .synced && ownRare?.fields.isAwaitingServer == true ? .pending : status
  }

  /// True if there are other versions of the text.
  public var hasHistory: Bool { rare?.fields.hasHistory ?? false }
}
