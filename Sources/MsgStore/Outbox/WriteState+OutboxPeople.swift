import PageFile

/// What people decide about what waits: hold, release, retry, change, remove.
///
/// See docs/message-format.md, O-25 … O-29.
extension WriteState {
  private func entry(_ id: OutboxEntry.ID) throws(StoreError) -> OutboxRecord {
    guard let record = try reader.outboxEntry(id.rawValue) else {
      throw .outboxEntryNotFound(id)
    }
    return record
  }

  func setHolding(_ isHolding: Bool) throws(StoreError) -> Bool {
    try change { () throws(StoreError) in
      guard try outbox.isHolding != isHolding else { return false }
      try setHolding(totals: isHolding)
      return true
    }
  }

  func hold(_ id: OutboxEntry.ID) throws(StoreError) -> Bool {
    try change { () throws(StoreError) in
      let old = try entry(id)
      if old.isRunning { throw .outboxEntryIsRunning(id) }
      if old.state == .held { return false }
      var new = old
      new.state = .held
      try replace(entry: id.rawValue, old, with: new)
      try show(.held, of: new)
      return true
    }
  }

  /// Releases entries that are held; returns how many.
  func release(_ ids: [UInt64]) throws(StoreError) -> Int {
    var count = 0
    for ordinal in ids {
      guard let old = try reader.outboxEntry(ordinal), old.state == .held else { continue }
      var new = old
      new.state = .queued
      try replace(entry: ordinal, old, with: new)
      try show(.pending, of: new)
      count += 1
    }
    return count
  }

  func release(_ id: OutboxEntry.ID) throws(StoreError) -> Bool {
    try change { () throws(StoreError) in
      _ = try entry(id)
      return try release([id.rawValue]) == 1
    }
  }

  /// The entries of a conversation, or of all of them, in order.
  private func ordinals(in id: ConversationID?) throws(StoreError) -> [UInt64] {
    if let id {
      guard let number = try reader.number(of: id) else { return [] }
      let prefix = OutboxKey.listed(number)
      return try reader.outboxOrdinals(prefix)
    }
    var prefix = ByteBuffer()
    prefix.append(OutboxKey.entryPrefix)
    return try reader.outboxOrdinals(prefix)
  }

  func releaseAll(in id: ConversationID?) throws(StoreError) -> Int {
    try change { () throws(StoreError) in
      guard try outbox.counts.held > 0 else { return 0 }
      return try release(try ordinals(in: id))
    }
  }

  func retry(_ id: OutboxEntry.ID) throws(StoreError) -> Bool {
    try change { () throws(StoreError) in
      _ = try entry(id)
      return try retry([id.rawValue], includesFailed: true) == 1
    }
  }

  /// Has what waits for its time, and what has failed, go as soon as it can; returns how much that
  /// is.
  func retryAll(in id: ConversationID?, includesFailed: Bool) throws(StoreError) -> Int {
    try change { () throws(StoreError) in
      let counts = try outbox.counts
      guard counts.waiting > 0 || includesFailed && counts.failed > 0 else { return 0 }
      return try retry(try ordinals(in: id), includesFailed: includesFailed)
    }
  }

  private func retry(_ ids: [UInt64], includesFailed: Bool) throws(StoreError) -> Int {
    var count = 0
    for ordinal in ids {
      guard let old = try reader.outboxEntry(ordinal) else { continue }
      switch old.state {
      case .waiting: break
      case .failed where includesFailed: break
      default: continue
      }
      var new = old
      new.state = .queued
      new.failureCount = 0
      // A limit of its age begins anew.
      if rules.outbox.ageMax != nil { new.created = clock().microseconds }
      try replace(entry: ordinal, old, with: new)
      try show(.pending, of: new)
      count += 1
    }
    return count
  }

  func sendAll() throws(StoreError) -> Int {
    try change { () throws(StoreError) in
      if try outbox.isHolding { try setHolding(totals: false) }
      return try releaseAll(in: nil) + retryAll(in: nil, includesFailed: true)
    }
  }

  private func show(_ status: MessageStatus, of record: OutboxRecord) throws(StoreError) {
    guard case .send(let id) = record.subject,
      let conversation = try reader.conversationName(of: record)
    else { return }
    _ = try setStatus(status, of: id, in: conversation, at: nil, retryAt: nil, failure: nil)
  }

