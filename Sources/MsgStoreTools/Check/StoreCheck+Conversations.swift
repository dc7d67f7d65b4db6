import MsgStore
import PageFile

/// Checks of conversations beside their messages.
///
///  1. Each cell of a conversation decodes, and the details agree with the other cells.
///  2. A conversation is found by its present participants and by no other set of members.
///  3. Work concerns numbers that no longer belong to a conversation, or to one that exists.
extension StoreCheck {
  /// Checks rules 1 and 2 for one conversation.
  func members(
    of number: UInt32, _ details: ConversationDetails, _ view: StoreView
  ) throws(StoreError) {
    let name = "conversation \"\(details.id)\""
    let members = try view.conversations.members(number)
    let active = members.active
    for member in members.members { _ = try view.member(member.number) }
    let first = try view.conversations.ordered(members.members.filter(\.isActive)).map(\.number)
    let listed = details.firstParticipants
    let isComplete =
      listed.count >= min(first.count, ConversationDetails.maximumFirstParticipantCount)
    if details.participantCount != active.count || !first.starts(with: listed) || !isComplete {
      report("\(name): listed participants disagree with the members")
    }
    if let roster = details.roster {
      if try view.conversations.inlineMembers(number) != nil {
        report("\(name): members in one value and in cells")
      }
      var recounted = Roster(members)
      recounted.completeAt = roster.completeAt
      if roster != recounted { report("\(name): sum of the members disagrees with their cells") }
    }
    if let creator = details.createdBy { _ = try view.member(creator) }
    if try view.conversations.draftRecord(number).map({ $0.text != nil }) ?? false
      != details.hasDraft
    {
      report("\(name): wrong draft flag")
    }
    guard !active.isEmpty else { return }
    let digest =
      details.roster == nil ? ConversationMembers.digest(active) : Roster.digest(active)
    if try !view.contains(ParticipantsKey.key((digest, number)), in: Schema.names) {
      report("\(name): not found by its participants")
    }
  }

  /// Checks that each cell of a member belongs to a conversation whose details say so.
  func memberships(_ view: StoreView) throws(StoreError) {
    var known: (number: UInt32, hasRoster: Bool)?
    try walk(Schema.conversations, view) { (key, _) throws(StoreError) in
      guard let (number, member) = MembershipRecord.parts(key) else { return }
      try reporting("memberships: ") { () throws(StoreError) in
        if known?.number != number {
          known = (number, try view.conversations.details(number).roster != nil)
        }
        if known?.hasRoster == false {
          report("memberships: member \(member) of conversation \(number): details have no sum")
        }
      }
    }
  }

  /// Checks rule 3, and notes the numbers being cleared, which the other parts ignore.
  func work(_ view: StoreView) throws(StoreError) {
    try view.within { () throws(StoreError) in try workLeft(view) }
  }

  private func workLeft(_ view: StoreView) throws(StoreError) {
    let next = max(1, view.source[.nextWork])
    for (ordinal, work) in try view.work.work() {
      if ordinal == 0 || ordinal >= next {
        report("work: ordinal \(ordinal) is not below the next one (\(next))")
      }
      let key = KeyEncoding.key(work.conversation)
      let isStored = try view.contains(key, in: Schema.conversations)
      switch work.kind {
      case .trim, .prune:
        break
      case .sweep:
        leftovers.insert(work.conversation)
        if isStored { report("work: conversation \(work.conversation) is being swept but exists") }
      case .merge(let target, _):
        leftovers.insert(work.conversation)
        if isStored { report("work: conversation \(work.conversation) is being merged but exists") }
        if try !view.contains(KeyEncoding.key(target), in: Schema.conversations) {
          report("work: merge of \(work.conversation): unknown target (conversation \(target))")
        }
      }
    }
  }
}
