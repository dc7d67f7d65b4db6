import MsgStore
import PageFile

/// What holds about conversations beside their messages.
///
///  1. Each cell of a conversation decodes, and what the details say of the others is so.
///  2. A conversation is found by those who take part, and by nobody else.
///  3. Work is about numbers that belong to no conversation any more, or to one that is there.
extension StoreCheck {
  /// Rule 1, of one cell.
  func cell(_ suffix: UInt8, _ value: Bytes, of number: UInt32) {
    if !Schema.canReadConversationCell(suffix, value) {
      report("conversations: cell \(suffix) of conversation \(number) is no record")
    }
  }

  /// Rules 1 and 2, of one conversation.
  func members(
    of number: UInt32, _ details: ConversationDetails, _ view: StoreView
  ) throws(StoreError) {
    let name = "conversation \"\(details.id)\""
    let members = try view.conversations.members(number)
    let active = members.active
    for member in members.members { _ = try view.member(member.number) }
    let first = try view.conversations.ordered(members.members.filter(\.isActive))
      .prefix(ConversationDetails.firstParticipantCountMax).map(\.number)
    if details.participantCount != active.count || details.firstParticipants != first {
      report("\(name) shows other participants than it has")
    }
    if let creator = details.createdBy { _ = try view.member(creator) }
    if try view.conversations.draftRecord(number).map({ $0.text != nil }) ?? false
      != details.hasDraft
    {
      report("\(name) says wrongly whether it has a draft")
    }
    guard !active.isEmpty else { return }
    let entry = KeyEncoding.key(ConversationMembers.digest(active), number)
    if try !contains(entry.bytes, Schema.participants, view) {
      report("\(name) cannot be found by its participants")
    }
  }

  /// Rule 3; what is being cleared is nothing for the other parts.
  func work(_ view: StoreView) throws(StoreError) {
    try view.within { () throws(StoreError) in try workLeft(view) }
  }

  private func workLeft(_ view: StoreView) throws(StoreError) {
    let next = try view.source.value(of: .nextWork) ?? 1
    for (ordinal, work) in try view.work.work() {
      if ordinal == 0 || ordinal >= next { report("work: \(ordinal) is not below \(next)") }
      let key = KeyEncoding.key(work.conversation)
      let isStored = try contains(key.bytes, Schema.conversations, view)
      switch work.kind {
      case .trim:
        break
      case .sweep:
        leftovers.insert(work.conversation)
        if isStored { report("work: conversation \(work.conversation) is there and swept") }
      case .merge(let target, _):
        leftovers.insert(work.conversation)
        if isStored { report("work: conversation \(work.conversation) is there and merged") }
        let key = KeyEncoding.key(target)
        if try !contains(key.bytes, Schema.conversations, view) {
          report("work: merge of \(work.conversation): unknown target (conversation \(target))")
        }
      }
    }
  }
}
