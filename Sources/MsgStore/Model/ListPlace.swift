/// The place of a conversation in the lists: its section and the time it is listed under.
///
/// See docs/message-format.md, S-8. Read backwards, pinned conversations come first, then unpinned
/// ones, then archived ones, which form a list of their own.
package struct ListPlace: Hashable {
  /// The sections of the lists, in ascending order.
  package enum Section: UInt8 {
    case archived = 0
    case normal = 1
    case pinned = 2
  }

  package internal(set) var section: Section
  package var time: Int64
}
