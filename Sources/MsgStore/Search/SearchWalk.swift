import PageFile

/// The walk of a search through all conversations, newest messages first.
///
///  1. A conversation is opened when no message that is left elsewhere is newer than its last
///     activity. From then on it is in a heap, by the time of its newest message not searched.
///  2. Each step searches a few cells of the first conversation of the heap. A match is handed out
///     once nothing that is left to search is newer.
///  3. Nothing is kept between steps but positions, so that pages are free to change.
struct SearchWalk: ~Copyable {
  private(set) var edge: SearchEdge
  private(set) var searchedCount = 0
  private let query: SearchQuery
  private var matcher: SearchMatcher
  private var lists: ListedConversations
  private let author: Author
  /// The time of the edge that the walk began at: what is newer is not searched any more.
  private let start: Int64?
  /// The conversation of the last match.
  private var known: Known?

  private struct Known {
    let number: UInt32
    /// nil if no list shows the conversation any more.
    let id: ConversationID?
    /// The time up to which messages are deleted, although some may still be there.
    let deletedUpTo: Int64
  }

  /// The maximum number of steps in one bracket, and of cells in one step.
  private static let maximumStepCount = 16
  private static let maximumCellCount = 4

  init(_ view: StoreView, _ edge: SearchEdge) throws(StoreError) {
    let query = edge.query
    var edge = edge
    let author = try Self.author(query, view)
    let isListed = query.conversation == nil && author != .nobody
    let lists = try ListedConversations(view, isEmpty: !isListed)
    if author != .nobody, let id = query.conversation, let number = try view.number(of: id),
      edge.opened.insert(number).inserted
    {
      edge.queue.push(.whole(number, newest: .max))
    }
    self.query = query
    matcher = SearchMatcher(query)
    start = edge.time?.microseconds
    self.author = author
    self.lists = lists
    self.edge = edge
  }

  /// The authors whose messages are found.
  private enum Author: Hashable {
    case anybody, nobody
    case member(UInt32)
  }

  private static func author(
    _ query: SearchQuery, _ view: StoreView
  ) throws(StoreError) -> Author {
    var author = Author.anybody
    if let id = query.sender {
      let number = try view.number(of: id)
      author = number.map(Author.member) ?? .nobody
    }
    guard query.isFromLocalMember else { return author }
    let local = view.localMember.map(Author.member) ?? .nobody
    return author == .anybody || author == local ? local : .nobody
  }

  /// The newest time that is not searched, or nil if all is.
  private var rest: SearchTime? {
    switch (edge.queue.first?.newest, lists.first) {
    case (let a?, let b?): max(a, b)
    case (let a, let b): a ?? b
    }
  }

  /// True once all messages have been searched and all matches handed out.
  var isDone: Bool { rest == nil && edge.found.first == nil }

  /// Returns the next message that matches, if it is known by now to be the next.
  mutating func nextHit(_ view: StoreView) throws(StoreError) -> SearchHit? {
    while let found = edge.found.first {
      if let rest, rest > found.time { return nil }
      let hit = try hit(found, view)
      _ = edge.found.popFirst()
      edge.time = Timestamp(microseconds: min(found.time.microseconds, start ?? .max))
      if let hit { return hit }
    }
    return nil
  }

  /// Searches on until a match can be handed out, but a limited number of cells.
  ///
  /// An edge taken after an error is as complete as one before.
  mutating func advance(_ view: StoreView) throws(StoreError) {
    var cells = Cells(view)
    for _ in 0..<Self.maximumStepCount {
      try step(&cells, view)
      guard let rest else { break }
      if let found = edge.found.first {
        if found.time >= rest { break }
      } else {
        edge.time = Timestamp(microseconds: min(rest.microseconds, start ?? .max))
      }
    }
  }

  /// Searches a few cells of the conversation with the newest messages that are left.
  private mutating func step(
    _ cells: inout Cells, _ view: StoreView
  ) throws(StoreError) {
    if let listed = lists.first, edge.queue.first.map({ listed > $0.newest }) ?? true {
      try lists.removeFirst(view)
      if edge.opened.insert(listed.conversation).inserted {
        edge.queue.push(.whole(listed.conversation, newest: listed.microseconds))
      }
    } else if let first = edge.queue.first {
      cells.begin()
      let next = try search(first, &cells, view)
      _ = edge.queue.popFirst()
      searchedCount += cells.searchedCount
      for (position, time) in cells.found {
        edge.foundCount += 1
        edge.found.push(
          FoundMessage(
            time: SearchTime(microseconds: time, conversation: first.newest.conversation),
            position: position, ordinal: edge.foundCount))
      }
      if let next { edge.queue.push(next) }
    }
  }

