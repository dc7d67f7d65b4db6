/// The changes of one transaction, noted for the listeners of the store.
///
///  1. Taking a note reads nothing. Conversations are noted by number. Changed facts of a message
///     are noted by the message's name, under which they lie; its place is looked up only when a
///     listener needs it.
///  2. Notes are bounded in the same way as the changes reported to a listener.
package struct ChangeNotes {
  /// The notes of one conversation.
  struct Conversation {
    var changes = ConversationChanges()
    /// The changed facts by message.
    ///
    /// The messages need not be stored here.
    var facts: [MessageID: MessageChange.Parts] = [:]
    /// True if anything other than the summary of the conversation was written.
    var isTouched = false
    /// True if the name, the title, or another detail was written.
    var hasDetailsChanges = false
    /// The former name of a conversation whose number no longer leads anywhere.
    var formerID: ConversationID?
  }

  /// A name that a conversation gave up.
  struct Renaming {
    let formerID: ConversationID
    /// The number that the name leads to now.
    var number: UInt32
    /// True if that number belonged to another conversation before.
    let isMerged: Bool
  }

  private(set) var conversations: [UInt32: Conversation] = [:]
  /// The names that conversations gave up.
  private(set) var renamings: [Renaming] = []
  var hasCounterChanges = false
  var hasOutboxChanges = false
  var hasUnneededFileChanges = false
  var hasSettingChanges = false
  /// The members whose profiles have changed; one more than are reported if there are more.
  private(set) var profiles: Set<MemberID> = []
  private(set) var coversEverything = false

  private mutating func change(_ number: UInt32, _ body: (inout Conversation) -> Void) {
    if coversEverything { return }
    if conversations.count > StoreChanges.maximumConversationCount {
      coversEverything = true
      conversations = [:]
      return
    }
    body(&conversations[number, default: Conversation()])
  }

  // MARK: Messages

  mutating func inserted(_ id: MessageID, at position: MessagePosition, in number: UInt32) {
    change(number) { $0.changes.add(MessageChange(from: nil, to: position), of: id) }
  }

  mutating func removed(_ id: MessageID, from position: MessagePosition, in number: UInt32) {
    change(number) { $0.changes.add(MessageChange(from: position, to: nil), of: id) }
  }

  mutating func replaced(
    _ old: StoredMessage, at oldPosition: MessagePosition, by new: StoredMessage,
    at position: MessagePosition, in number: UInt32
  ) {
    let (oldID, id) = (old.id(at: oldPosition), new.id(at: position))
    // Readers do not see a message that was let go, because it has expired.
    if old.traits.isLetGo || new.traits.isLetGo {
      if !old.traits.isLetGo { removed(oldID, from: oldPosition, in: number) }
      if !new.traits.isLetGo { inserted(id, at: position, in: number) }
    } else if oldID != id {
      removed(oldID, from: oldPosition, in: number)
      inserted(id, at: position, in: number)
    } else {
      if let changed = MessageChange(
        from: oldPosition, to: position, MessageChange.Parts(from: old, to: new))
      {
        change(number) { $0.changes.add(changed, of: id) }
      }
      if !new.isSeen(as: old) { readingChanged(in: number) }
    }
  }

  /// Notes that a fact about a message was written or removed.
  mutating func factChanged(_ kind: FactKind, of id: MessageID, in number: UInt32) {
    let part: MessageChange.Parts
    switch kind {
    case .version: part = .text
    case .reaction, .removedReaction: part = .reactions
    case .attachment: part = .attachments
    case .receipt: part = .delivery
    case .ownField: part = .ownFields
    case .tag: part = .other
    default: return
    }
    change(number) { conversation in
      if conversation.changes.coversAllMessages { return }
      conversation.facts[id, default: []].formUnion(part)
      if conversation.facts.count > ConversationChanges.maximumMessageCount {
        conversation.facts = [:]
        conversation.changes.setAnyMessageChanged()
      }
    }
  }

  /// Notes that other members may have received or read the messages between two places, given in
  /// either order.
  package mutating func delivered(
    between a: MessagePosition?, and b: MessagePosition?, in number: UInt32
  ) {
    let (a, b) = (a ?? .start, b ?? .start)
    change(number) { $0.changes.addDelivery(min(a, b)...max(a, b)) }
  }

  mutating func sequencesChanged(in number: UInt32) {
    change(number) { $0.changes.hasSequenceChanges = true }
  }

  /// Notes that messages that did not change may be found by an index, or as replies to another
  /// name.
  mutating func lookupsChanged(in number: UInt32) {
    change(number) { $0.changes.setAnyMessageChanged() }
  }

  // MARK: Conversations

  /// Notes that something other than the summary of a conversation was written.
  mutating func touched(_ number: UInt32) {
    change(number) { $0.isTouched = true }
  }

  /// Notes that the details of a conversation were written.
  mutating func detailsChanged(of number: UInt32) {
    change(number) {
      $0.isTouched = true
      $0.hasDetailsChanges = true
    }
  }

  /// Notes that the local member's side of receipts was written.
  mutating func readingChanged(in number: UInt32) {
    change(number) {
      $0.isTouched = true
      $0.changes.hasReadingChanges = true
    }
  }

  /// Notes that a conversation's summary was written or removed.
  mutating func listed(_ number: UInt32, from: ListPlace?, to: ListPlace?) {
    change(number) {
      $0.changes.addEntry(
        from: from.map { ConversationPosition(place: $0, number: number) },
        to: to.map { ConversationPosition(place: $0, number: number) })
    }
  }

  /// Notes that a conversation has a new number and no messages left.
  mutating func renumbered(_ old: UInt32, to number: UInt32) {
    let notes = conversations.removeValue(forKey: old)
    lead(old, to: number)
    change(number) {
      if let entry = notes?.changes.entry { $0.changes.addEntry(from: entry.from, to: entry.to) }
      $0.isTouched = true
      if notes?.hasDetailsChanges ?? false { $0.hasDetailsChanges = true }
      $0.changes.setAnyMessageChanged()
    }
  }

  /// Notes that the profile of a member was written.
  mutating func profileChanged(of id: MemberID) {
    if profiles.count <= StoreChanges.maximumProfileCount { profiles.insert(id) }
  }

  /// Notes that the conversation formerly called `id` has another name now.
  mutating func renamed(_ id: ConversationID, _ number: UInt32, isMerged: Bool = false) {
    if coversEverything { return }
    renamings.append(Renaming(formerID: id, number: number, isMerged: isMerged))
    change(number) { $0.changes.setAnyMessageChanged() }
  }

  /// Redirects former names from one number to another.
  private mutating func lead(_ old: UInt32, to number: UInt32) {
    for index in renamings.indices where renamings[index].number == old {
      renamings[index].number = number
    }
  }

  /// Notes that a conversation was merged into another.
  mutating func merged(_ number: UInt32, _ id: ConversationID, into target: UInt32) {
    change(number) {
      $0.formerID = id
      $0.changes.forgetMessages()
    }
    lead(number, to: target)
    renamed(id, target, isMerged: true)
  }
}

