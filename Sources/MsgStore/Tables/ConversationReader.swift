package import PageFile

package struct ConversationReader {
  let view: StoreView

  init(_ view: StoreView) { self.view = view }

  /// The lowest number of a conversation above a number.
  package func nextConversation(
    after number: UInt32, _ cursor: inout Cursor
  ) throws(StoreError) -> UInt32? {
    guard number < .max else { return nil }
    let key = KeyEncoding.key(number + 1)
    try storage { () throws(PageFileError) in _ = try cursor.seek(key.bytes) }
    guard cursor.isAtCell else { return nil }
    var found = ByteBuffer()
    cursor.appendKey(to: &found)
    guard let next = found.bytes.bigEndianNumber(at: 0) else {
      throw view.corrupt(Schema.conversations, "a key has \(found.count) bytes")
    }
    return next
  }

  func names(of members: [UInt32]) throws(StoreError) -> [MemberID] {
    var names: [MemberID] = []
    names.reserveCapacity(members.count)
    for number in members { names.append(try view.member(number)) }
    return names
  }

  /// Members in the order in which they came: by when they joined, then by the time of what is known
  /// of them, then by name, so that all stores agree.
  package func ordered(
    _ members: [ConversationMembers.Member]
  ) throws(StoreError) -> [ConversationMembers.Member] {
    typealias Member = ConversationMembers.Member
    func precedes(_ a: Member, _ b: Member) -> Bool? {
      let (joinedA, joinedB) = (a.joinedAt ?? .min, b.joinedAt ?? .min)
      if joinedA != joinedB { return joinedA < joinedB }
      return a.time == b.time ? nil : a.time < b.time
    }
    var sorted = members.sorted { a, b in precedes(a, b) ?? false }
    // Names are looked up for those only that nothing else tells apart.
    var start = 0
    while start < sorted.count {
      var end = start + 1
      while end < sorted.count, precedes(sorted[start], sorted[end]) == nil { end += 1 }
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

  /// Everything that is known of who takes part.
  package func members(_ number: UInt32) throws(StoreError) -> ConversationMembers {
    let key = ConversationMembers.key(number)
    var value = ByteBuffer(capacity: 256)
    guard try view.value(of: key.bytes, in: Schema.conversations, appendTo: &value) else {
      return ConversationMembers()
    }
    guard let members = ConversationMembers(value.bytes) else {
      throw view.corrupt(
        Schema.conversations, "the members of conversation \(number) are no record")
    }
    return members
  }

  /// What is known of a draft, also that there is none any more.
  package func draftRecord(_ number: UInt32) throws(StoreError) -> DraftRecord? {
    let key = DraftRecord.key(number)
    var value = ByteBuffer(capacity: 256)
    guard try view.value(of: key.bytes, in: Schema.conversations, appendTo: &value) else {
      return nil
    }
    guard let draft = DraftRecord(value.bytes) else {
      throw view.corrupt(Schema.conversations, "the draft of conversation \(number) is none")
    }
    return draft
  }

  /// The summary of a conversation that has a name, a place in the list, or messages.
  package func summary(_ number: UInt32, _ cursor: inout Cursor) throws(StoreError)
    -> ConversationSummary
  {
    let key = KeyEncoding.key(number)
    var copy = ByteBuffer()
    return try summary(number, key.bytes, &cursor, &copy)
  }

  /// The same for whoever has the key, and a buffer for a summary that does not lie in its page.
  func summary(
    _ number: UInt32, _ key: Bytes, _ cursor: inout Cursor, _ copy: inout ByteBuffer
  ) throws(StoreError) -> ConversationSummary {
    let isThere = try storage { () throws(PageFileError) in try cursor.seek(key) }
    guard isThere, let summary = ConversationSummary(try value(at: cursor, &copy)) else {
      throw view.corrupt(Schema.conversations, "conversation \(number) has no summary")
    }
    return summary
  }

  /// The details that a cursor stands at.
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
      throw view.corrupt(Schema.conversations, "conversation \(number) has no details")
    }
    return details
  }

  /// The details of a conversation.
  package func details(_ number: UInt32) throws(StoreError) -> ConversationDetails {
    var cursor = Cursor(view.source, Schema.conversations)
    let key = ConversationDetails.key(number)
    try storage { () throws(PageFileError) in _ = try cursor.seek(key.bytes) }
    return try details(number, &cursor)
  }

  /// The value of the cell a cursor stands at: in its page, or in the given copy.
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
  package var conversations: ConversationReader { ConversationReader(self) }
}