  // MARK: Cells

  /// A cursor, and the matches of one step.
  private struct Cells: ~Copyable {
    var cursor: MessageCursor
    var value = ByteBuffer(capacity: 256)
    var searchedCount = 0
    var found: [(position: MessagePosition, time: Int64)] = []

    init(_ view: StoreView) { cursor = MessageCursor(view) }

    mutating func begin() {
      searchedCount = 0
      found.removeAll(keepingCapacity: true)
    }
  }

  /// The newest time to search.
  private var newestTime: Int64 {
    min(query.times?.upperBound.microseconds ?? .max, start ?? .max)
  }

  /// Searches some cells; returns the rest of the conversation, or nil if nothing is left.
  private mutating func search(
    _ conversation: SearchedConversation, _ cells: inout Cells, _ view: StoreView
  ) throws(StoreError) -> SearchedConversation? {
    let number = conversation.newest.conversation
    let key = KeyEncoding.key(number, conversation.position)
    guard try cells.cursor.seekBefore(key.bytes), cells.cursor.isIn(number) else { return nil }
    if try isNewerThanAll(&cells.cursor) {
      // Pending messages are done, and the next ones are too new.
      let end = MessagePosition(.acknowledged(newestTime + 1, sequence: .min), "")
      let key = KeyEncoding.key(number, end)
      guard try cells.cursor.seekBefore(key.bytes), cells.cursor.isIn(number) else { return nil }
    }
    for cell in 1... {
      let position = try searchCell(&cells, in: number, view)
      guard try cells.cursor.previous(), cells.cursor.isIn(number) else { return nil }
      guard let newest = cells.cursor.newestPlaceOfCell else {
        throw view.corrupt(Schema.messages, "key does not decode to a position")
      }
      if !newest.isPending, let times = query.times,
        newest.time < times.lowerBound.microseconds
      {
        return nil
      }
      let time = newest.isPending ? Int64.max : newest.time
      let left = SearchedConversation(
        newest: SearchTime(microseconds: time, conversation: number), position: position)
      if cell == Self.maximumCellCount { return left }
      if let other = otherRest, other > left.newest { return left }
    }
    return nil
  }

  /// The newest time that is not searched in conversations other than the first.
  private var otherRest: SearchTime? {
    switch (edge.queue.second?.newest, lists.first) {
    case (let a?, let b?): max(a, b)
    case (let a, let b): a ?? b
    }
  }

  private func isNewerThanAll(_ cursor: inout MessageCursor) throws(StoreError) -> Bool {
    guard newestTime < .max, let place = try cursor.messagePlace() else { return false }
    return !place.isPending && place.time > newestTime
  }

  /// Searches the messages of the cell at the cursor, from the cursor on backwards; returns the
  /// position of its first message, and leaves the cursor there.
  private mutating func searchCell(
    _ cells: inout Cells, in number: UInt32, _ view: StoreView
  ) throws(StoreError) -> MessagePosition {
    try cells.cursor.loadRecords()
    guard case .unpacked(let last) = cells.cursor.place else {
      let position = try cells.cursor.position()
      guard let record = try cells.cursor.record(&cells.value) else {
        throw view.corrupt(Schema.messages, "message \"\(position.id)\": malformed record")
      }
      cells.searchedCount += 1
      guard isInside(position.place, record.sender) else { return position }
      if try matches(record, position, text: nil, in: number, view) {
        cells.found.append((position, position.place.time))
      }
      return position
    }
    // The bytes of the texts tell at once that none of them matches.
    let mayMatch =
      cells.cursor.segment.header?.hasBeside == true
      || matcher.mayMatch(cells.cursor.segment.texts(0...last))
    cells.searchedCount += last + 1
    var index = last
    while index >= 0 {
      defer { index -= 1 }
      let hasTraits = cells.cursor.segment.rows[index].flags.contains(.traits)
      guard mayMatch || hasTraits,
        isInside(cells.cursor.segment.place(index), cells.cursor.segment.rows[index].sender)
      else { continue }
      let isText = mayMatch && matcher.matches(cells.cursor.segment.text(index))
      guard isText || hasTraits else { continue }
      let position = try cells.cursor.segment.position(index, view)
      if try matches(cells.cursor.segment.record(index), position, text: isText, in: number, view) {
        cells.found.append((position, position.place.time))
      }
    }
    cells.cursor.place = .unpacked(index: 0)
    return try cells.cursor.segment.position(0, view)
  }

