import MsgStore
import PageFile

/// Restores of salvaged conversations.
extension Restoring {
  /// Makes a conversation, or adds to one, from everything salvaged except its messages.
  ///
  /// Member numbers are those of the old store; `names` maps them to members.
  func restoreSalvaged(
    _ id: ConversationID, _ salvaged: SalvagedConversations.Salvaged, _ names: SalvagedNames
  ) throws(StoreError) {
    let conversation = try transaction.conversation(id) { ConversationDetails(id: id) }
    var facts = ConversationMembers()
    for member in salvaged.members?.members ?? [] {
      let number = try transaction.memberNumber(of: names.member(member.number))
      facts.merge(
        .init(
          number, time: member.time, isActive: member.isActive, joinedAt: member.joinedAt))
    }
    if let time = salvaged.members?.completeAt {
      facts.mergeComplete(Set(facts.members.map(\.number)), time: time)
    }
    var creator: UInt32?
    if let number = salvaged.details?.createdBy {
      creator = try transaction.memberNumber(of: names.member(number))
    }
    _ = try transaction.conversations.update(conversation) { (new) throws(StoreError) in
      try new.members.merge(facts)
      try transaction.conversations.merge(creator: creator, &new)
      guard let details = salvaged.details else { return }
      transaction.conversations.mergeDetails(details, salvaged.summary?.marks ?? [], &new)
    }
    try restoreAliases(salvaged.details?.aliases ?? [], of: conversation)
    if let summary = salvaged.summary {
      if let time = summary.deletedUpTo {
        conversation.currentSummary.deletedUpTo = max(
          time, conversation.currentSummary.deletedUpTo ?? time)
      }
      // A message saved later makes the conversation visible again.
      if summary.marks.contains(.hidden) { conversation.currentSummary.marks.insert(.hidden) }
    }
    if let retention = salvaged.retention {
      try transaction.retentions.change(conversation.number) { $0.merge(retention) }
    }
    if let fields = salvaged.fields?.own {
      _ = try transaction.conversations.mergeFields(fields.all, of: conversation.number)
    }
    if let draft = salvaged.draft {
      _ = try transaction.conversations.mergeDraft(draft, of: conversation)
    }
  }

  /// Adds former names, except for names that are in use.
  private func restoreAliases(
    _ aliases: [ConversationID], of conversation: OpenConversation
  ) throws(StoreError) {
    let stored = try view.conversations.details(conversation.number).aliases.count
    // The newest names come last.
    for alias in aliases.suffix(max(0, ConversationDetails.maximumAliasCount - stored))
    where try transaction.existingConversation(alias) == nil {
      try transaction.conversations.lead([alias], to: conversation.number, areFormer: true)
      _ = try transaction.conversations.update(conversation) { new in
        new.details.aliases.append(alias)
      }
    }
  }

  /// Returns true if a message of this name is here, was deleted, or is waited for.
  func isKnown(_ id: MessageID, in conversation: ConversationID) throws(StoreError) -> Bool {
    guard let number = try transaction.existingConversation(conversation)?.number else {
      return false
    }
    if try view.ids.entry(of: id, in: number) != nil { return true }
    return try transaction.waitingMessages.waiting(id, in: number) != nil
  }
}
