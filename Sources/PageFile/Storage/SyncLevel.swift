/// How safe a transaction is when its commit returns.
public enum SyncLevel: Sendable, Hashable {
  /// On the disk. Linux: `fdatasync`; Apple platforms: `F_FULLFSYNC`.
  case full
  /// Visible, in order, and safe when the process is killed; a power cut may take it back, with all
  /// that came after it. Durable with the next `full` commit or checkpoint.
  case relaxed
}
