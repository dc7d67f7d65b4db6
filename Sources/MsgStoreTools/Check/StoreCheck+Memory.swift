import MsgStore
import PageFile

/// Rule 10: the writer's memory agrees with the trees.
extension StoreCore {
  /// Compares the last writer's memory with the trees, if the snapshot is of its commit.
  func checkMemory(in snapshot: borrowing StoreSnapshot) throws(StoreError) -> [CheckFinding] {
    let check = StoreCheck()
    let reader = snapshot.view.forgetful()
    do throws(StoreError) {
      try withMemory(of: snapshot.lsn) { (memory) throws(StoreError) in
        try check.memory(memory, reader)
      }
    } catch {
      try check.reportDamage(error)
    }
    return check.result
  }
}

extension StoreCheck {
  fileprivate func memory(_ memory: WriterMemory, _ view: StoreView) throws(StoreError) {
    for conversation in memory.knownConversations {
      try view.within { () throws(StoreError) in try remembered(conversation, view) }
    }
    for (id, number) in memory.knownNumbers {
      let stored = try view.within { () throws(StoreError) in try view.number(of: id) }
      if stored != number {
        report("writer memory: wrong number of conversation \"\(id)\" (\(number))")
      }
    }
    try view.within { () throws(StoreError) in try counts(memory, view) }
  }

  private func remembered(
    _ conversation: OpenConversation, _ view: StoreView
  ) throws(StoreError) {
    let number = conversation.number
    if try view.conversations.summary(number) != conversation.currentSummary
      || conversation.hasUnwrittenSummary
    {
      report("writer memory: wrong summary of conversation \(number)")
    }
    if let receipts = conversation.knownReceipts, try view.receipts.receipts(number) != receipts {
      report("writer memory: wrong receipts of conversation \(number)")
    }
    if let others = conversation.knownRecipients,
      try view.conversations.members(number).recipients(without: view.localMemberNumber) != others
    {
      report("writer memory: wrong members of conversation \(number)")
    }
    let details = try view.conversations.details(number)
    if let known = conversation.isKnownToHaveLeft, details.hasLeft != known {
      report("writer memory: wrong membership in conversation \(number)")
    }
    if let known = conversation.knownName, details.id != known {
      report("writer memory: wrong name of conversation \(number)")
    }
    if let known = conversation.knownGreatestName, let last = try lastName(of: number, view),
      known < last
    {
      report("writer memory: greatest name of conversation \(number) is too small")
    }
  }

  /// Returns the greatest name of a conversation in the ids tree, or nil if the tree has no name of
  /// it.
  private func lastName(
    of conversation: UInt32, _ view: StoreView
  ) throws(StoreError) -> MessageID? {
    var cursor = Cursor(view.source, Schema.ids)
    let end = KeyEncoding.key(conversation &+ 1)
    let prefix = KeyEncoding.key(conversation)
    let isThere = try storage { () throws(PageFileError) in
      _ = try cursor.seek(end.bytes)
      return try cursor.previous()
    }
    guard isThere, cursor.keyHasPrefix(prefix.bytes) else { return nil }
    var name = ByteBuffer()
    cursor.appendKey(to: &name, dropping: KeyEncoding.numberByteCount)
    return MessageID(name.bytes)
  }

  private func counts(_ memory: WriterMemory, _ view: StoreView) throws(StoreError) {
    if let (number, lane) = memory.knownLane, try view.outbox.lane(number) != lane {
      report("writer memory: wrong lane of conversation \(number)")
    }
    if let known = memory.knownSparedMessages, try messageCount(known, view) != known.count {
      report("writer memory: wrong number of spared messages")
    }
    let newest = try view.dictionaryTable.newestDictionary()
    if let number = memory.packingDictionary, number > 0, number != newest {
      report("writer memory: packs with dictionary \(number), but the newest is \(newest)")
    }
  }

  /// Returns the number of messages that a conversation counts up to where pruning has come.
  ///
  /// A number that belongs to no conversation any more is not pruned further.
  private func messageCount(
    _ known: SparedMessages, _ view: StoreView
  ) throws(StoreError) -> Int {
    guard try view.contains(KeyEncoding.key(known.conversation), in: Schema.conversations) else {
      return known.count
    }
    let prefix = KeyEncoding.key(known.conversation)
    var cursor = MessageCursor(view)
    var key = ByteBuffer()
    var value = ByteBuffer()
    var count = 0
    _ = try cursor.seek(prefix.bytes)
    while cursor.isAtMessage, cursor.isIn(prefix.bytes) {
      key.removeAll()
      value.removeAll()
      try cursor.appendKey(to: &key)
      guard let position = key.bytes.dropFirst(prefix.count).position, position <= known.reached
      else { break }
      try cursor.appendRecord(to: &value)
      let message = MessageRecord(value.bytes).flatMap { StoredMessage($0, at: position.place) }
      if message?.traits.isLetGo == false { count += 1 }
      _ = try cursor.next()
    }
    return count
  }
}
