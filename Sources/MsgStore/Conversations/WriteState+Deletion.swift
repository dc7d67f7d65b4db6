import PageFile

/// Deleting conversations.
///
/// The name gets a new number at once, hidden and without messages; what the old one has is swept in
/// steps. See docs/message-format.md, C-15 … C-17.
extension WriteState {
  /// Returns the messages that the server never got; nil when there is no such conversation.
  func deleteConversation(_ id: ConversationID) throws(StoreError) -> [MessageID]? {
    try change { () throws(StoreError) in
      guard let conversation = try existingConversation(id),
        !conversation.summary.marks.contains(.hidden)
      else { return nil }
      var withdrawn: [MessageID] = []
      // No time of this device: what came to the server meanwhile was not deleted.
      var time = max(conversation.summary.deletedUpTo ?? 0, 0)
      let numbers = try [conversation.number] + merging(into: conversation.number)
      for number in numbers {
        withdrawn += try pending(in: number)
        let newest = try reader.lastPosition(upTo: .firstPending, in: number)
        time = max(time, newest?.place.time ?? .min)
      }
      let isUnknown = try isUnknownToServer(conversation.number)
      try forget(conversation, at: time, isLocal: true)
      try clear(conversation, upTo: time)
      if !isUnknown, entersOutbox, let left = try existingConversation(id) {
        try enter(.deleteConversation, of: left.number)
      }
      return withdrawn
    }
  }

  func receiveDeletion(of id: ConversationID, at time: Timestamp) throws(StoreError) -> Bool {
    try id.validate()
    return try change { () throws(StoreError) in
      let conversation = try conversation(id) { ConversationDetails(id: id) }
      return try delete(conversation, upTo: time.microseconds)
    }
  }

  /// Takes in that a conversation was deleted at some time; what is newer stays.
  func delete(_ conversation: OpenConversation, upTo time: Int64) throws(StoreError) -> Bool {
    if let old = conversation.summary.deletedUpTo, old >= time { return false }
    try forget(conversation, at: time, isLocal: false)
    let last = try reader.lastPosition(upTo: .end, in: conversation.number)
    let isLeft = last.map { $0.place.isPending || $0.place.time > time } ?? false
    let isExpecting = try !merging(into: conversation.number).isEmpty
    if isLeft || isExpecting {
      conversation.summary.deletedUpTo = time
      if try !trim(conversation.number, upTo: time) {
        try addWork(WorkRecord(.trim(upTo: time), of: conversation.number))
      }
    } else if last == nil {
      conversation.summary.deletedUpTo = time
      conversation.summary.marks.insert(.hidden)
    } else {
      try clear(conversation, upTo: time, keepsFacts: true)
    }
    return true
  }

  /// The server says when it has deleted what was deleted here: messages up to then, which may have come
  /// since, go too.
  ///
  /// What was done here since stays as it is.
  func confirmDeletion(of number: UInt32, at time: Int64) throws(StoreError) {
    let conversation = try conversation(number)
    if let old = conversation.summary.deletedUpTo, old >= time { return }
    conversation.summary.deletedUpTo = time
    guard conversation.summary.messageCount > 0, try !trim(number, upTo: time) else { return }
    try addWork(WorkRecord(.trim(upTo: time), of: number))
  }

  /// Gives up what a deletion ends: draft and pin, and the place among the archived ones.
  private func forget(
    _ conversation: OpenConversation, at time: Int64, isLocal: Bool
  ) throws(StoreError) {
    var end = time
    if isLocal {
      // The local member's act is later than anything it ends.
      end = Self.provisionalTime(
        after: time, try reader.draftRecord(conversation.number)?.time,
        try reader.details(conversation.number).newestTime)
    }
    _ = try mergeDraft(DraftRecord(nil, replyTo: nil, time: end), of: conversation)
    _ = try update(conversation) { new in
      mergeMark(false, .pinned, \.pinnedAt, Timestamp(microseconds: end), &new)
      mergeMark(false, .archived, \.archivedAt, Timestamp(microseconds: end), &new)
    }
  }