  private func isInside(_ place: Place, _ sender: UInt32) -> Bool {
    if author != .anybody, author != .member(sender) { return false }
    if let start, place.time > start { return false }
    return query.times?.contains(Timestamp(microseconds: place.time)) ?? true
  }

  /// Returns true if a message matches.
  ///
  /// - Parameter isText: True if its text does; nil if that is not known.
  private mutating func matches(
    _ record: MessageRecord, _ position: MessagePosition, text isText: Bool?,
    in number: UInt32, _ view: StoreView
  ) throws(StoreError) -> Bool {
    guard let traits = record.traits() else {
      throw view.corrupt(Schema.messages, "message \"\(position.id)\": malformed traits")
    }
    if traits.isRetracted || view.hides(traits) { return false }
    let id = traits.names.first ?? position.id
    if edge.pending.contains(PendingHit(conversation: number, id: id)) { return false }
    let hasAttachments = traits.marks.contains(.attachments)
    if query.attachmentKind != nil, !hasAttachments { return false }
    var isMatch = isText ?? false
    if !hasAttachments, isText != nil { return isMatch }
    var text = ByteBuffer(capacity: record.textByteCount)
    guard record.appendText(to: &text) else {
      throw view.corrupt(Schema.messages, "message \"\(position.id)\": malformed text")
    }
    if isText == nil { isMatch = matcher.matches(text.bytes) }
    guard hasAttachments else { return isMatch }
    let attachments = try view.facts.attachments(of: id, in: number)
    if let kind = query.attachmentKind, !attachments.contains(where: { $0.kind == kind }) {
      return false
    }
    return isMatch || matcher.matches(anyOf: text.bytes, attachments.compactMap(\.fileName))
  }

  // MARK: Hits

  /// Returns a match with the message as it is now; nil if it does not match any more.
  private mutating func hit(
    _ found: FoundMessage, _ view: StoreView
  ) throws(StoreError) -> SearchHit? {
    let number = found.time.conversation
    let place = found.position.place
    let known = try conversation(number, view)
    guard let conversation = known.id, place.isPending || place.time > known.deletedUpTo else {
      return nil
    }
    var builder = SliceBuilder(view, conversation, number, count: 1)
    guard try builder.append(at: found.position) else { return nil }
    let message = builder.finishOne()
    guard !message.isRetracted, matcher.matches(message) else { return nil }
    if place.isPending {
      edge.pending.insert(PendingHit(conversation: number, id: message.id))
    }
    var fileNames: [Int: [Range<Int>]] = [:]
    for (index, attachment) in message.attachments.enumerated() {
      let ranges = matcher.ranges(in: attachment.fileName ?? "")
      if !ranges.isEmpty { fileNames[index] = ranges }
    }
    return SearchHit(
      message: message, textRanges: matcher.ranges(in: message.text), fileNameRanges: fileNames)
  }

  private mutating func conversation(
    _ number: UInt32, _ view: StoreView
  ) throws(StoreError) -> Known {
    if let known, known.number == number { return known }
    var found = Known(number: number, id: nil, deletedUpTo: .min)
    if let id = try view.list.id(of: number) {
      var cursor = Cursor(view.source, Schema.conversations)
      let summary = try view.conversations.summary(number, &cursor)
      if !summary.marks.contains(.hidden) {
        found = Known(number: number, id: id, deletedUpTo: summary.deletedUpTo ?? .min)
      }
    }
    known = found
    return found
  }
}

extension MessageCursor {
  /// The place of the last message of the cell at the cursor, or nil if its key has none.
  fileprivate var newestPlaceOfCell: Place? {
    guard let place = cursor.key.messagePlace?.place else { return nil }
    guard isPacked, !place.isPending, let header = SegmentHeader(cursor.cell.value) else {
      return place
    }
    return .acknowledged(
      place.time.addingReportingOverflow(Int64(truncatingIfNeeded: header.lastTimeOffset))
        .partialValue, sequence: nil)
  }
}

extension UnpackedSegment {
  fileprivate func position(
    _ index: Int, _ view: StoreView
  ) throws(StoreError) -> MessagePosition {
    var key = ByteBuffer(capacity: 64)
    appendKey(index, to: &key)
    guard let position = key.bytes.position else {
      throw view.corrupt(Schema.messages, "key does not decode to a position")
    }
    return position
  }
}
