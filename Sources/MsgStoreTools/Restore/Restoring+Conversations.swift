import MsgStore
import PageFile

/// Restores exported conversations.
extension Restoring {
  /// Makes a conversation from its export, or merges the export into an existing one.
  func restore(_ given: ExportedConversation) throws(StoreError) {
    try given.id.validate()
    for alias in given.aliases { try alias.validate() }
    try Conversations.validateParticipants(given.participants)
    for member in given.members { try member.member.validate() }
    try given.createdBy?.validate()
    try Conversations.validate(
      title: given.title, limit: ConversationDetails.maximumRegisterByteCount)
    try Conversations.validate(
      avatar: given.avatar, limit: ConversationDetails.maximumRegisterByteCount)
    try given.own.validate()
    transaction.noteAddition()
    let conversation = try transaction.conversation(given.id) {
      ConversationDetails(id: given.id)
    }
    let participants = try transaction.memberNumbers(of: given.participants)
    let members = try members(given)
    let creator = try given.createdBy.map { (id) throws(StoreError) in
      try transaction.memberNumber(of: id)
    }
    let aliases = try newAliases(given.aliases, of: conversation.number)
    _ = try transaction.conversations.update(conversation) { (new) throws(StoreError) in
      try new.members.merge(members)
      try transaction.conversations.join(participants, isLater: false, after: nil, &new)
      setAttributes(given, &new)
      new.details.createdBy = creator ?? new.details.createdBy
      new.details.aliases += aliases
    }
    try given.retention?.validate()
    try transaction.retentions.change(conversation.number) { record in
      record.rule = given.retention ?? record.rule
      record.floor = given.prunedUpTo ?? record.floor
    }
    _ = try transaction.conversations.mergeFields(given.own.all, of: conversation.number)
    if let since = given.since { conversation.currentSummary.created = since.microseconds }
    if let time = given.deletedUpTo {
      conversation.currentSummary.deletedUpTo = time.microseconds
    }
  }

  /// Restores the rule for the history that the store keeps.
  func restore(_ retention: Retention) throws(StoreError) {
    try retention.validate()
    try transaction.retentions.change(RetentionRecord.store) { $0.rule = retention }
  }

  private func setAttributes(_ given: ExportedConversation, _ new: inout Conversations.Attributes) {
    let guess: ConversationKind =
      given.participants.isEmpty ? .unknown : given.participants.count == 2 ? .direct : .group
    new.details.kind = max(given.kind ?? guess, new.details.kind)
    func text(_ text: String?, _ time: Timestamp?) -> TextRegister {
      guard text != nil || time != nil else { return TextRegister() }
      return TextRegister(text, time: time?.microseconds ?? Conversations.provisionalTime())
    }
    new.details.title.merge(text(given.title, given.titleAt))
    new.details.avatar.merge(text(given.avatar, given.avatarAt))
    new.details.createdAt = given.createdAt?.microseconds ?? new.details.createdAt
    new.details.pinnedAt = given.pinnedAt?.microseconds ?? new.details.pinnedAt
    new.details.mutedAt = given.mutedAt?.microseconds ?? new.details.mutedAt
    new.details.archivedAt = given.archivedAt?.microseconds ?? new.details.archivedAt
    new.details.markedUnreadAt =
      given.markedUnreadAt?.microseconds ?? new.details.markedUnreadAt
    if given.isPinned { new.marks.insert(.pinned) }
    if let end = given.mutedUntil {
      new.mute = .until(end.microseconds, hasEnded: !given.isMuted)
    } else if given.isMuted {
      new.mute = .on
    }
    if given.isArchived { new.marks.insert(.archived) }
    if given.isMarkedUnread { new.marks.insert(.markedUnread) }
    if given.isHidden { new.marks.insert(.hidden) }
  }

  private func members(
    _ given: ExportedConversation
  ) throws(StoreError) -> ConversationMembers {
    var members = ConversationMembers()
    for known in given.members {
      members.merge(
        .init(
          try transaction.memberNumber(of: known.member), time: known.time.microseconds,
          isActive: !known.hasLeft, joinedAt: known.joinedAt?.microseconds))
    }
    if let time = given.completeAt?.microseconds {
      members.mergeComplete(Set(members.members.map(\.number)), time: time)
    }
    return members
  }

