/// The reason why a move ended before it was complete.
public enum MoveError: Error, Sendable {
  /// SQLite reports a fault.
  case sqlite(String)
  /// The new store has conversations that no move has brought there.
  case storeInUse
  /// The new store differs from the old file, in these first places.
  case different([String])
}

extension MoveError: CustomStringConvertible {
  /// The error as a sentence.
  public var description: String {
    switch self {
    case .sqlite(let reason): "old file: \(reason)"
    case .storeInUse: "new store: already in use (its conversations did not come by a move)"
    case .different(let places): "new store: different from the old file (\(places))"
    }
  }
}
