/// How a database is opened.
public struct DatabaseOptions: Sendable {
  /// Who may do what.
  public enum Access: Sendable {
    /// As the one owner; the file is created when there is none.
    case readWrite
    /// As one of many beside the owner. Takes no lock and writes nothing.
    case readOnly
  }

  /// The size of a page in bytes: 4096, 8192, 16384 or 32768.
  ///
  /// Fixed when the file is created, later ignored. A commit copies and compares whole pages, and a
  /// page that is not in the cache is read whole: the smallest size was the fastest
  /// (docs/decisions.md).
  public var pageByteCount = 4096

  /// How many bytes of pages are kept in memory, clean and changed ones together.
  ///
  /// An app extension, which the system gives little memory, sets this to 6 MiB.
  public var cacheByteCount = 16 << 20

  /// Whether transactions can erase what they remove from all files, see
  /// `WriteTransaction.eraseSecurely`.
  public var secureDelete = true

  /// See `Access`.
  public var access = Access.readWrite

  /// Where background work runs.
  package enum BackgroundWork: Sendable {
    /// On a thread of the database's own.
    case thread
    /// At the next `beginWrite`, on the thread that calls it, and when asked for: with one thread
    /// all that happens is decided by who calls what, so a run can be repeated.
    case caller
  }

  /// See `BackgroundWork`.
  package var backgroundWork = BackgroundWork.thread

  /// What store ids, generations and temporary names are made of.
  package var random: @Sendable () -> UInt64 = { .random(in: .min ... .max) }

  /// The defaults.
  public init() {}

  /// How many bytes of pages one write transaction may change.
  static let dirtyByteCountMax = 64 << 20

  /// At how many bytes of pages in the log writers wait for a checkpoint, however large the cache is.
  ///
  /// Whoever opens the store has to hold these in memory, and knows by this what no log may ask for.
  static let loggedByteCountMax = 32 << 20
}
