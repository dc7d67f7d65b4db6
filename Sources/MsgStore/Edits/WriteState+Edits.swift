import PageFile

/// Editing messages and taking them back, here and as told by the server.
///
/// See docs/message-format.md, G-4 … G-6.
extension WriteState {
  /// Merges what was received of an edit.
  func receiveEdit(
    of id: MessageID, in conversation: ConversationID, text: String, mentions: [MemberID],
    at time: Timestamp
  ) throws(StoreError) -> Bool {
    try id.validate()
    try conversation.validate()
    try Self.validate(text: text)
    try Self.validate(mentions: mentions)
    return try change { () throws(StoreError) in
      let conversation = try self.conversation(conversation) {
        ConversationDetails(id: conversation)
      }
      let version = TextVersion(
        editTime: time.microseconds, text: text,
        mentions: Array(Set(try memberNumbers(of: mentions))).sorted())
      switch try reader.entry(of: id, in: conversation.number) {
      case .deleted?:
        return false
      case .here(let position)?:
        let old = try reader.message(at: position, in: conversation.number)
        return try mergeEdit(version, into: old, at: position, in: conversation)
      case .alias(let own)?:
        return try waitingEdit(version, of: own, in: conversation.number)
      case nil:
        return try waitingEdit(version, of: id, in: conversation.number)
      }
    }
  }

  private func mergeEdit(
    _ version: TextVersion, into old: StoredMessage, at position: Position,
    in conversation: OpenConversation
  ) throws(StoreError) -> Bool {
    if old.traits.marks.contains(.unsent), !StoreDefect.withdrawnEdited.isPlanted { return false }
    var new = old
    let id = old.id(at: position)
    let hasNews = try mergeReceived(version, into: &new, named: id, in: conversation.number)
    guard hasNews || new != old else { return false }
    try replace(old, at: position, with: new, at: position, in: conversation)
    return true
  }

  private func waitingEdit(
    _ version: TextVersion, of id: MessageID, in conversation: UInt32
  ) throws(StoreError) -> Bool {
    if try waiting(id, in: conversation)?.traits.marks.contains(.unsent) == true { return false }
    guard try put(version, of: id, in: conversation) else { return false }
    try noteWaiting(id, in: conversation)
    return true
  }

  /// Edits a message of the local member's.
  ///
  /// Returns the time of the edit, by which the server's answer names it; nil when nothing changes.
  func edit(
    _ id: MessageID, in conversation: ConversationID, text: String, mentions: [MemberID]
  ) throws(StoreError) -> Timestamp? {
    try Self.validate(mentions: mentions)
    return try change { () throws(StoreError) in
      let target = try ownMessage(id, in: conversation)
      let old = target.message
      try check(text, hasAttachment: old.traits.marks.contains(.attachments))
      if old.text.hasSameBytes(as: text), try isMentioning(mentions, old) { return nil }
      guard old.traits.pendingEdits.count < MessageTraits.pendingEditCountMax else {
        throw .tooManyPendingEdits(id, in: conversation)
      }
      let numbers = Array(Set(try memberNumbers(of: mentions))).sorted()
      let time = Self.provisionalTime(
        after: old.traits.editTime, old.traits.pendingEdits.max(),
        try newestServerTime(in: target.conversation))
      var new = old
      try mergeVersion(
        TextVersion(editTime: time, text: text, mentions: numbers), into: &new,
        named: target.id, in: target.conversation.number)
      new.traits.pendingEdits.append(time)
      new.traits.sending.failure = nil
      try replace(
        old, at: target.position, with: new, at: target.position, in: target.conversation)
      if entersOutbox { try enter(.edit(target.id, at: time), of: target.conversation.number) }
      return Timestamp(microseconds: time)
    }
  }

  /// Whether a message mentions just these; nobody gets a number by asking.
  private func isMentioning(
    _ mentions: [MemberID], _ message: StoredMessage
  ) throws(StoreError) -> Bool {
    var numbers: Set<UInt32> = []
    for mention in mentions {
      guard let number = try reader.number(of: mention.string, in: Schema.memberNames) else {
        return false
      }
      numbers.insert(number)
    }
    return message.traits.mentions == numbers.sorted()
  }

  /// The server has taken an edit, perhaps under a time of its own.
  func confirmEdit(
    of id: MessageID, in conversation: ConversationID, at time: Timestamp, serverTime: Timestamp?
  ) throws(StoreError) -> Bool {
    try changePendingEdit(of: id, in: conversation, at: time) {
      (message, own, open) throws(StoreError) in
      guard let serverTime, serverTime != time else { return }
      let version =
        message.traits.editTime == time.microseconds
        ? message.version
        : try reader.versions(of: own, in: open.number)
          .first { $0.editTime == time.microseconds }
      guard var version,
        try removeVersion(
          at: time.microseconds, from: &message, named: own, in: open.number)
      else { return }
      version.editTime = serverTime.microseconds
      try mergeVersion(version, into: &message, named: own, in: open.number)
    }
  }

  /// The server has refused an edit: it is undone.
  func refuseEdit(
    of id: MessageID, in conversation: ConversationID, at time: Timestamp, because failure: Failure?
  ) throws(StoreError) -> Bool {
    try changePendingEdit(of: id, in: conversation, at: time) {
      (message, own, open) throws(StoreError) in
      if !StoreDefect.refusedEditStays.isPlanted {
        _ = try removeVersion(
          at: time.microseconds, from: &message, named: own, in: open.number)
      }
      message.traits.sending.failure = failure
    }
  }

  private func changePendingEdit(
    of id: MessageID, in conversation: ConversationID, at time: Timestamp,
    _ body: (inout StoredMessage, MessageID, OpenConversation) throws(StoreError) -> Void
  ) throws(StoreError) -> Bool {
    try change { () throws(StoreError) in
      guard let open = try existingConversation(conversation),
        let position = try reader.position(of: id, in: open.number)
      else { return false }
      let old = try reader.message(at: position, in: open.number)
      guard let index = old.traits.pendingEdits.firstIndex(of: time.microseconds) else {
        return false
      }
      var new = old
      new.traits.pendingEdits.remove(at: index)
      try body(&new, old.id(at: position), open)
      try replace(old, at: position, with: new, at: position, in: open)
      return true
    }
  }
}
