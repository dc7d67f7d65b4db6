import PageFile

/// The mark of all the others: one position that tells for every message of the local member
/// whether all other members have read it.
///
/// See docs/message-format.md, V-8.
///
/// It is the lowest of the others' marks. Marks only rise, so it stays while a member other than
/// the last one moves on. When the last one does, the next member that is equally far behind is
/// searched from there on, in a circle, so a whole group that moves on costs one round.
package struct OthersMarks: TransactionPart {
  package let transaction: Transaction

  /// Updates the mark after a member's marks have risen.
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

  /// Returns the participants other than the local member.
  ///
  /// They are looked up once and handed from one transaction to the next, since a group may be
  /// large and its receipts many.
  private func others(_ conversation: OpenConversation) throws(StoreError) -> [Recipient] {
    if let others = conversation.others { return others }
    let others = try view.conversations.members(conversation.number).recipients(
      without: localMember)
    memory.keep(others, of: conversation)
    return others
  }

  /// Updates the marks after members have come or gone, or marks have moved back.
  package func membershipChanged(_ conversation: OpenConversation) throws(StoreError) {
    memory.forgetOthers(of: conversation)
    if transaction.hasListeners {
      transaction.notes.delivered(between: .start, and: .end, in: conversation.number)
    }
    let recipients = try others(conversation)
    var own = try transaction.ownReceipts.receipts(conversation)
    let before = own
    for kind in ReceiptKind.allCases {
      own.set(kind, try view.receipts.others(kind, recipients, in: conversation.number, known: nil))
    }
    own.othersSince = Recipient.firstJoined(recipients)
    // While no member has any mark there is nothing to keep; the first receipt looks again.
    let isNothing =
      before == ConversationReceipts() && own.read.mark == nil && own.delivered.mark == nil
    if own != before, !isNothing { try transaction.ownReceipts.writeOwn(own, conversation) }
    // Messages marked by name may still have to be told.
    try transaction.pendingReceipts.updatePending(conversation, isMembershipNew: true)
  }
}

extension Recipient {
  /// The time at which the first of the members joined; nil if one of them has always been there.
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
  package var othersMarks: OthersMarks { OthersMarks(transaction: self) }
}
