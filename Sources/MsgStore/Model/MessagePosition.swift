/// The position of a message in its conversation, relative to which slices are read.
///
/// A position stays valid when its message moves or is deleted: it is a place between the others,
/// in the total order of the thread. See docs/message-format.md, K-6.
/// 1. Acknowledged messages come first: by server time, then by sequence, one without a sequence
///    after all that have one, then by the bytes of the id.
/// 2. Pending messages follow: by local time, then in the order in which they were written here.
public struct MessagePosition: Sendable, Hashable, Comparable {
  package let place: Place
  package let id: MessageID

  package init(_ place: Place, _ id: MessageID) {
    self.place = place
    self.id = id
  }

  /// The position before every message.
  ///
  /// Its id is never written or shown.
  package static let start = MessagePosition(.start, .empty)
  /// The position after every acknowledged message and before every pending one.
  static let firstPending = MessagePosition(.pending(.min, localOrder: .min), .empty)
  /// The position after every message.
  package static let end = MessagePosition(.end, .empty)

  /// Orders by place in the thread.
  public static func < (a: MessagePosition, b: MessagePosition) -> Bool {
    a.place == b.place ? a.id < b.id : Place.precedes(a.place, b.place)
  }

  /// Returns `self < other`, for sorts, into which the comparison would be copied nine times.
  @inline(never)
  func precedes(_ other: MessagePosition) -> Bool { self < other }
}
