/// How a database is opened.
public struct DatabaseOptions: Sendable {
  /// Who may do what.
  public enum Access: Sendable {
    /// As the one owner; the file is created when there is none.
    case readWrite
    /// As one of many beside the owner. Takes no lock and writes nothing.
    case readOnly
  }

  /// The size of a page in bytes: 4096, 8192, 16384 or 32768. Fixed when the file is created, later
  /// ignored. 8192 held most messages a page for the least bytes a commit.
  public var pageByteCount = 8192

  /// How many bytes of pages are kept in memory, clean and changed ones together. An app extension,
  /// which the system gives little memory, sets this to 6 MiB.
  public var cacheByteCount = 16 << 20

  /// See `Access`.
  public var access = Access.readWrite

  /// The defaults.
  public init() {}

  /// How many bytes of pages one write transaction may change.
  static let dirtyByteCountMax = 64 << 20
}
