public import PageFile

/// Options for opening a store.
public struct StoreOptions: Sendable {
  /// The access mode of a store.
  public enum Access: Sendable, Hashable {
    /// Opens or creates a store; there is one owner at a time.
    case readWrite
    /// Opens an existing store beside its owner and writes nothing.
    case readOnly
  }

  /// The member whose store this is; their own messages are never unread to them.
  ///
  /// It is recorded in the store when first given, and giving another one later is an error. nil
  /// uses the recorded member.
  public var localMember: MemberID?
  /// The size of a page in bytes: 4096, 8192, 16384, or 32768.
  ///
  /// Fixed when the store is created.
  public var pageByteCount: Int
  /// The memory for pages, in bytes.
  ///
  /// It is taken as pages are read, and a store smaller than it takes no more than its size. Use
  /// less in an extension. Recently used names and members take at most three sixteenths of this
  /// in addition, or 192 KiB if that is more. With less than 16 MiB the store does not make a
  /// dictionary by itself, which briefly takes about 10 MB; `compact` does. Clamped to
  /// `DatabaseOptions.cacheByteCountRange`: 0 to 16 GiB.
  public var cacheByteCount: Int {
    didSet { cacheByteCount = DatabaseOptions.clamp(cacheByteCount: cacheByteCount) }
  }
  /// The default for `cacheByteCount`: 64 MiB on macOS, Linux, and Windows; 16 MiB on the systems
  /// of phones, which grant an app less memory.
  public static let defaultCacheByteCount = isDesktop ? 64 << 20 : 16 << 20
  /// The least `cacheByteCount` with which the store makes a dictionary by itself.
  static let dictionaryCacheByteCount = 16 << 20

  private static var isDesktop: Bool {
    #if os(macOS) || os(Linux) || os(Windows)
      true
    #else
      false
    #endif
  }
  /// The access mode.
  public var access: Access
  /// The source of the app's key, for an encrypted store; nil for a store without encryption.
  ///
  /// A store that is created is encrypted if this is given, and stays as it was created. The
  /// library `SealedPages` makes the value: `.aes256 { key }`. The store calls it at each opening
  /// and at each `resume`. The closure should not use the store, and must not wait for a call of it
  /// on another thread; during `resume`, calls of it throw `suspended` or `insideTransaction`.
  ///
  /// An encrypted store without its key is refused as `keyMissing`, and with another key as
  /// `wrongKey`; the closure throws `deviceLocked` if it cannot read the key just now. A store
  /// without encryption is refused as `notEncrypted` if a key is given: an app must not answer that
  /// by opening it without a key, or somebody else's store gets in.
  public var encryption: Encryption?
  /// The mark that the app has kept from `MessageStore.mark`; nil accepts any state of the store.
  ///
  /// A store that ends before the mark is refused as `rolledBack`, and so is a store that is
  /// missing altogether. So an older copy of the files in their place is found out. Keep the mark
  /// where backups and copies of the store do not bring it back, such as a keychain item for this
  /// device only.
  public var mark: LSN?
  /// Limits on composed texts.
  ///
  /// Received texts are not checked against them.
  public var textLimits = TextLimits()
  /// Limits on uploads.
  ///
  /// Received attachments are not checked against them.
  public var attachmentLimits = AttachmentLimits()
  /// True if `send` makes a conversation that is not there; false, the default, refuses the message
  /// as `conversation(.notFound)`.
  ///
  /// For a server that knows conversations by their messages only. The new conversation has no
  /// members and no outbox entry of its own.
  public var createsConversationsOnSend = false
  /// True if a new message brings an archived conversation back to the main list.
  ///
  /// A message counts if it is sent here or comes live (``Arrival/live``). A muted conversation
  /// stays in the archive.
  public var newMessagesLeaveArchive = false
  /// True if the list of conversations skips retracted messages and shows the message before
  /// instead.
  public var previewsSkipRetracted = false
  /// True if expired messages are erased as soon as the device's clock has passed their time.
  ///
  /// False, the default, waits until a server time that the store has heard has passed it, too: a
  /// clock that is ahead then hides messages and destroys none. For a client without a server.
  public var erasesExpiredByClock = false
  /// The maximum age at which one's own message can be retracted; nil allows any age.
  ///
  /// The age is measured in server times, up to the newest message of the conversation. The
  /// device's clock is not used, so a message in a quiet conversation may be older; the server
  /// decides. The default is 24 hours.
  public var maximumRetractionAge: Duration? = .seconds(24 * 3600)
  /// The maximum age at which one's own message can be edited; nil, the default, allows any age.
  ///
  /// Measured as for `maximumRetractionAge`. Edits that are received are not checked against it.
  public var maximumEditAge: Duration?
  /// The behaviour of the outbox: what it accepts, and how long it keeps trying.
  public var outbox = OutboxOptions()
  /// The device's clock, for anything that has no time of its own.
  public var clock: @Sendable () -> Timestamp

