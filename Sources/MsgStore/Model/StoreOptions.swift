import PageFile

/// How a store is opened.
public struct StoreOptions: Sendable {
  /// Whether the store may be changed.
  public enum Access: Sendable, Hashable {
    /// Opens or creates; one owner at a time.
    case readWrite
    /// Opens what is there, beside its owner, and writes nothing.
    case readOnly
  }

  /// Whose store this is: their own messages are never unread to them.
  ///
  /// It is kept in the store the first time it is given, and giving another one later is an error.
  /// nil: what the store says.
  public var localMember: MemberID?
  /// The size of a page in bytes: 4096, 8192, 16384 or 32768.
  ///
  /// Fixed when the store is created.
  public var pageByteCount: Int
  /// How much memory pages may take, in bytes.
  ///
  /// Less suits an extension, more a large store. Names and members that were met lately take at most
  /// three sixteenths as much beside it, or 192 KiB if that is more. With less than `usualCacheByteCount` the store makes
  /// no dictionary by itself, which takes about 10 MB for a moment; `compact` does.
  public var cacheByteCount: Int
  /// What pages may take unless it is said otherwise: 16 MiB.
  public static let usualCacheByteCount = 16 << 20
  /// Whether the store may be changed.
  public var access: Access
  /// What a composed text may be.
  ///
  /// What is received is not held against it.
  public var textLimits = TextLimits()
  /// What may be uploaded.
  ///
  /// What is received is not held against it.
  public var attachmentLimits = AttachmentLimits()
  /// Whether the list of conversations shows the message before one that was taken back, instead of
  /// saying that one was.
  public var previewsSkipDeleted = false
  /// How old one's own message may be to be taken back; nil: any age.
  ///
  /// Its age is that of the server's times: how much later the newest message of its conversation is.
  /// The device's clock has no say, so one in a quiet conversation may be older; the server decides. 24
  /// hours by default.
  public var unsendAgeMax: Duration? = .seconds(24 * 3600)
  /// What goes into the outbox, and how long it keeps trying.
  public var outbox = OutboxOptions()
  /// The device's clock, for what comes without a time of its own.
  public var clock: @Sendable () -> Timestamp

  /// Returns when some time has passed, or the task is cancelled; tests may want it to pass at once.
  package var sleep: @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
  /// How many messages that are not here may have something that waits for them.
  package var waitingCountMax = 10_000
  /// How much of long work one commit does; tests may want many commits.
  package var steps = StepSizes()
  /// Whether long work goes on by itself after the write that began it; tests may want to wait.
  package var worksInBackground = true
  /// Whether settled messages are packed, as threads grow and in compaction; tests may want every
  /// message to have a cell of its own.
  package var packs = true
  /// How much is packed together, and when; tests may want many small segments in a small store.
  package var packing = PackingSizes()

  /// Options that suit an app on a phone, but for what is given.
  public init(
    localMember: MemberID? = nil, pageByteCount: Int = 4096,
    cacheByteCount: Int = Self.usualCacheByteCount,
    access: Access = .readWrite,
    clock: @escaping @Sendable () -> Timestamp = StoreOptions.systemClock
  ) {
    self.localMember = localMember
    self.pageByteCount = pageByteCount
    self.cacheByteCount = cacheByteCount
    self.access = access
    self.clock = clock
  }

  /// The system's clock.
  @Sendable public static func systemClock() -> Timestamp {
    Timestamp(microseconds: WallClock.microseconds())
  }

  var rules: StoreRules {
    var outbox = outbox
    outbox.receiptForm = outbox.receiptForm.clamped
    return StoreRules(
      textLimits: textLimits, attachmentLimits: attachmentLimits,
      outbox: outbox, previewsSkipDeleted: previewsSkipDeleted, waitingCountMax: waitingCountMax,
      packs: packs, packing: packing, steps: steps, unsendAgeMax: unsendAgeMax)
  }

  var database: DatabaseOptions {
    var options = DatabaseOptions()
    options.pageByteCount = pageByteCount
    options.cacheByteCount = cacheByteCount
    options.access = access == .readOnly ? .readOnly : .readWrite
    return options
  }
}

/// What binds the local member, what is shown, and how much is kept for what never comes.
struct StoreRules: Sendable {
  var textLimits = TextLimits()
  var attachmentLimits = AttachmentLimits()
  var outbox = OutboxOptions()
  var previewsSkipDeleted = false
  var waitingCountMax = 10_000
  var packs = true
  var packing = PackingSizes()
  var steps = StepSizes()
  var unsendAgeMax: Duration?
}
