/// The durability of a transaction when its commit returns.
public enum SyncLevel: Sendable, Hashable {
  /// The commit is on the disk. Linux: `fdatasync`; Apple platforms: `F_FULLFSYNC`.
  case full
  /// The commit is visible, in order, and survives the death of the process. A power cut may take
  /// it back, with all later commits. It becomes durable with the next `full` commit or checkpoint.
  case relaxed
}