  /// Changes the text of a message that cannot have left, or of an edit.
  func setText(
    _ text: String, mentions: [MemberID], of id: OutboxEntry.ID
  ) throws(StoreError) -> Bool {
    try Self.validate(mentions: mentions)
    return try change { () throws(StoreError) in
      let record = try entry(id)
      if record.isRunning { throw .outboxEntryIsRunning(id) }
      if record.mayHaveLeft { throw .outboxEntryMayHaveLeft(id) }
      guard let conversation = try reader.conversationName(of: record) else {
        throw .outboxEntryHasNoText(id)
      }
      switch record.subject {
      case .send(let message):
        return try rewrite(
          message, in: conversation, text: text, mentions: mentions, id, record)
      case .edit(let message, let time):
        let target = try ownMessage(message, in: conversation)
        try check(text, hasAttachment: target.message.traits.marks.contains(.attachments))
        // Takes the entry with it.
        _ = try refuseEdit(
          of: message, in: conversation, at: Timestamp(microseconds: time), because: nil)
        return try edit(message, in: conversation, text: text, mentions: mentions) != nil
      default: throw .outboxEntryHasNoText(id)
      }
    }
  }

  private func rewrite(
    _ message: MessageID, in conversation: ConversationID, text: String, mentions: [MemberID],
    _ id: OutboxEntry.ID, _ record: OutboxRecord
  ) throws(StoreError) -> Bool {
    let target = try ownMessage(message, in: conversation)
    let old = target.message
    if !old.traits.pendingEdits.isEmpty { throw .outboxEntryHasNoText(id) }
    try check(text, hasAttachment: old.traits.marks.contains(.attachments))
    var new = old
    new.version = TextVersion(
      editTime: nil, text: text, mentions: try memberNumbers(of: mentions).sorted())
    guard new != old else { return false }
    reader.source.isErasing = true
    try replace(
      old, at: target.position, with: new, at: target.position, in: target.conversation)
    if record.attemptCount > 0 {
      // The server has refused the token with another text.
      var entry = record
      entry.token = .random()
      try replace(entry: id.rawValue, record, with: entry)
    }
    return true
  }

  /// Removes an entry, and undoes what it was to tell where that can be undone.
  func removeEntry(_ id: OutboxEntry.ID) throws(StoreError) {
    try change { () throws(StoreError) in
      let record = try entry(id)
      if record.isRunning { throw .outboxEntryIsRunning(id) }
      guard let conversation = try reader.conversationName(of: record) else {
        return try remove(entry: id.rawValue, record)
      }
      switch record.subject {
      case .send(let message):
        _ = try unsend(message, in: conversation)
        return
      case .upload, .createConversation:
        throw .outboxEntryIsNeeded(id)
      case .edit(let message, let time):
        _ = try refuseEdit(
          of: message, in: conversation, at: Timestamp(microseconds: time), because: nil)
      case .unsend(let message):
        _ = try refuseUnsend(of: message, in: conversation, because: nil)
      case .react(let message, let emoji, let isRemoved):
        try revert(emoji, isRemoved: isRemoved, of: message, in: conversation)
      case .receipt(let kind):
        for receipt in try reader.pendingReceipts(in: conversation, kind, as: .mark) {
          _ = try confirm(receipt)
        }
      default: break
      }
      if let left = try reader.outboxEntry(id.rawValue) {
        try remove(entry: id.rawValue, left)
      }
    }
  }

  /// Undoes a reaction of the local member's, or that it was taken away.
  private func revert(
    _ emoji: String, isRemoved: Bool, of message: MessageID, in conversation: ConversationID
  ) throws(StoreError) {
    guard let member = localMember, let open = try existingConversation(conversation),
      let (_, _, own) = try reader.found(message, in: open.number)
    else { return }
    let key = ReactionRecord.key(open.number, own, member: member, emoji: emoji)
    guard let old = try reaction(key.bytes), old.isRemoved == isRemoved else { return }
    let record = ReactionRecord(time: time(after: old.time), isRemoved: !isRemoved)
    _ = try withFacts(of: message, in: open) { (own) throws(StoreError) in
      try merge(record, emoji, member, of: own, in: open.number)
    }
  }
}
