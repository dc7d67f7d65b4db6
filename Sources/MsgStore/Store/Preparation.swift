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
  mutating func run(_ transaction: Transaction) throws(StoreError) -> Bool {
    var count = 0
    if !isCounted {
      isCounted = try recount(transaction, &count)
      if !isCounted { return false }
    }
    if !isEntered { isEntered = try enterFormer(transaction, &count) }
    return isEntered
  }

  private static func isFull(_ transaction: Transaction, _ count: Int) -> Bool {
    let steps = transaction.rules.steps
    return count >= steps.openingCountMax
      || count > 0 && transaction.view.source.changedByteCount >= steps.openingByteCountMax
  }

  /// Counts anew what is unread, and finds out what else depends on the local member.
  private mutating func recount(
    _ transaction: Transaction, _ count: inout Int
  ) throws(StoreError) -> Bool {
    while !Self.isFull(transaction, count) {
      let next = try transaction.change { () throws(StoreError) in
        var cursor = Cursor(transaction.view.source, Schema.conversations)
        return try transaction.view.conversations.nextConversation(after: counted, &cursor)
      }
      guard let next else { return true }
      guard try seeExactly(transaction, in: next, &count) else { return false }
      try transaction.perform(try transaction.preparationSteps.recountUnread(of: next))
      count += 1
      counted = next
      seenKey = nil
    }
    return false
  }

  /// Marks as seen what the local member is known to have read by its name; returns whether that was
  /// all in a conversation.
  private mutating func seeExactly(
    _ transaction: Transaction, in number: UInt32, _ count: inout Int
  ) throws(StoreError) -> Bool {
    guard let member = transaction.localMember else { return true }
    while !Self.isFull(transaction, count) {
      let (found, next) = try transaction.change { () throws(StoreError) in
        try transaction.view.facts.exactlyRead(by: member, in: number, from: seenKey)
      }
      for id in found {
        try transaction.perform(try transaction.preparationSteps.see(id, in: number))
      }
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
    _ transaction: Transaction, _ count: inout Int
  ) throws(StoreError) -> Bool {
    guard transaction.isOutboxOn else { return true }
    let isFull = { (count: Int) in Self.isFull(transaction, count) }
    let isMoved = try transaction.change { () throws(StoreError) in
      for (_, work) in try transaction.view.work.work() {
        guard case .merge(let target, let summary) = work.kind else { continue }
        guard
          try transaction.moves.movePending(
            of: work.conversation, summary, into: target, &count, isFull: isFull)
        else { return false }
      }
      return true
    }
    guard isMoved else { return false }
    let before = count
    return try transaction.change { () throws(StoreError) in
      try transaction.heldEntries.enterWaiting(from: &place, messages: true) {
        isFull($0 + before)
      }
    }
  }
}

struct PreparationSteps: TransactionPart {
  let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Counts anew in a conversation, after the local member has become known.
  func recountUnread(of number: UInt32) throws(StoreError) {
    let conversation = try transaction.conversation(number)
    if let localMember {
      conversation.summary.toldMark = try view.receipts.receipts(of: localMember, in: number)
        .mark(.read)
      try transaction.othersMarks.membershipChanged(conversation)
    }
    conversation.summary.counted = try transaction.unreadCounts.countUnread(
      number, conversation.summary, after: .start)
  }

  /// Marks a message as seen, if it is here.
  func see(_ id: MessageID, in number: UInt32) throws(StoreError) {
    guard let position = try view.ids.position(of: id, in: number) else { return }
    try transaction.receipts.set(.seen, at: position, try transaction.conversation(number))
  }
}

extension Transaction {
  var preparationSteps: PreparationSteps { PreparationSteps(self) }
}