  /// Gives a conversation a new number, without any messages, and has the old one swept.
  ///
  /// - Parameters:
  ///   - time: Up to which server time messages do not come back; nil: all do.
  ///   - keepsFacts: Whether what is known of messages that are not here stays, and receipts: a
  ///     deletion that was received says nothing about what is newer.
  func clear(
    _ conversation: OpenConversation, upTo time: Int64?, keepsFacts: Bool = false
  ) throws(StoreError) {
    try flush()
    reader.source.isErasing = true
    let old = conversation.number
    if keepsFacts { try finishReleases(of: old) }
    for (ordinal, work) in try reader.work() {
      guard case .merge(into: old, _) = work.kind else { continue }
      try write(WorkRecord(.sweep, of: work.conversation), at: ordinal)
    }
    let details = try reader.details(old)
    let active = try reader.members(old).active
    let number = try newNumber(.nextConversation, "conversation")
    var cell = ByteBuffer()
    var from = KeyEncoding.key(old)
    var to = KeyEncoding.key(number)
    for suffix in ConversationDetails.cellSuffixes {
      from.truncate(to: KeyEncoding.numberByteCount)
      to.truncate(to: KeyEncoding.numberByteCount)
      from.append(suffix)
      to.append(suffix)
      cell.removeAll()
      guard try reader.value(of: from.bytes, in: Schema.conversations, appendTo: &cell) else {
        continue
      }
      try remove(from.bytes, in: Schema.conversations)
      try insert(stored: to.bytes, cell.bytes, in: Schema.conversations)
    }
    if !active.isEmpty {
      let digest = ConversationMembers.digest(active)
      let entry = KeyEncoding.key(digest, old)
      try remove(entry.bytes, in: Schema.participants)
      let newEntry = KeyEncoding.key(digest, number)
      try insert(newEntry.bytes, .empty, in: Schema.participants)
    }
    var summary = ConversationSummary(created: conversation.summary.created)
    summary.marks = conversation.summary.marks.union(.hidden)
    summary.deletedUpTo = time
    summary.nextLocalOrder = conversation.summary.nextLocalOrder
    // What was deleted here is no gap.
    summary.sequences = conversation.summary.sequences
    try forgetPending(conversation)
    try drop(conversation)
    if isHeard { notes.renumbered(old, to: number) }
    let new = try add(number, summary)
    try lead([details.id], to: number)
    try lead(details.aliases, to: number, areFormer: true)
    // Those who joined later are not waited for before that, whatever else is known of them.
    try membershipChanged(new)
    guard keepsFacts else {
      try keepEntries(of: old, for: number)
      return try addWork(WorkRecord(.sweep, of: old))
    }
    try moveEntries(of: old, to: number)
    try mergeReceipts(from: conversation, into: new)
    let oldSummary = conversation.summary
    if try !moveMessages(of: old, oldSummary, into: number) {
      try addWork(WorkRecord(.merge(into: number, oldSummary), of: old))
    }
  }

  /// The messages that the server has not got, in their order.
  private func pending(in conversation: UInt32) throws(StoreError) -> [MessageID] {
    var found: [MessageID] = []
    try reader.flushUnwritten()
    var cursor = Cursor(reader.source, Schema.messages)
    let key = KeyEncoding.key(conversation, Position.firstPending)
    let prefix = key.bytes.slice(0, KeyEncoding.numberByteCount)
    try storage { () throws(PageFileError) in _ = try cursor.seek(key.bytes) }
    while cursor.isAtCell, cursor.keyHasPrefix(prefix) {
      found.append(try reader.position(cursor).id)
      try storage { () throws(PageFileError) in _ = try cursor.next() }
    }
    return found
  }

  /// The numbers whose messages are still on the way to a conversation.
  func merging(into target: UInt32) throws(StoreError) -> [UInt32] {
    guard try reader.hasStoreWork else { return [] }
    return try reader.work().compactMap { _, work in
      if case .merge(into: target, _) = work.kind { work.conversation } else { nil }
    }
  }

  /// Removes some of the messages up to a server time; true when none is left.
  func trim(_ number: UInt32, upTo time: Int64) throws(StoreError) -> Bool {
    let summaryKey = KeyEncoding.key(number)
    // It was deleted as a whole meanwhile.
    guard try isStored(number) else { return true }
    reader.source.isErasing = true
    let conversation = try conversation(number)
    var key = ByteBuffer()
    var count = 0
    var isDone = false
    while !isStepFull(count, of: sweepCountMax) {
      guard try reader.firstKey(summaryKey.bytes, in: Schema.messages, to: &key) else {
        isDone = true
        break
      }
      guard let position = key.bytes.dropFirst(KeyEncoding.numberByteCount).position else {
        throw reader.corrupt(Schema.messages, "a key is no position")
      }
      if position.place.isPending || position.place.time > time {
        isDone = true
        break
      }
      count += try takeOut(position, of: conversation)
    }
    if count > 0 { try updatePending(conversation) }
    if conversation.summary.messageCount == 0 && isDone {
      conversation.summary.marks.insert(.hidden)
    }
    return isDone
  }

  /// Removes a message with everything that is known of it; returns how many entries that were.
  func takeOut(
    _ position: Position, of conversation: OpenConversation
  ) throws(StoreError) -> Int {
    let message = try reader.message(at: position, in: conversation.number)
    let id = message.id(at: position)
    try remove(message, at: position, in: conversation)
    for name in [position.id] + message.traits.names {
      try removeEntry(of: name, in: conversation.number)
    }
    try forgetLate(id, in: conversation)
    try removeEntries(of: id, in: conversation.number)
    return try 1 + removeFacts(of: id, in: conversation.number)
  }
}
