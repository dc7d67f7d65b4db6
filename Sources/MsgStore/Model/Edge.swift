/// Why a slice ends where it does.
public enum Edge: Sendable, Hashable {
  /// Nothing lies beyond.
  case end
  /// Messages lie beyond: read on with `before(_:count:)` or `after(_:count:)` from this position.
  case more(Position)
  /// Sequence numbers are missing here: messages that this store has not been given.
  ///
  /// The range is the run of missing numbers nearest to the slice; there may be others behind it, up
  /// to the next message. Whoever can fetches them; whoever cannot reads on beyond them with
  /// `before(_:count:)` or `after(_:count:)` from the position.
  case gap(ClosedRange<Int64>, beyond: Position)

  /// Where to read on, past a gap too; nil at the end of the thread.
  public var next: Position? {
    switch self {
    case .end: nil
    case .more(let position), .gap(_, beyond: let position): position
    }
  }
}
