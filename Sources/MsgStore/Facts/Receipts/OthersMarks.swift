import PageFile

/// How far all the others have come: one position that tells of every message of the local member
/// whether it was read by all.
///
/// See docs/message-format.md, V-8.
///
/// It is the lowest of the others' marks. As marks rise only, it stays while another than the last
/// one of them moves on; when the last one does, the next that is still as far back is looked for
/// from there on, in a circle, so that a whole group that moves on costs one round.
package struct OthersMarks: TransactionPart {
  package let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// What follows when a member has come further.
  func marksRose(
    _ kind: ReceiptKind, of member: UInt32, _ own: inout ConversationReceipts,
    in conversation: OpenConversation
  ) throws(StoreError) {
    let others = own.others(kind)
    guard others.laggard == 0 || others.laggard == member else { return }
    if others.laggard != 0, StoreDefect.laggardKept.isPlanted { return }
    let recipients = try self.others(conversation)
    let known = others.laggard == 0 ? nil : others
    own.set(kind, try view.receipts.others(kind, recipients, in: conversation.number, known: known))
    if known == nil { own.othersSince = Recipient.firstJoined(recipients) }
  }

  /// Who takes part beside the local member: looked up once and handed on from one transaction to the
  /// next, as a group may be large and its receipts many.
  private func others(_ conversation: OpenConversation) throws(StoreError) -> [Recipient] {
    if let others = conversation.others { return others }
    let others = try view.conversations.members(conversation.number).recipients(
      without: localMember)
    memory.keep(others, of: conversation)
    return others
  }

  /// What follows when members have come or gone, or marks have gone back.
  package func membershipChanged(_ conversation: OpenConversation) throws(StoreError) {
    memory.forgetOthers(of: conversation)
    if transaction.isHeard {
      transaction.notes.delivered(between: .start, and: .end, in: conversation.number)
    }
    let recipients = try others(conversation)
    var own = try transaction.ownReceipts.receipts(conversation)
    let before = own
    for kind in ReceiptKind.allCases {
      own.set(kind, try view.receipts.others(kind, recipients, in: conversation.number, known: nil))
    }
    own.othersSince = Recipient.firstJoined(recipients)
    // Where nobody has come anywhere there is nothing to keep, and the first receipt looks anew.
    let isNothing =
      before == ConversationReceipts() && own.read.mark == nil && own.delivered.mark == nil
    if own != before, !isNothing { try transaction.ownReceipts.writeOwn(own, conversation) }
    // What was marked by its name may have to be told all the same.
    try transaction.pendingReceipts.updatePending(conversation, isMembershipNew: true)
  }
}

extension Recipient {
  /// When the first of them came; nil: one was there ever since.
  static func firstJoined(_ recipients: [Recipient]) -> Int64? {
    recipients.allSatisfy { $0.joined != nil } ? recipients.compactMap(\.joined).min() : nil
  }
}

extension ConversationReceipts {
  mutating func set(_ kind: ReceiptKind, _ others: Others) {
    switch kind {
    case .read: read = others
    case .delivered: delivered = others
    }
  }
}

extension Transaction {
  package var othersMarks: OthersMarks { OthersMarks(self) }
}
