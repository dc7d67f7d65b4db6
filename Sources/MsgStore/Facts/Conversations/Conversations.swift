import PageFile

/// Creates conversations, and changes everything known of them except their messages.
///
/// See docs/message-format.md, C-7 … C-14.
package struct Conversations: TransactionPart {
  package let transaction: Transaction

  /// The attributes of a conversation that a change sees and may modify.
  package struct Attributes {
    package var details: ConversationDetails
    /// The members, which are read when the change asks for them.
    package var members: MembershipChange
    /// The marks pinned, muted, archived, and marked as unread.
    package var marks: ConversationSummary.Flags

    /// The value of the muted register.
    package var mute: Mute {
      get { details.mute(marks) }
      set {
        // The mark of a mute with an end follows when the attributes are written.
        if newValue == .on { marks.insert(.muted) } else { marks.remove(.muted) }
        (details.mutedUntil, details.hasMuteEnded) =
          if case .until(let end, let hasEnded) = newValue { (end, hasEnded) } else { (nil, false) }
      }
    }
  }

  /// Changes the attributes of a conversation.
  ///
  /// Writes only the attributes that differ afterwards. Returns true if any does.
  @inline(never)
  package func update(
    _ conversation: OpenConversation, _ body: (inout Attributes) throws(StoreError) -> Void
  ) throws(StoreError) -> Bool {
    let old = try attributes(of: conversation)
    var new = old
    try body(&new)
    return try writeAttributes(new, in: conversation, replacing: old)
  }

  @inline(never)
  private func attributes(of conversation: OpenConversation) throws(StoreError) -> Attributes {
    let number = conversation.number
    let details = try view.conversations.details(number)
    return Attributes(
      details: details, members: MembershipChange(view, number, details.roster),
      marks: conversation.summary.marks)
  }

  @inline(never)
  private func writeAttributes(
    _ changed: Attributes, in conversation: OpenConversation, replacing old: Attributes
  ) throws(StoreError) -> Bool {
    let number = conversation.number
    let (details, marks) = (old.details, old.marks)
    var new = changed
    if new.members.isChanged {
      try transaction.memberships.writeMembers(
        &new.members, &new.details, of: conversation)
    }
    if details.mutedUntil != nil || new.details.mutedUntil != nil {
      try transaction.expiries.muteEndChanged(
        from: details.awaitedMuteEnd, to: new.details.awaitedMuteEnd, of: number)
      try transaction.expiries.markMute(&new.marks, by: new.details, of: number)
    }
    if new.marks != marks { conversation.summary.marks = new.marks }
    if new.details.createdAt != details.createdAt, let created = new.details.createdAt {
      conversation.summary.created = created
    }
    if new.details != details {
      transaction.hasAdded = true
      try transaction.writeDetails(new.details, of: number)
    }
    if new.members.isChanged {
      try transaction.memberships.changed(
        new.members, from: details, to: new.details, in: conversation)
    }
    return new.members.isChanged || new.marks != marks || new.details != details
  }

  /// Returns a visible conversation, or throws `conversation(.notFound)`.
  @inline(never)
  func knownConversation(_ id: ConversationID) throws(StoreError) -> OpenConversation {
    guard let conversation = try transaction.existingConversation(id),
      !conversation.summary.marks.contains(.hidden)
    else { throw .conversation(.notFound, id) }
    return conversation
  }

  package static func validateParticipants(_ participants: [MemberID]) throws(StoreError) {
    guard participants.count <= ConversationDetails.maximumParticipantCount else {
      throw .input(
        .tooMany(
          .participants,
          count: participants.count, limit: ConversationDetails.maximumParticipantCount))
    }
    for participant in participants { try participant.validate() }
  }

  package static func validate(title: String?, limit: Int) throws(StoreError) {
    if let title, title.utf8.count > limit {
      throw .input(.tooLong(.title, byteCount: title.utf8.count, limit: limit))
    }
  }

  package static func validate(avatar: String?, limit: Int) throws(StoreError) {
    if let avatar, avatar.utf8.count > limit {
      throw .input(.tooLong(.avatar, byteCount: avatar.utf8.count, limit: limit))
    }
  }
}

