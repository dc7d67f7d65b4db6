/// What few messages have.
@usableFromInline
struct RareFields: Hashable, Sendable {
  @usableFromInline var replyTo: MessageID?
  @usableFromInline var localOrder: Int64
  /// The name in the message's position, where that is not its id.
  @usableFromInline var keyName: MessageID?
  /// Its id, where that is not the name in its position.
  @usableFromInline var ownID: MessageID?
  @usableFromInline var mentions: [MemberID] = []
  @usableFromInline var reactions: [Reaction] = []
  @usableFromInline var attachments: [Attachment] = []
  @usableFromInline var editedAt: Timestamp?
  @usableFromInline var deletedAt: Timestamp?
  @usableFromInline var deliveredAt: Timestamp?
  @usableFromInline var readAt: Timestamp?
  @usableFromInline var retryAt: Timestamp?
  @usableFromInline var failure: Failure?
  @usableFromInline var retryCount = 0
  @usableFromInline var isDeleted = false
  @usableFromInline var hasHistory = false
  @usableFromInline var isAwaitingServer = false

  init(replyTo: MessageID? = nil, localOrder: Int64 = 0) {
    self.replyTo = replyTo
    self.localOrder = localOrder
  }
}

extension Message {
  /// The members that it names.
  public var mentions: [MemberID] {
    @inlinable get { rare?.fields.mentions ?? [] }
    set { setRare(\.mentions, newValue) }
  }

  /// How members have reacted to it: one entry for each member and emoji, by member and emoji.
  public var reactions: [Reaction] {
    @inlinable get { rare?.fields.reactions ?? [] }
    set { setRare(\.reactions, newValue) }
  }

  /// What comes with it besides its text, in its order.
  public var attachments: [Attachment] {
    @inlinable get { rare?.fields.attachments ?? [] }
    set { setRare(\.attachments, newValue) }
  }

  /// When the text was written that it has now; nil while nobody has edited it.
  public var editedAt: Timestamp? {
    @inlinable get { rare?.fields.editedAt }
    set { setRare(\.editedAt, newValue) }
  }

  /// Whether the text has been edited.
  ///
  /// The earlier ones are in `StoreSnapshot.history(of:in:)`.
  public var isEdited: Bool {
    @inlinable get { rare?.fields.editedAt != nil }
  }

  /// Whether it was taken back by who wrote it: it has its id, place, sender and times, and nothing
  /// else.
  public var isDeleted: Bool {
    @inlinable get { rare?.fields.isDeleted ?? false }
    set { setRare(\.isDeleted, newValue) }
  }

  /// When it was taken back, where that is known.
  public var deletedAt: Timestamp? {
    @inlinable get { rare?.fields.deletedAt }
    set { setRare(\.deletedAt, newValue) }
  }

  /// The earliest time at which it is known to have reached a receiver's device.
  public var deliveredAt: Timestamp? {
    @inlinable get { rare?.fields.deliveredAt }
    set { setRare(\.deliveredAt, newValue) }
  }

  /// The earliest time at which it is known to have been read.
  public var readAt: Timestamp? {
    @inlinable get { rare?.fields.readAt }
    set { setRare(\.readAt, newValue) }
  }

  /// How often sending it has been tried again; says nothing once the server has it.
  public var retryCount: Int {
    @inlinable get { rare?.fields.retryCount ?? 0 }
    set { setRare(\.retryCount, newValue) }
  }

  /// When the next attempt is made, while it is `retrying`.
  public var retryAt: Timestamp? {
    @inlinable get { rare?.fields.retryAt }
    set { setRare(\.retryAt, newValue) }
  }

  /// Why sending it, editing it or taking it back has failed last.
  public var failure: Failure? {
    @inlinable get { rare?.fields.failure }
    set { setRare(\.failure, newValue) }
  }

  /// Whether it waits to be sent, is on the server, or has failed.
  ///
  /// An edit or unsend made here that the server has not confirmed waits, too.
  public var syncStatus: SyncStatus {
    let status = status.syncStatus
    return status == .synced && rare?.fields.isAwaitingServer == true ? .pending : status
  }

  /// Whether there are other versions of its text.
  public var hasHistory: Bool { rare?.fields.hasHistory ?? false }
}