extension MessageChange.Parts {
  /// Finds the parts visible to readers in which two stored forms of a message differ, except its
  /// place.
  init(from old: StoredMessage, to new: StoredMessage) {
    self = []
    if old.status != new.status || old.traits.sending != new.traits.sending
      || old.traits.pendingEdits != new.traits.pendingEdits
    {
      insert(.status)
    }
    if old.traits.editTime != new.traits.editTime || old.traits.mentions != new.traits.mentions
      || old.traits.editName != new.traits.editName || !old.text.hasSameBytes(as: new.text)
    {
      insert(.text)
    }
    if old.traits.deliveredAt != new.traits.deliveredAt || old.traits.readAt != new.traits.readAt {
      insert(.delivery)
    }
    let marks = old.traits.marks.symmetricDifference(new.traits.marks)
    if !marks.isDisjoint(with: [.retracted, .hidden])
      || old.traits.retractedAt != new.traits.retractedAt
    {
      formUnion([.deletion, .text, .reactions, .attachments, .ownFields, .other])
    }
    if old.traits.ownFields != new.traits.ownFields { insert(.ownFields) }
    if marks.contains(.versions) { insert(.text) }
    if marks.contains(.reactions) { insert(.reactions) }
    if marks.contains(.attachments) { insert(.attachments) }
    if marks.contains(.receipts) { insert(.delivery) }
    // Receipts apply either to the local member's own messages or to those of other members.
    if old.sender != new.sender { formUnion([.other, .status, .delivery]) }
    if old.localTime != new.localTime || old.replyTo != new.replyTo
      || old.pendingSequence != new.pendingSequence || old.traits.names != new.traits.names
      || old.traits.expiryTime != new.traits.expiryTime
      || old.traits.tags.intersection(.settable) != new.traits.tags.intersection(.settable)
    {
      insert(.other)
    }
  }
}