/// Changes of membership made by the local member.
extension Conversations {
  /// Adds members one after the other, so that they keep the given order.
  ///
  /// - Parameters:
  ///   - isLater: True if they join an existing conversation. Then messages up to the newest known
  ///     one do not wait for them. The server states the true time of joining, which is later.
  ///   - known: The newest known server time.
  @inline(never)
  package func join(
    _ numbers: [UInt32], isLater: Bool, after known: Int64?, _ new: inout Attributes
  ) throws(StoreError) {
    var last = [known, new.details.newestTime, try new.members.lastTime()].compactMap { $0 }.max()
    for number in numbers {
      if let old = try new.members.member(number), old.isActive { continue }
      let time = Self.provisionalTime(after: last)
      last = time
      try new.members.merge(
        .init(number, time: time, isActive: true, joinedAt: isLater ? time : nil))
    }
  }

  /// Removes those of the given members who take part.
  func leave(
    _ numbers: some Sequence<UInt32>, after known: Int64?, _ new: inout Attributes
  ) throws(StoreError) {
    let time = Self.provisionalTime(
      after: known, new.details.newestTime, try new.members.lastTime())
    for number in numbers {
      guard let old = try new.members.member(number), old.isActive else { continue }
      try new.members.merge(.init(number, time: time, isActive: false))
    }
  }
}

extension ConversationKind: Comparable {
  /// Orders kinds so that the more specific one is greater: of two contradicting kinds the greater
  /// counts.
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

extension Conversations {
  /// Writes a draft, and notes in the details whether there is one.
  package func writeDraft(_ draft: DraftRecord, of conversation: OpenConversation)
    throws(StoreError)
  {
    if draft.text != nil { transaction.hasAdded = true }
    let key = DraftRecord.key(conversation.number)
    var value = ByteBuffer(capacity: 256)
    draft.append(to: &value)
    try transaction.insert(key.bytes, value.bytes, in: Schema.conversations)
    _ = try update(conversation) { new in new.details.hasDraft = draft.text != nil }
  }

  /// Merges the creator.
  ///
  /// Of two stated creators the one with the lesser name counts, on all stores.
  package func merge(creator: UInt32?, _ new: inout Attributes) throws(StoreError) {
    guard let creator else { return }
    guard let old = new.details.createdBy, old != creator else {
      new.details.createdBy = creator
      return
    }
    if try view.member(creator) < view.member(old) { new.details.createdBy = creator }
  }

  /// Merges a mark.
  ///
  /// Of two facts with the same time the one that sets the mark counts.
  func mergeMark(
    _ isSet: Bool?, _ mark: ConversationSummary.Flags,
    _ path: WritableKeyPath<ConversationDetails, Int64?>, _ time: Timestamp,
    _ new: inout Attributes
  ) {
    guard let isSet else { return }
    if let old = new.details[keyPath: path] {
      if time.microseconds < old || time.microseconds == old && !isSet { return }
    }
    new.details[keyPath: path] = time.microseconds
    if isSet { new.marks.insert(mark) } else { new.marks.remove(mark) }
  }

  /// Merges the value of the muted register.
  ///
  /// Of two facts with the same time the one with the later end counts.
  func mergeMute(_ mute: Mute, _ time: Int64, _ new: inout Attributes) {
    if let old = new.details.mutedAt {
      if time < old, !StoreDefect.olderMuteWins.isPlanted { return }
      new.mute = time == old ? new.mute.joined(with: mute) : mute
    } else {
      new.mute = mute
    }
    new.details.mutedAt = time
  }

  /// Merges a draft.
  ///
  /// Returns true if it is the one that counts now.
  package func mergeDraft(
    _ draft: DraftRecord, of conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    if let old = try view.conversations.draftRecord(conversation.number), !old.precedes(draft) {
      return false
    }
    try writeDraft(draft, of: conversation)
    return true
  }

  /// Merges the details of another conversation, except its names and members.
  package func mergeDetails(
    _ other: ConversationDetails, _ marks: ConversationSummary.Flags, _ new: inout Attributes
  ) {
    new.details.kind = max(new.details.kind, other.kind)
    new.details.title.merge(other.title)
    new.details.avatar.merge(other.avatar)
    new.details.createdAt = [new.details.createdAt, other.createdAt].compactMap { $0 }.min()
    func merge(
      _ mark: ConversationSummary.Flags, _ path: WritableKeyPath<ConversationDetails, Int64?>
    ) {
      guard let time = other[keyPath: path] else { return }
      self.mergeMark(marks.contains(mark), mark, path, Timestamp(microseconds: time), &new)
    }
    merge(.pinned, \.pinnedAt)
    if let time = other.mutedAt { mergeMute(other.mute(marks), time, &new) }
    merge(.archived, \.archivedAt)
    merge(.markedUnread, \.markedUnreadAt)
  }
}

extension Transaction {
  package var conversations: Conversations { Conversations(transaction: self) }
}