  /// Waits until a duration has passed or the task is cancelled.
  ///
  /// Tests may replace it to return at once.
  package var sleep: @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
  /// The most absent messages for which facts wait.
  package var maximumWaitingCount = 10_000
  /// The most members of a conversation that are stored in one value.
  ///
  /// Tests may lower it to get cells of members in a small group.
  package var maximumInlineMemberCount = 32
  /// Limits on the work that one commit does.
  ///
  /// Tests may lower them to get many commits.
  package var steps = StepSizes()
  /// The time after which a snapshot expires that holds messages which have been erased since,
  /// because they had expired.
  ///
  /// Tests may shorten it.
  package var maximumExpiredReading = Duration.seconds(60)
  /// True if long work continues by itself after the write that began it, and a quiet store moves
  /// its log to the data file.
  ///
  /// Tests may turn this off.
  package var worksInBackground = true
  /// True if the store prunes once a day by itself.
  ///
  /// Off where a store is made from another one, which it is to equal.
  package var prunesByItself = true
  /// True if older messages are packed, as threads grow and in compaction.
  ///
  /// Tests may turn this off to keep every message in a cell of its own.
  package var packs = true
  /// The sizes for packing.
  ///
  /// Tests may choose many small segments in a small store.
  package var packing = PackingSizes()

  /// Creates options whose defaults suit an app.
  @inline(never)
  public init(
    localMember: MemberID? = nil, pageByteCount: Int = 4096,
    cacheByteCount: Int = Self.defaultCacheByteCount,
    access: Access = .readWrite,
    clock: @escaping @Sendable () -> Timestamp = StoreOptions.systemClock
  ) {
    self.localMember = localMember
    self.pageByteCount = pageByteCount
    self.cacheByteCount = DatabaseOptions.clamp(cacheByteCount: cacheByteCount)
    self.access = access
    self.clock = clock
  }

  /// Returns the time of the system's clock.
  @Sendable public static func systemClock() -> Timestamp {
    Timestamp(microseconds: WallClock.microseconds())
  }

  var rules: StoreRules {
    var outbox = outbox
    outbox.receiptForm = outbox.receiptForm.clamped
    return StoreRules(
      textLimits: textLimits, attachmentLimits: attachmentLimits,
      outbox: outbox, previewsSkipRetracted: previewsSkipRetracted,
      maximumWaitingCount: maximumWaitingCount,
      maximumInlineMemberCount: maximumInlineMemberCount,
      packs: packs, packing: packing, steps: steps, maximumRetractionAge: maximumRetractionAge,
      maximumEditAge: maximumEditAge, createsConversationsOnSend: createsConversationsOnSend,
      newMessagesLeaveArchive: newMessagesLeaveArchive,
      erasesExpiredByClock: erasesExpiredByClock, maximumExpiredReading: maximumExpiredReading)
  }

  var database: DatabaseOptions {
    var options = DatabaseOptions()
    options.pageByteCount = pageByteCount
    options.cacheByteCount = cacheByteCount
    options.access = access == .readOnly ? .readOnly : .readWrite
    options.encryption = encryption
    options.mark = mark
    options.movesLogWhenQuiet = worksInBackground
    return options
  }
}

/// The rules of an open store: limits for the local member, preview behaviour, and work sizes.
struct StoreRules: Sendable {
  var textLimits = TextLimits()
  var attachmentLimits = AttachmentLimits()
  var outbox = OutboxOptions()
  var previewsSkipRetracted = false
  var maximumWaitingCount = 10_000
  var maximumInlineMemberCount = 32
  var packs = true
  var packing = PackingSizes()
  var steps = StepSizes()
  var maximumRetractionAge: Duration?
  var maximumEditAge: Duration?
  var createsConversationsOnSend = false
  var newMessagesLeaveArchive = false
  var erasesExpiredByClock = false
  var maximumExpiredReading = Duration.seconds(60)
}