  /// Adds names to a conversation, except for names that are in use.
  private func newAliases(
    _ aliases: [ConversationID], of number: UInt32
  ) throws(StoreError) -> [ConversationID] {
    var new: [ConversationID] = []
    let room =
      ConversationDetails.maximumAliasCount - (try view.conversations.details(number).aliases.count)
    // The newest names come last.
    for alias in aliases.suffix(max(0, room))
    where try transaction.existingConversation(alias) == nil {
      try transaction.conversations.lead([alias], to: number, areFormer: true)
      new.append(alias)
    }
    return new
  }

  func restore(_ profile: ExportedProfile) throws(StoreError) {
    if !profile.isForgotten {
      try Profiles.validate(name: profile.name, picture: profile.picture)
    }
    try profile.member.validate()
    try profile.own.validate()
    if !profile.hasNoProfile {
      _ = try transaction.profiles.merge(profile.record, of: profile.member)
    }
    _ = try transaction.profiles.merge(profile.own.all, of: profile.member)
  }

  func restore(_ draft: ExportedDraft) throws(StoreError) {
    try draft.conversation.validate()
    try draft.replyTo?.validate()
    if let text = draft.text { try ReceivedMessages.validate(text: text) }
    let conversation = try transaction.conversation(draft.conversation) {
      ConversationDetails(id: draft.conversation)
    }
    try transaction.conversations.writeDraft(
      DraftRecord(draft.text, replyTo: draft.replyTo, time: draft.time.microseconds),
      of: conversation)
  }

  func restore(_ marks: ExportedMarks) throws(StoreError) {
    try marks.conversation.validate()
    let conversation = try transaction.conversation(marks.conversation) {
      ConversationDetails(id: marks.conversation)
    }
    guard conversation.currentSummary.messageCount == 0 else { return }
    transaction.noteAddition()
    conversation.currentSummary.mark = marks.readMark
    if marks.readMark != nil { conversation.currentSummary.markOrdinal += 1 }
    var own = try transaction.receipts.own(conversation)
    let before = own
    own.deliveredMark = marks.deliveredMark
    if marks.deliveredMark != nil { own.deliveredOrdinal += 1 }
    own.confirmedRead = marks.confirmedRead
    own.confirmedDelivered = marks.confirmedDelivered
    own.readTimes = Self.steps(marks.read)
    own.deliveredTimes = Self.steps(marks.delivered)
    if own != before { transaction.receipts.keepOwn(own, conversation) }
  }

  func restore(_ receipts: ExportedReceipts) throws(StoreError) {
    try receipts.conversation.validate()
    try receipts.member.validate()
    let conversation = try transaction.conversation(receipts.conversation) {
      ConversationDetails(id: receipts.conversation)
    }
    let member = try transaction.memberNumber(of: receipts.member)
    let old = try view.receipts.receipts(of: member, in: conversation.number)
    var new = old
    new.read.join(Self.steps(receipts.read))
    new.delivered.join(Self.steps(receipts.delivered))
    transaction.noteAddition()
    transaction.noteDeliveries(in: conversation)
    try transaction.receipts.writeReceipts(new, of: member, in: conversation.number)
    try transaction.receipts.marksChanged(of: member, from: old, to: new, in: conversation)
    for (kind, steps) in [
      (ReceiptKind.read, receipts.readSequences), (.delivered, receipts.deliveredSequences),
    ] {
      for step in steps {
        _ = try transaction.receipts.mark(
          kind, upTo: step.sequence, at: step.position, step.time?.microseconds, of: member,
          in: conversation)
      }
    }
  }

  private static func steps(_ given: [ExportedStep]) -> ReceiptSteps {
    var steps = ReceiptSteps()
    for step in given { steps.join(step.position, step.time?.microseconds) }
    return steps
  }

  func restore(_ untold: ExportedUntold) throws(StoreError) {
    try untold.conversation.validate()
    try untold.message.validate()
    let conversation = try transaction.conversation(untold.conversation) {
      ConversationDetails(id: untold.conversation)
    }
    transaction.noteAddition()
    let present =
      untold.kind == .read
      ? conversation.currentSummary.markOrdinal
      : try transaction.receipts.own(conversation).deliveredOrdinal
    try transaction.receipts.rememberExact(
      untold.kind, untold.message, from: untold.isLate ? present + 1 : 0, in: conversation)
  }

  /// Updates everything that follows from the restored contents of a conversation.
  func finishRestoring(_ id: ConversationID) throws(StoreError) {
    guard let conversation = try transaction.existingConversation(id) else { return }
    try transaction.receipts.membershipChanged(conversation)
    try transaction.pendingReceipts.updatePending(conversation)
  }
}
