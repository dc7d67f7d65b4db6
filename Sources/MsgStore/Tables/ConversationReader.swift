package import PageFile

/// A reader of conversations: their summaries, details, members, and drafts.
package struct ConversationReader {
  let view: StoreView

  /// Returns the lowest number of a conversation above the given number.
  ///
  /// Passes over the rest of conversations that are being swept or merged.
  package func nextConversation(
    after number: UInt32, _ cursor: inout Cursor
  ) throws(StoreError) -> UInt32? {
    var last = number
    var found = ByteBuffer()
    while last < .max {
      let key = KeyEncoding.key(last + 1)
      try storage { () throws(PageFileError) in _ = try cursor.seek(key.bytes) }
      guard cursor.isAtCell else { return nil }
      found.removeAll()
      cursor.appendKey(to: &found)
      guard let next = found.bytes.bigEndianNumber(at: 0) else {
        throw view.corrupt(Schema.conversations, "malformed key (\(found.count) bytes)")
      }
      let isRest =
        found.count > KeyEncoding.numberByteCount
        && found.bytes[KeyEncoding.numberByteCount] >= ReceiptKey.ownSuffix
      if !isRest { return next }
      last = next
    }
    return nil
  }

  func names(of members: [UInt32]) throws(StoreError) -> [MemberID] {
    var names: [MemberID] = []
    names.reserveCapacity(members.count)
    for number in members { names.append(try view.member(number)) }
    return names
  }

  /// Returns the members in the order in which they joined.
  ///
  /// Ties are broken by the time of the latest fact, then by name, so that all stores agree.
  package func ordered(
    _ members: [ConversationMembers.Member]
  ) throws(StoreError) -> [ConversationMembers.Member] {
    typealias Member = ConversationMembers.Member
    var sorted = members.sorted { a, b in a.precedes(b) ?? false }
    // Names are looked up only for members that nothing else tells apart.
    var start = 0
    while start < sorted.count {
      var end = start + 1
      while end < sorted.count, sorted[start].precedes(sorted[end]) == nil { end += 1 }
      if end - start > 1 {
        var named: [(id: MemberID, member: Member)] = []
        for member in sorted[start..<end] {
          named.append((try view.member(member.number), member))
        }
        named.sort { $0.id < $1.id }
        sorted.replaceSubrange(start..<end, with: named.map(\.member))
      }
      start = end
    }
    return sorted
  }

  /// Returns true if a member stands before another in the order in which they joined.
  func precedes(
    _ a: ConversationMembers.Member, _ b: ConversationMembers.Member
  ) throws(StoreError) -> Bool {
    if let precedes = a.precedes(b) { return precedes }
    return try view.member(a.number) < view.member(b.number)
  }

  /// Returns the members of a conversation, present and former.
  package func members(_ number: UInt32) throws(StoreError) -> ConversationMembers {
    if let members = try inlineMembers(number) { return members }
    var members: [ConversationMembers.Member] = []
    var walk = try MemberWalk(view, number)
    while let member = try walk.next() { members.append(member) }
    guard !members.isEmpty else { return ConversationMembers() }
    return ConversationMembers(cells: members, completeAt: try details(number).roster?.completeAt)
  }

  /// Returns the members that are in one value; nil if they have cells, or if none is known.
  @inline(never)
  package func inlineMembers(_ number: UInt32) throws(StoreError) -> ConversationMembers? {
    let key = ConversationMembers.key(number)
    return try view.record(key)
  }

  /// Returns the member that has a cell in a conversation.
  @inline(never)
  func member(
    _ member: UInt32, of conversation: UInt32
  ) throws(StoreError) -> ConversationMembers.Member? {
    let key = MembershipRecord.key(conversation, member)
    let record: MembershipRecord? = try view.record(key)
    return record?.member(member)
  }

  /// Returns the first participants of those who have cells, as many as the details keep.
  func firstParticipants(_ conversation: UInt32) throws(StoreError) -> [UInt32] {
    var first: [ConversationMembers.Member] = []
    let limit = ConversationDetails.maximumRosterFirstCount
    var walk = try MemberWalk(view, conversation)
    while let member = try walk.next() {
      guard member.isActive else { continue }
      if first.count == limit, let last = first.last {
        guard try precedes(member, last) else { continue }
        first.removeLast()
      }
      var (low, high) = (0, first.count)
      while low < high {
        let middle = (low + high) / 2
        if try precedes(first[middle], member) { low = middle + 1 } else { high = middle }
      }
      first.insert(member, at: low)
    }
    return first.map(\.number)
  }

  /// Returns the record of a draft, which may say that the draft was given up.
  @inline(never)
  package func draftRecord(_ number: UInt32) throws(StoreError) -> DraftRecord? {
    let key = DraftRecord.key(number)
    return try view.record(key)
  }

  /// Returns the summary of a conversation.
  package func summary(_ number: UInt32) throws(StoreError) -> ConversationSummary {
    var cursor = Cursor(view.source, Schema.conversations)
    return try summary(number, &cursor)
  }

  /// Returns the summary of a conversation that has a name, a place in the list, or messages.
  package func summary(_ number: UInt32, _ cursor: inout Cursor) throws(StoreError)
    -> ConversationSummary
  {
    let key = KeyEncoding.key(number)
    var copy = ByteBuffer()
    return try summary(number, key.bytes, &cursor, &copy)
  }

  /// Returns the summary, given its key and a buffer for a value that is not inline in its page.
  func summary(
    _ number: UInt32, _ key: Bytes, _ cursor: inout Cursor, _ copy: inout ByteBuffer
  ) throws(StoreError) -> ConversationSummary {
    let isThere = try storage { () throws(PageFileError) in try cursor.seek(key) }
    guard isThere, let summary = ConversationSummary(try value(at: cursor, &copy)) else {
      throw view.corrupt(
        Schema.conversations, "conversation \(number): missing or malformed summary")
    }
    return summary
  }

  /// Decodes the details at the cursor.
  func details(
    _ number: UInt32, _ cursor: inout Cursor
  ) throws(StoreError) -> ConversationDetails {
    let key = ConversationDetails.key(number)
    var copy = ByteBuffer()
    return try details(number, key.bytes, cursor, &copy)
  }

  @inline(__always)
  func details(
    _ number: UInt32, _ key: Bytes, _ cursor: borrowing Cursor, _ copy: inout ByteBuffer
  ) throws(StoreError) -> ConversationDetails {
    let isThere = cursor.isAtCell && cursor.compareKey(to: key) == 0
    guard isThere, let details = ConversationDetails(try value(at: cursor, &copy)) else {
      throw view.corrupt(
        Schema.conversations, "conversation \(number): missing or malformed details")
    }
    return details
  }

  /// Returns the details of a conversation.
  @inline(never)
  package func details(_ number: UInt32) throws(StoreError) -> ConversationDetails {
    var cursor = Cursor(view.source, Schema.conversations)
    let key = ConversationDetails.key(number)
    try storage { () throws(PageFileError) in _ = try cursor.seek(key.bytes) }
    return try details(number, &cursor)
  }

  /// Returns the value at the cursor, in its page or copied to the given buffer.
  @inline(__always)
  private func value(
    at cursor: borrowing Cursor, _ copy: inout ByteBuffer
  ) throws(StoreError) -> Bytes {
    if let value = cursor.inlineValue { return value }
    try view.append(cursor, to: &copy)
    return copy.bytes
  }
}

extension StoreView {
  package var conversations: ConversationReader { ConversationReader(view: self) }
}
