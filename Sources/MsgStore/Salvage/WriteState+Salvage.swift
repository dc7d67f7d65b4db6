import PageFile

/// Giving a conversation of a new store what is left of the old one's.
extension WriteState {
  /// Makes a conversation, or adds to one, with all that was saved of it but its messages.
  ///
  /// Numbers of members are the old store's; `names` knows whose they are.
  func restore(
    _ id: ConversationID, _ salvaged: SalvagedConversations.Salvaged, _ names: SalvagedNames
  ) throws(StoreError) {
    try change { () throws(StoreError) in
      let conversation = try conversation(id) { ConversationDetails(id: id) }
      var facts = ConversationMembers()
      for member in salvaged.members?.members ?? [] {
        let number = try memberNumber(of: names.member(member.number))
        facts.merge(
          .init(
            number, time: member.time, isActive: member.isActive, joinedAt: member.joinedAt))
      }
      if let time = salvaged.members?.completeAt {
        facts.mergeComplete(Set(facts.members.map(\.number)), time: time)
      }
      var creator: UInt32?
      if let number = salvaged.details?.createdBy {
        creator = try memberNumber(of: names.member(number))
      }
      _ = try update(conversation, members: true) { (new) throws(StoreError) in
        new.members.merge(facts)
        try merge(creator: creator, &new)
        if let details = salvaged.details { merge(details, &new) }
        if let summary = salvaged.summary {
          new.marks.formUnion(summary.marks.intersection([.pinned, .muted, .archived]))
        }
      }
      if let draft = salvaged.draft { _ = try merge(draft, of: conversation) }
    }
  }

  /// Takes in details, but for numbers and names.
  private func merge(_ other: ConversationDetails, _ new: inout Attributes) {
    new.details.kind = max(new.details.kind, other.kind)
    new.details.title.merge(other.title)
    new.details.avatar.merge(other.avatar)
    new.details.createdAt = [new.details.createdAt, other.createdAt].compactMap { $0 }.min()
    new.details.pinnedAt = [new.details.pinnedAt, other.pinnedAt].compactMap { $0 }.max()
    new.details.mutedAt = [new.details.mutedAt, other.mutedAt].compactMap { $0 }.max()
    new.details.archivedAt = [new.details.archivedAt, other.archivedAt].compactMap { $0 }.max()
  }
}
