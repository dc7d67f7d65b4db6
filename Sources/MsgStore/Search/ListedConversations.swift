import PageFile

/// The conversations of the lists in one order, newest activity first: pinned, other and archived
/// ones.
struct ListedConversations {
  private static let batchCount = 256

  private struct Section {
    /// The key before which the rest lies; nil at the end of the section.
    var end: ByteArrayKey?
    /// The next conversations, the last one first.
    var batch: [SearchTime] = []
  }
  private typealias ByteArrayKey = [UInt8]

  private var sections: [Section]

  /// Begins with the newest conversation, or has none.
  init(_ view: StoreView, isEmpty: Bool) throws(StoreError) {
    sections = []
    if isEmpty { return }
    for section in [ListPlace.Section.archived, .normal, .pinned] {
      let end = ListPlace(section: section, time: .max).key(.max)
      sections.append(Section(end: end.bytes.array()))
      try fill(sections.count - 1, view)
    }
    findFirst()
  }

  /// The next conversation, and the time it is listed under.
  private(set) var first: SearchTime?

  private mutating func findFirst() {
    first = nil
    for section in sections {
      guard let next = section.batch.last else { continue }
      if first.map({ $0 < next }) ?? true { first = next }
    }
  }

  mutating func removeFirst(_ view: StoreView) throws(StoreError) {
    guard let first, let index = sections.firstIndex(where: { $0.batch.last == first }) else {
      return
    }
    if sections[index].batch.count == 1 { try fill(index, view) }
    // The next ones were put below it.
    sections[index].batch.removeLast()
    findFirst()
  }

  /// Puts the next batch of a section below what is left of the last one.
  private mutating func fill(_ index: Int, _ view: StoreView) throws(StoreError) {
    guard let end = sections[index].end else { return }
    var found: [SearchTime] = []
    var key = ByteBuffer()
    var cursor = Cursor(view.source, Schema.activity)
    try Bytes.with(end) { (end) throws(StoreError) in
      try storage { () throws(PageFileError) in
        _ = try cursor.seek(end)
        if !cursor.isAtCell || cursor.compareKey(to: end) > 0 { _ = try cursor.previous() }
      }
    }
    while cursor.isAtCell, found.count < Self.batchCount {
      key.removeAll()
      cursor.appendKey(to: &key)
      guard let entry = ListPlace.parts(key.bytes) else {
        throw view.corrupt(Schema.activity, "malformed key (\(key.count) bytes)")
      }
      guard key.bytes[0] == end[0] else { break }
      found.append(SearchTime(microseconds: entry.place.time, conversation: entry.number))
      try storage { () throws(PageFileError) in _ = try cursor.previous() }
    }
    let isMore = found.count == Self.batchCount && cursor.isAtCell
    key.removeAll()
    if isMore { cursor.appendKey(to: &key) }
    sections[index].end = isMore ? key.bytes.array() : nil
    sections[index].batch.insert(contentsOf: found.reversed(), at: 0)
  }
}
