/// Where a conversation stands in the lists: its section, and the time it is listed under.
///
/// See docs/message-format.md, S-8. Read backwards, pinned conversations come first, then the others,
/// then archived ones, which are a list of their own.
package struct ListPlace: Hashable {
  package enum Section: UInt8 {
    case archived = 0
    case normal = 1
    case pinned = 2
  }

  package var section: Section
  package var time: Int64
}
