/// The place of a message in its conversation: what slices are read before, after and around.
///
/// A position stays meaningful when its message moves or is deleted: it is a place between the
/// others, in the thread's total order; see docs/message-format.md, K-6.
///  1. Acknowledged messages come first: by server time, then sequence, one without a sequence
///     behind all that have one, then by the bytes of the id.
///  2. Pending ones follow: by local time, then in the order in which they were written here.
public struct Position: Sendable, Hashable, Comparable {
  package let place: Place
  package let id: MessageID

  package init(_ place: Place, _ id: MessageID) {
    self.place = place
    self.id = id
  }

  /// Before every message.
  ///
  /// Its id is never written or shown.
  package static let start = Position(.start, "")
  /// Behind every acknowledged message and before every pending one.
  static let firstPending = Position(.pending(.min, localOrder: .min), "")
  /// Behind every message.
  package static let end = Position(.end, "")

  /// Order in the thread.
  public static func < (a: Position, b: Position) -> Bool {
    a.place == b.place ? a.id < b.id : Place.precedes(a.place, b.place)
  }
}
