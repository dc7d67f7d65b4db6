import PageFile

/// The preparation of a store, in bounded parts of one commit each.
///
/// The first opening with a local member counts unread messages anew, and enters the messages that
/// mention the member. All of it may be repeated
/// from the beginning, so no progress is stored. The fact that it has begun is stored: until the
/// last commit the store has no local member. See docs/message-format.md, S-10.
struct Preparation {
  /// The number of the last conversation counted.
  private var counted: UInt32 = 0
  /// The key before which the facts of the next conversation have been read.
  private var seenKey: [UInt8]?
  private var isCounted: Bool

  /// Creates a preparation.
  ///
  /// - Parameter isCounted: True if unread messages are counted already.
  init(isCounted: Bool) {
    self.isCounted = isCounted
  }

  /// Performs one part; returns true if it was the last.
  mutating func run(_ transaction: Transaction) throws(StoreError) -> Bool {
    var count = 0
    if !isCounted { isCounted = try recount(transaction, &count) }
    return isCounted
  }

  /// Returns true if one commit must not hold more.
  private static func isFull(_ transaction: Transaction, _ count: Int) -> Bool {
    let steps = transaction.rules.steps
    return count >= steps.maximumOpeningCount
      || count > 0 && transaction.view.source.changedByteCount >= steps.maximumChangedByteCount
  }

  /// Counts unread messages anew, and updates what else depends on the local member.
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

  /// Marks messages as seen that the local member has read by name.
  ///
  /// Returns true once a conversation is done.
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
}

/// The operations of a store's preparation on one transaction.
struct PreparationSteps: TransactionPart {
  let transaction: Transaction

  /// Counts the unread messages of a conversation and enters the mentions, after the local member
  /// has become known.
  func recountUnread(of number: UInt32) throws(StoreError) {
    let conversation = try transaction.conversation(number)
    if let localMember {
      conversation.summary.toldMark = try view.receipts.receipts(of: localMember, in: number)
        .mark(.read)
      try transaction.receipts.membershipChanged(conversation)
    }
    try transaction.enterMentions(of: number)
    conversation.summary.counted = try transaction.unreadCounts.countUnread(
      number, conversation.summary, after: .start)
  }

  /// Marks a message as seen if it is here.
  func see(_ id: MessageID, in number: UInt32) throws(StoreError) {
    guard let position = try view.ids.position(of: id, in: number) else { return }
    try transaction.receipts.set(.seen, at: position, try transaction.conversation(number))
  }
}

extension Transaction {
  var preparationSteps: PreparationSteps { PreparationSteps(transaction: self) }
}
