import PageFile

/// Merges the facts that the server states about conversations.
///
/// Each is a register of its own, so they may come in any order and any number of times.
///
/// See docs/message-format.md, C-8 … C-13.
extension Conversations {
  func receiveConversation(_ received: ReceivedConversation) throws(StoreError) -> Bool {
    try Self.validateReceived(received)
    let isNew = try transaction.existingConversation(received.id) == nil
    let conversation = try transaction.conversation(received.id) {
      ConversationDetails(id: received.id)
    }
    // A deleted conversation comes back only for something newer. One that was missing from a list
    // comes back when it is received again.
    let isBack =
      conversation.summary.marks.contains(.hidden) && conversation.summary.deletedUpTo == nil
    if isBack { conversation.reveal() }
    let facts = try memberFacts(received)
    let creator = try received.createdBy.map { (id) throws(StoreError) in
      try transaction.memberNumber(of: id)
    }
    let isChanged = try transaction.conversations.update(conversation) { (new) throws(StoreError) in
      if let kind = received.kind { new.details.kind = max(kind, new.details.kind) }
      try new.members.merge(facts)
      if received.hasAllMembers {
        try new.members.mergeComplete(
          Set(facts.map(\.number)), time: received.at.microseconds)
      }
      if let title = received.title?.register(received.at) { new.details.title.merge(title) }
      if let avatar = received.avatar?.register(received.at) { new.details.avatar.merge(avatar) }
      if let time = received.createdAt?.microseconds {
        new.details.createdAt = min(time, new.details.createdAt ?? time)
      }
      try transaction.conversations.merge(creator: creator, &new)
      transaction.conversations.mergeMark(
        received.isPinned, .pinned, \.pinnedAt, received.at, &new)
      if let mute = received.mute {
        transaction.conversations.mergeMute(mute, received.at.microseconds, &new)
      }
      transaction.conversations.mergeMark(
        received.isArchived, .archived, \.archivedAt, received.at, &new)
      transaction.conversations.mergeMark(
        received.isMarkedUnread, .markedUnread, \.markedUnreadAt, received.at, &new)
    }
    let hasDraft = try received.draft.map { (draft) throws(StoreError) in
      try transaction.conversations.mergeDraft(DraftRecord(draft), of: conversation)
    }
    return isNew || isBack || isChanged || hasDraft == true
  }

  static func validateReceived(_ received: ReceivedConversation) throws(StoreError) {
    try received.id.validate()
    try received.at.validate()
    for member in received.members {
      try member.id.validate()
      try member.joinedAt?.validate()
    }
    try received.createdBy?.validate()
    try received.createdAt?.validate()
    try received.mutedUntil?.validate()
    let limit = ConversationDetails.maximumRegisterByteCount
    if case .text(let title)? = received.title {
      try Conversations.validate(title: title, limit: limit)
    }
    if case .text(let avatar)? = received.avatar {
      try Conversations.validate(avatar: avatar, limit: limit)
    }
    if let draft = received.draft {
      try draft.replyTo?.validate()
      try draft.time.validate()
      let byteCount = draft.text.utf8.count
      guard byteCount <= TextCompression.maximumTextByteCount else {
        throw .input(
          .tooLong(.text, byteCount: byteCount, limit: TextCompression.maximumTextByteCount))
      }
    }
  }

  private func memberFacts(
    _ received: ReceivedConversation
  ) throws(StoreError) -> [ConversationMembers.Member] {
    var facts: [ConversationMembers.Member] = []
    facts.reserveCapacity(received.members.count)
    for member in received.members {
      facts.append(
        .init(
          try transaction.memberNumber(of: member.id), time: received.at.microseconds,
          isActive: member.isActive, joinedAt: member.joinedAt?.microseconds))
    }
    return facts
  }
}

extension ReceivedConversation {
  /// The value of the muted register; nil if it is not told.
  fileprivate var mute: Mute? {
    isMuted.map { isMuted in
      if !isMuted { return .off }
      return mutedUntil.map { .until($0.microseconds, hasEnded: false) } ?? .on
    }
  }
}

extension ReceivedConversation.Text {
  fileprivate func register(_ time: Timestamp) -> TextRegister {
    switch self {
    case .removed: TextRegister(nil, time: time.microseconds)
    case .text(let text): TextRegister(text, time: time.microseconds)
    }
  }
}

extension DraftRecord {
  fileprivate init(_ draft: Draft) {
    let isThere = !draft.text.isEmpty || draft.replyTo != nil
    self.init(
      isThere ? draft.text : nil, replyTo: draft.replyTo, time: draft.time.microseconds)
  }
}
