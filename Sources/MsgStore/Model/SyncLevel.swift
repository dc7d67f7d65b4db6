internal import PageFile

/// How safe a write is when it returns.
public enum SyncLevel: Sendable, Hashable {
  /// On the disk. What the user wrote is written so.
  case full
  /// Visible, in order, and safe when the process is killed; a power cut may take it back, with all
  /// that came after it. Durable with the next `full` write or checkpoint. For what the server sends
  /// and would send again.
  case relaxed

  /// The same for the layer below.
  var pageLevel: PageFile.SyncLevel {
    switch self {
    case .full: .full
    case .relaxed: .relaxed
    }
  }
}
