/// Why a slice ends where it does.
public enum Edge: Sendable, Hashable {
  /// Nothing lies beyond.
  case end
  /// Messages lie beyond: read on with `before(_:count:)` or `after(_:count:)` from this position.
  case more(Position)
}
