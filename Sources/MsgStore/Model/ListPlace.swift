/// Where a conversation stands in the lists: its section, and the time it is listed under.
///
/// See docs/message-format.md, S-8. Read backwards, pinned conversations come first, then the others,
/// then archived ones, which are a list of their own.
struct ListPlace: Hashable {
  enum Section: UInt8 {
    case archived = 0
    case normal = 1
    case pinned = 2
  }

  var section: Section
  var time: Int64
}
