/// The options for opening a database.
public struct DatabaseOptions: Sendable {
  /// The kind of access to a store.
  public enum Access: Sendable {
    /// As the one owner; the file is created if it does not exist.
    case readWrite
    /// As one of many readers beside the owner.
    ///
    /// Takes no lock and writes nothing.
    case readOnly
  }

  /// The size of a page in bytes: 4096, 8192, 16384 or 32768.
  ///
  /// Fixed when the file is created, and ignored later. A commit copies and compares whole pages,
  /// and a page missing from the cache is read whole: the smallest size was the fastest
  /// (docs/decisions.md).
  public var pageByteCount = 4096

  /// The number of bytes of pages kept in memory, clean and changed ones together.
  ///
  /// An app extension, to which the system grants little memory, sets this to 6 MiB. Clamped to
  /// `cacheByteCountRange`; however few it allows, some 64 pages are kept.
  public var cacheByteCount = 16 << 20 {
    didSet { cacheByteCount = Self.clamp(cacheByteCount: cacheByteCount) }
  }

  /// The range of `cacheByteCount`: up to 16 GiB.
  ///
  /// The table of the cache has a place for each page that may be in it, so the option bounds it.
  public static let cacheByteCountRange = 0...16 << 30

  /// Returns the nearest number of bytes in `cacheByteCountRange`.
  package static func clamp(cacheByteCount: Int) -> Int {
    min(max(cacheByteCount, cacheByteCountRange.lowerBound), cacheByteCountRange.upperBound)
  }

  /// The source of the key of an encrypted store; nil for a store that is not encrypted.
  ///
  /// A store that is created is encrypted if this is given. It stays as it was created.
  public var encryption: Encryption?

  /// The mark that the app has kept from `Database.mark`, or nil to accept any state of the store.
  ///
  /// An opening that finds less throws `rolledBack`, also if there is no file at all. Keep the mark
  /// where a copy of the store does not bring it back: in the keychain, for this device only.
  public var mark: LSN?

  /// True if transactions can erase their removals from all files; see
  /// `WriteTransaction.eraseSecurely`.
  public var secureDelete = true

  /// The kind of access to the store.
  public var access = Access.readWrite

  /// The place where background work runs.
  package enum BackgroundWork: Sendable {
    /// On a thread of the database's own.
    case thread
    /// At the next `beginWrite`, on the calling thread, and on request.
    ///
    /// With a single thread the order of calls then decides everything, so a run can be repeated.
    case caller
  }

  /// The place where background work runs.
  package var backgroundWork = BackgroundWork.thread

  /// True if a store that is quiet for seconds moves its log to the data file.
  package var movesLogWhenQuiet = true

  /// The source of store ids, generations and temporary names.
  package var random: @Sendable () -> UInt64 = { .random(in: .min ... .max) }

  /// Creates the default options.
  public init() {}

  /// The number of bytes of pages that one write transaction may change.
  static let maximumDirtyByteCount = 64 << 20

  /// The number of bytes of pages in the log at which writers wait for a checkpoint, however large
  /// the cache is.
  ///
  /// An opening has to hold these pages in memory, and uses this limit to refuse a log that asks
  /// for more.
  static let maximumLoggedByteCount = 32 << 20
}

/// The source of the app's key for an encrypted database.
///
/// Made by a library that has a cipher: `SealedPages`, in a build with the trait `Encryption`.
public struct Encryption: Sendable {
  private let cipher: @Sendable () throws(PageFileError) -> (any PageCipher)?

  /// Creates a source from a closure that returns the cipher under the app's key, or nil if the key
  /// is not on this device.
  ///
  /// The closure throws `deviceLocked` if the key cannot be read now.
  package init(_ cipher: @escaping @Sendable () throws(PageFileError) -> (any PageCipher)?) {
    self.cipher = cipher
  }

  /// Returns the cipher under the app's key.
  /// - Throws: `keyMissing` if the app has no key; `invalidKey`; the error of the app's closure.
  package func makeCipher(path: String) throws(PageFileError) -> any PageCipher {
    guard let cipher = try cipher() else { throw .keyMissing(path: path) }
    return cipher
  }
}
