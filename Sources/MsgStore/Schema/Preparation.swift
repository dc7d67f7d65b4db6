import PageFile

/// What the first opening with a local member finds out, and the first one of a store of an earlier
/// version enters into the outbox: bounded parts, a commit each.
///
/// All of it may be done again from the beginning, so no place is stored. What has been begun is: until
/// the last commit the store is that of nobody, and of the earlier version. See
/// docs/message-format.md, S-10.
struct Preparation {
  /// Conversations up to this one are counted.
  private var counted: UInt32 = 0
  /// The facts of the next one before this key were looked at.
  private var seenKey: [UInt8]?
  private var isCounted: Bool
  private var isEntered: Bool
  private var place = WaitingPlace()

  /// - Parameters:
  ///   - counts: Whether it is to be found out what is unread.
  ///   - enters: Whether what waits is to be entered into the outbox.
  init(counts: Bool, enters: Bool) {
    isCounted = !counts
    isEntered = !enters
  }

  /// Does one part; returns whether that was the last.
  mutating func run(_ state: WriteState) throws(StoreError) -> Bool {
    var count = 0
    if !isCounted {
      isCounted = try recount(state, &count)
      if !isCounted { return false }
    }
    if !isEntered { isEntered = try enterFormer(state, &count) }
    return isEntered
  }

  private static func isFull(_ state: WriteState, _ count: Int) -> Bool {
    let steps = state.rules.steps
    return count >= steps.openingCountMax
      || count > 0 && state.reader.source.changedByteCount >= steps.openingByteCountMax
  }

  /// Counts anew what is unread, and finds out what else depends on the local member.
  private mutating func recount(
    _ state: WriteState, _ count: inout Int
  ) throws(StoreError) -> Bool {
    while !Self.isFull(state, count) {
      let next = try state.change { () throws(StoreError) in
        var cursor = Cursor(state.reader.source, Schema.conversations)
        return try state.reader.nextConversation(after: counted, &cursor)
      }
      guard let next else { return true }
      guard try seeExactly(state, in: next, &count) else { return false }
      try state.recountUnread(of: next)
      count += 1
      counted = next
      seenKey = nil
    }
    return false
  }

  /// Marks as seen what the local member is known to have read by its name; returns whether that was
  /// all in a conversation.
  private mutating func seeExactly(
    _ state: WriteState, in number: UInt32, _ count: inout Int
  ) throws(StoreError) -> Bool {
    guard let member = state.localMember else { return true }
    while !Self.isFull(state, count) {
      let (found, next) = try state.change { () throws(StoreError) in
        try state.reader.exactlyRead(by: member, in: number, from: seenKey)
      }
      for id in found { try state.see(id, in: number) }
      count += found.count
      seenKey = next
      if next == nil { return true }
    }
    return false
  }

  /// Enters, held, what waits in a store of a version that had no outbox.
  ///
  /// What is on its way to another conversation is brought there before, as the entries are that
  /// one's.
  private mutating func enterFormer(
    _ state: WriteState, _ count: inout Int
  ) throws(StoreError) -> Bool {
    guard state.entersOutbox else { return true }
    let isFull = { (count: Int) in Self.isFull(state, count) }
    let isMoved = try state.change { () throws(StoreError) in
      for (_, work) in try state.reader.work() {
        guard case .merge(let target, let summary) = work.kind else { continue }
        guard
          try state.movePending(
            of: work.conversation, summary, into: target, &count, isFull: isFull)
        else { return false }
      }
      return true
    }
    guard isMoved else { return false }
    let before = count
    return try state.enterWaiting(from: &place, messages: true) { isFull($0 + before) }
  }
}

extension WriteState {
  /// Counts anew in a conversation, after the local member has become known.
  func recountUnread(of number: UInt32) throws(StoreError) {
    try change { () throws(StoreError) in
      let conversation = try conversation(number)
      if let localMember {
        conversation.summary.toldMark = try reader.receipts(of: localMember, in: number).mark(.read)
        try membershipChanged(conversation)
      }
      conversation.summary.counted = try countUnread(number, conversation.summary, after: .start)
    }
  }

  /// Marks a message as seen, if it is here.
  func see(_ id: MessageID, in number: UInt32) throws(StoreError) {
    try change { () throws(StoreError) in
      guard let position = try reader.position(of: id, in: number) else { return }
      try set(.seen, at: position, try conversation(number))
    }
  }
}

extension StoreReader {
  /// Some messages of a conversation that a member is known to have read by their names, and where to
  /// go on; nil: there are no more.
  fileprivate func exactlyRead(
    by member: UInt32, in conversation: UInt32, from start: [UInt8]?
  ) throws(StoreError) -> (found: [MessageID], next: [UInt8]?) {
    var found: [MessageID] = []
    let prefix = KeyEncoding.key(conversation)
    var cursor = try cursor(Schema.facts, from: start ?? prefix.bytes.array())
    var key = ByteBuffer()
    var value = ByteBuffer()
    while cursor.isAtCell, cursor.keyHasPrefix(prefix.bytes) {
      key.removeAll()
      cursor.appendKey(to: &key)
      if found.count == 64 { return (found, key.bytes.array()) }
      if let parts = FactKey.parts(key.bytes), parts.kind == .receipt,
        parts.rest.bigEndianNumber(at: 0) == member
      {
        value.removeAll()
        try append(cursor, to: &value)
        if ExactReceipt(value.bytes)?.isRead ?? false { found.append(parts.id) }
      }
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
    return (found, nil)
  }
}
