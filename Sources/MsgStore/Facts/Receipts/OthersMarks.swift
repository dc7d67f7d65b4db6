import PageFile

/// The mark of all the others: one position that tells for every message of the local member
/// whether all other members have read it.
///
/// See docs/message-format.md, V-8.
///
/// It is the lowest of the others' marks. Marks only rise, so it stays while a member other than
/// the last one moves on. When the last one does, the next member that is equally far behind is
/// searched from there on, in a circle, so a whole group that moves on costs one round.
extension Receipts {
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
    if known == nil { own.othersSince = try othersSince(recipients, of: conversation) }
  }

  /// Returns the participants other than the local member.
  ///
  /// Members in one value are looked up once and handed from one transaction to the next. Cells are
  /// walked only as far as they are needed.
  private func others(_ conversation: OpenConversation) throws(StoreError) -> Recipients {
    if let others = conversation.others { return .listed(others) }
    let number = conversation.number
    let members = try view.conversations.inlineMembers(number)
    if case nil = members, try view.conversations.details(number).roster != nil {
      return .cells(without: localMember)
    }
    let others = members?.recipients(without: localMember) ?? []
    memory.keep(others, of: conversation)
    return .listed(others)
  }

  /// Returns the time at which the first of the others joined; nil if one of them has always been
  /// there.
  private func othersSince(
    _ recipients: Recipients, of conversation: OpenConversation
  ) throws(StoreError) -> Int64? {
    switch recipients {
    case .listed(let recipients): Recipient.firstJoined(recipients)
    case .cells: try firstJoined(try view.conversations.details(conversation.number), conversation)
    }
  }

  /// Returns the same for members with cells: the first participants are in the order of joining.
  private func firstJoined(
    _ details: ConversationDetails, _ conversation: OpenConversation
  ) throws(StoreError) -> Int64? {
    guard let first = details.firstParticipants.first(where: { $0 != localMember }) else {
      return nil
    }
    return try view.conversations.member(first, of: conversation.number)?.joinedAt
  }

  /// Updates the marks after members have come or gone, or marks have moved back.
  package func membershipChanged(_ conversation: OpenConversation) throws(StoreError) {
    memory.forgetOthers(of: conversation)
    noteDeliveries(in: conversation)
    let recipients = try others(conversation)
    var own = try transaction.receipts.own(conversation)
    let before = own
    for kind in ReceiptKind.allCases {
      own.set(kind, try view.receipts.others(kind, recipients, in: conversation.number, known: nil))
    }
    own.othersSince = try othersSince(recipients, of: conversation)
    own.noteComing()
    // While no member has any mark there is nothing to keep; the first receipt looks again.
    var isNothing =
      before == ConversationReceipts() && own.read.mark == nil && own.delivered.mark == nil
    if case .cells = recipients { isNothing = false }
    if own != before, !isNothing { keepOwn(own, conversation) }
    // Messages marked by name may still have to be told.
    try transaction.pendingReceipts.updatePending(conversation, isMembershipNew: true)
  }

  private func noteDeliveries(in conversation: OpenConversation) {
    guard transaction.hasListeners else { return }
    transaction.notes.delivered(between: .start, and: .end, in: conversation.number)
  }

  /// Updates the marks after facts about some members with cells.
  ///
  /// Whoever comes lowers a mark to that of their own. Whoever goes, or joined later than was
  /// known, may raise a mark only if nobody else was as far behind.
  package func membersChanged(
    _ changes: [(old: ConversationMembers.Member?, new: ConversationMembers.Member)],
    from old: ConversationDetails, to new: ConversationDetails, in conversation: OpenConversation
  ) throws(StoreError) {
    let (number, others) = (conversation.number, changes.filter { $0.new.number != localMember })
    noteDeliveries(in: conversation)
    var own = try transaction.receipts.own(conversation)
    let before = own
    for kind in ReceiptKind.allCases {
      var marks = own.others(kind)
      var isUnknown = marks.laggard == 0
      for (old, new) in others {
        if old?.isActive == true {
          let rises = !new.isActive || old?.joinedAt != new.joinedAt
          if rises, marks.laggard == new.number, !StoreDefect.leaverWaitedFor.isPlanted {
            isUnknown = true
          }
        } else if new.isActive, marks.laggard != 0, !StoreDefect.comerIgnored.isPlanted {
          let mark = try view.receipts.receipts(of: new.number, in: number).mark(kind)
          let reached = Recipient(new).reached(mark)
          if reached.isBehind(marks.mark) { (marks.mark, marks.laggard) = (reached, new.number) }
        }
      }
      if isUnknown {
        // Nobody is behind the marks of those who stay or come.
        let known = marks.laggard == 0 ? nil : marks
        marks = try view.receipts.others(
          kind, .cells(without: localMember), in: number, known: known)
      }
      own.set(kind, marks)
    }
    own.othersSince = try firstJoined(new, conversation)
    if own.comings > 0, try concernsMessages(others, new, in: conversation) { own.noteComing() }
    if own != before { keepOwn(own, conversation) }
    guard old.hasLeft != new.hasLeft else { return }
    try transaction.pendingReceipts.updatePending(conversation, isMembershipNew: true)
  }

  /// Returns true if a message that is here may have a recipient now who was none before, or none
  /// at all.
  private func concernsMessages(
    _ changes: [(old: ConversationMembers.Member?, new: ConversationMembers.Member)],
    _ details: ConversationDetails, in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    // The local member may be the only one who is left.
    if details.participantCount <= 1 { return true }
    let newest = try flushed().messages.lastPosition(
      upTo: .firstPending, in: conversation.number)?.place.time
    guard let newest else { return false }
    return changes.contains { old, new in
      new.isActive && old?.isActive != true && new.joinedAt.map { $0 <= newest } ?? true
    }
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
