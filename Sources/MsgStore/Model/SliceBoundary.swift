/// The reason why a slice ends.
public enum SliceBoundary: Sendable, Hashable {
  /// The thread ends here.
  case end
  /// More messages follow.
  ///
  /// Continue with `before(_:count:)` or `after(_:count:)` from this position.
  case more(MessagePosition)
  /// Sequence numbers are missing here: messages that this store has not received.
  ///
  /// The range is the run of missing numbers nearest to the slice; there may be further runs behind
  /// it, up to the next message. A client can fetch the missing messages, or skip the gap by
  /// calling `before(_:count:)` or `after(_:count:)` with the position.
  case gap(ClosedRange<Int64>, beyond: MessagePosition)

  /// Messages were pruned here, see ``Retention``.
  ///
  /// There may be messages beyond that pruning has spared: then `beyond` is the position to
  /// continue from, as across a gap. It is nil if the rest of the thread was pruned. Messages of
  /// one server time without sequences are never separated.
  case pruned(beyond: MessagePosition?)

  /// The position to continue from, also across a gap or pruned messages; nil at the end of the
  /// thread.
  public var next: MessagePosition? {
    switch self {
    case .end: nil
    case .more(let position), .gap(_, beyond: let position): position
    case .pruned(beyond: let position): position
    }
  }
}
