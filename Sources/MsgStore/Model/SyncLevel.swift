/// The durability of a write when it returns.
public enum SyncLevel: Sendable, Hashable {
  /// On disk.
  ///
  /// Use it for content written by the user.
  case full
  /// Visible, ordered, and safe if the process is killed.
  ///
  /// A power failure may undo the write and all later ones. The next `full` write or checkpoint
  /// makes it durable. Use it for content that the server sends and would send again.
  case relaxed
}
