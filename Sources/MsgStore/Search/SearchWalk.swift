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
  /// The conversation of the match that was handed out last.
  private var known: (number: UInt32, id: ConversationID)?

  private static let maximumCellCount = 8

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
  private enum Author: Equatable {
    case anybody, nobody
    case member(UInt32)
  }

  private static func author(
    _ query: SearchQuery, _ view: StoreView
  ) throws(StoreError) -> Author {
    var author = Author.anybody
    if let id = query.sender {
      let number = try view.number(of: id.string, in: Schema.memberNames)
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

  /// Searches a few cells of the conversation with the newest messages that are left.
  ///
  /// Changes nothing if it throws.
  mutating func step(_ view: StoreView) throws(StoreError) {
    if let listed = lists.first, edge.queue.first.map({ listed > $0.newest }) ?? true {
      try lists.removeFirst(view)
      if edge.opened.insert(listed.conversation).inserted {
        edge.queue.push(.whole(listed.conversation, newest: listed.microseconds))
      }
    } else if let first = edge.queue.first {
      var steps = CellSearch(first, maximumCellCount: Self.maximumCellCount)
      let next = try search(&steps, view)
      _ = edge.queue.popFirst()
      searchedCount += steps.searchedCount
      for (position, time) in steps.found {
        edge.foundCount += 1
        edge.found.push(
          FoundMessage(
            time: SearchTime(microseconds: time, conversation: first.newest.conversation),
            position: position, ordinal: edge.foundCount))
      }
      if let next { edge.queue.push(next) }
    }
    if let rest, edge.found.first == nil {
      edge.time = Timestamp(microseconds: min(rest.microseconds, start ?? .max))
    }
  }

  // MARK: Cells

  /// The work of one step.
  private struct CellSearch {
    let conversation: SearchedConversation
    var maximumCellCount: Int
    var searchedCount = 0
    var found: [(position: MessagePosition, time: Int64)] = []

    init(_ conversation: SearchedConversation, maximumCellCount: Int) {
      self.conversation = conversation
      self.maximumCellCount = maximumCellCount
    }

    var number: UInt32 { conversation.newest.conversation }
  }

  /// The newest time to search.
  private var newestTime: Int64 {
    min(query.times?.upperBound.microseconds ?? .max, start ?? .max)
  }

  /// Searches some cells; returns what is left of the conversation, or nil if nothing is.
  private mutating func search(
    _ cells: inout CellSearch, _ view: StoreView
  ) throws(StoreError) -> SearchedConversation? {
    let number = cells.number
    var cursor = MessageCursor(view)
    var value = ByteBuffer(capacity: 256)
    let key = KeyEncoding.key(number, cells.conversation.position)
    guard try cursor.seekBefore(key.bytes), cursor.isIn(number) else { return nil }
    if try isNewerThanAll(&cursor) {
      // Pending messages are done, and what follows is too new.
      let end = MessagePosition(.acknowledged(newestTime + 1, sequence: .min), "")
      let key = KeyEncoding.key(number, end)
      guard try cursor.seekBefore(key.bytes), cursor.isIn(number) else { return nil }
    }
    while true {
      let position = try searchCell(&cursor, &value, &cells, view)
      cells.maximumCellCount -= 1
      guard try cursor.previous(), cursor.isIn(number), let newest = cursor.newestPlaceOfCell else {
        return nil
      }
      if !newest.isPending, let times = query.times,
        newest.time < times.lowerBound.microseconds
      {
        return nil
      }
      let time = newest.isPending ? Int64.max : newest.time
      let left = SearchedConversation(
        newest: SearchTime(microseconds: time, conversation: number), position: position)
      if cells.maximumCellCount == 0 { return left }
      if let other = otherRest, other > left.newest { return left }
    }
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
    _ cursor: inout MessageCursor, _ value: inout ByteBuffer, _ cells: inout CellSearch,
    _ view: StoreView
  ) throws(StoreError) -> MessagePosition {
    try cursor.loadRecords()
    guard case .unpacked(let last) = cursor.place else {
      let position = try cursor.position()
      guard let record = try cursor.record(&value) else {
        throw view.corrupt(Schema.messages, "message \"\(position.id)\": malformed record")
      }
      cells.searchedCount += 1
      guard isInside(position.place, record.sender) else { return position }
      if try matches(record, position, text: nil, in: cells.number, view) {
        cells.found.append((position, position.place.time))
      }
      return position
    }
    let mayMatch =
      cursor.segment.header?.hasBeside == true
      || (cursor.segment.isASCII(0...last)
        ? matcher.mayMatch(cursor.segment.texts(0...last)) : true)
    cells.searchedCount += last + 1
    var index = last
    while index >= 0 {
      defer { index -= 1 }
      let hasTraits = cursor.segment.rows[index].flags.contains(.traits)
      guard mayMatch || hasTraits,
        isInside(cursor.segment.place(index), cursor.segment.rows[index].sender)
      else { continue }
      let isText = mayMatch && matcher.matches(cursor.segment.text(index))
      guard isText || hasTraits else { continue }
      let position = try cursor.segment.position(index, view)
      if try matches(cursor.segment.record(index), position, text: isText, in: cells.number, view) {
        cells.found.append((position, position.place.time))
      }
    }
    cursor.place = .unpacked(index: 0)
    return try cursor.segment.position(0, view)
  }

  private func isInside(_ place: Place, _ sender: UInt32) -> Bool {
    if author != .anybody, author != .member(sender) { return false }
    if let start, !place.isPending, place.time > start { return false }
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
    if traits.isRetracted { return false }
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
    let conversation: ConversationID
    if let known, known.number == number {
      conversation = known.id
    } else {
      conversation = try view.conversations.details(number).id
      known = (number, conversation)
    }
    var builder = SliceBuilder(view, conversation, number, count: 1)
    guard try builder.append(at: found.position) else { return nil }
    let message = builder.finishOne()
    guard !message.isRetracted, matcher.matches(message) else { return nil }
    if found.position.place.isPending {
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
  /// True if the texts of some messages are ASCII.
  fileprivate func isASCII(_ range: ClosedRange<Int>) -> Bool { texts(range).isASCII }

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
