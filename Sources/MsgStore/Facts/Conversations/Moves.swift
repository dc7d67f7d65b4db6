import PageFile

/// Moves the contents of one conversation to another, a part in each commit.
///
/// See docs/message-format.md, C-20.
///
///  1. A message moves as it is, with all its facts and with its seen state.
///  2. A message that the other conversation has too, or knows facts of, is inserted there like any
///     other copy.
///  3. A message is merged with everything that the other conversation has under any of its names,
///     even if those are several messages. If it was deleted there under one of them, it stays
///     away.
///  4. The newest messages move first, as they are the first to be looked for.
struct Moves: TransactionPart {
  let transaction: Transaction

  /// Moves some of the messages, and after the last one everything else.
  ///
  /// Returns true when nothing is left.
  func moveMessages(
    of number: UInt32, _ old: ConversationSummary, into target: UInt32
  ) throws(StoreError) -> Bool {
    // Else the last message would be moved for ever.
    guard number != target else {
      throw view.corrupt(Schema.work, "merge of conversation \(number) into itself")
    }
    // The target was deleted meanwhile, so nothing may be moved to it.
    guard try transaction.isStored(target) else { return try transaction.deletions.sweep(number) }
    transaction.hasAdded = true
    var count = 0
    while true {
      guard let position = try flushed().messages.lastPosition(upTo: .end, in: number) else {
        return try moveRest(of: number, into: target)
      }
      if transaction.isStepFull(count, of: transaction.maximumMergeCount) { break }
      count += 1
      try move(position, of: number, old, into: target)
    }
    try transaction.pendingReceipts.updatePending(try transaction.conversation(target))
    return false
  }

  /// Moves some of the pending messages only, newest first.
  ///
  /// They move ahead of the others where a merge brings a deletion. Returns true when none is left.
  func movePending(
    of number: UInt32, _ old: ConversationSummary, into target: UInt32
  ) throws(StoreError) -> Bool {
    transaction.hasAdded = true
    var count = 0
    while let position = try flushed().messages.lastPosition(upTo: .end, in: number),
      position.place.isPending
    {
      if transaction.isStepFull(count, of: transaction.maximumMergeCount) { return false }
      count += 1
      try move(position, of: number, old, into: target)
    }
    return true
  }

  /// Moves one message ahead of the others, if it is still to be moved, because what is to be told
  /// of it moves.
  func bring(
    _ id: MessageID, of number: UInt32, into target: UInt32
  ) throws(StoreError) {
    guard let position = try view.ids.position(of: id, in: number) else { return }
    for (_, work) in try transaction.workQueue.merges(into: target)
    where work.conversation == number {
      guard case .merge(_, let summary) = work.kind else { continue }
      transaction.hasAdded = true
      try move(position, of: number, summary, into: target)
      return try transaction.pendingReceipts.updatePending(try transaction.conversation(target))
    }
  }

  private func move(
    _ position: MessagePosition, of number: UInt32, _ old: ConversationSummary, into target: UInt32
  ) throws(StoreError) {
    let conversation = try transaction.conversation(target)
    var message = try flushed().messages.message(at: position, in: number)
    let id = message.id(at: position)
    try transaction.packer.removeRecord(at: position, in: number)
    if let entry = ExpiryKey(of: message.traits, at: position, in: number) {
      try transaction.expiries.change(entry, by: -1)
    }
    let names = Names(of: message, at: position)
    for name in names.inOrder { try transaction.messageNames.removeEntry(of: name, in: number) }
    if let sequence = position.place.sequence {
      try transaction.sequences.note(sequence: sequence, in: conversation)
    }
    var isThere = false
    var isDeleted = false
    for name in names.all {
      switch try view.ids.entry(of: name, in: target) {
      case .here?: isThere = true
      case .deleted?: isDeleted = true
      default: break
      }
    }
    if isDeleted {
      try drop(id, of: number, in: conversation)
      return try transaction.identities.deleteUnder(names.all.sorted(), in: conversation)
    }
    let waiting = try isThere ? [] : waiting(for: names, in: target)
    if !isThere, waiting.isEmpty,
      transaction.receivedMessages.isDeleted(position.place, in: conversation)
    {
      try drop(id, of: number, in: conversation)
      return conversation.hideIfEmpty()
    }
    conversation.reveal()
    let isCovered = old.isCovered(message, at: position)
    if !old.isUnseen(message, at: position) { message.flags.insert(.history) }
    message.markOrdinal = nil
    guard isThere else {
      try transaction.identities.moveFacts(of: id, in: number, to: id, in: target)
      if !isCovered, conversation.summary.mark.map({ position <= $0 }) ?? false {
        message.markOrdinal = conversation.summary.markOrdinal
      }
      return try place(message, at: position, waiting, in: conversation)
    }
    guard let there = try transaction.identities.gather(names, in: conversation) else {
      return try drop(id, of: number, in: conversation)
    }
    try transaction.identities.fold(
      message, at: position, of: number, into: there, in: conversation)
  }

  /// Returns the names under which something waits that belongs to a message.
  private func waiting(
    for names: Names, in target: UInt32
  ) throws(StoreError) -> [MessageID] {
    guard transaction.waitingMessages.hasWaiting else { return [] }
    var owners: [MessageID] = []
    for name in try transaction.identities.waitingNames(for: names.inOrder, in: target)
    where try transaction.waitingMessages.waiting(name, in: target) != nil {
      owners.append(name)
    }
    return owners
  }

  /// Removes what is left of a message that stays away.
  private func drop(
    _ id: MessageID, of number: UInt32, in conversation: OpenConversation
  ) throws(StoreError) {
    view.source.isErasing = true
    try transaction.messageFacts.removeFacts(of: id, in: number)
    try transaction.receipts.forgetLate(id, in: conversation)
    try transaction.emit(.messageRemoved(id, in: conversation.number))
  }

  /// Stores a message that came from another conversation at its place, and merges what waits for
  /// it under some of its names.
  private func place(
    _ moved: StoredMessage, at position: MessagePosition, _ waiting: [MessageID],
    in conversation: OpenConversation
  ) throws(StoreError) {
    var message = moved
    let id = message.id(at: position)
    message.traits.awaited = nil
    try transaction.messageFacts.noteFacts(of: id, in: conversation.number, &message)
    try transaction.messages.place(message, at: position, in: conversation)
    try transaction.receipts.noteLate(message, at: position, in: conversation)
    if !position.place.isPending {
      try transaction.receipts.applyWaitingMarks(of: id, at: position, in: conversation)
      try transaction.receipts.applySequenceMarks(at: position, in: conversation)
    }
    if waiting.isEmpty { return }
    let names = Names(of: message, at: position)
    try transaction.identities.attach(
      waiting, besides: names.inOrder, toMessageAt: position, nil, in: conversation
    ) { _ in }
  }

  /// Moves everything that is not a message, one step at a time.
  ///
  /// Returns true when nothing is left.
  private func moveRest(of number: UInt32, into target: UInt32) throws(StoreError) -> Bool {
    let prefix = KeyEncoding.key(number)
    let conversation = try transaction.conversation(target)
    var key = ByteBuffer()
    var count = 0
    while try flushed().firstKey(prefix.bytes, in: Schema.facts, to: &key) {
      // Names of a waiting message move with it, and never before it.
      if transaction.isStepFull(count, of: transaction.maximumMergeCount) { return false }
      guard let id = FactKey.parts(key.bytes)?.id else {
        throw view.corrupt(Schema.facts, "malformed key (\(key.count) bytes)")
      }
      try moveWaiting(id, of: number, into: conversation)
      count += 1
    }
    while !transaction.isStepFull(count, of: transaction.maximumSweepCount),
      try flushed().firstKey(prefix.bytes, in: Schema.ids, to: &key)
    {
      let id = MessageID(key.bytes.dropFirst(KeyEncoding.numberByteCount))
      let entry = try view.ids.entry(of: id, in: number)
      try transaction.messageNames.removeEntry(of: id, in: number)
      if entry == .deleted { try transaction.identities.deleteUnder([id], in: conversation) }
      count += 1
    }
    count += try moveAll(
      prefix.bytes, in: Schema.client, to: target, limit: transaction.maximumSweepCount - count)
    // Sequences are numbered by one server in one thread, and the messages bring their own.
    let runs = KnownSequences.prefix(number)
    count += try transaction.removeAll(
      runs.bytes, in: Schema.conversations, limit: transaction.maximumSweepCount - count)
    // The messages have entered their tags and replies anew.
    count += try transaction.deletions.removeAll(
      prefix.bytes, in: Schema.index, limit: transaction.maximumSweepCount - count)
    try transaction.receipts.membershipChanged(conversation)
    try transaction.retentions.move(number, to: target, keepsFloor: true)
    return !transaction.isStepFull(count, of: transaction.maximumSweepCount)
  }

  /// Moves the facts that wait for one message.
  private func moveWaiting(
    _ id: MessageID, of number: UInt32, into conversation: OpenConversation
  ) throws(StoreError) {
    let target = conversation.number
    let waiting = try transaction.waitingMessages.takeWaiting(id, in: number)
    let entry = try view.ids.entry(of: id, in: target)
    let names = waiting?.traits.names ?? []
    for name in names { try transaction.messageNames.removeEntry(of: name, in: number) }
    if entry == .deleted {
      try transaction.messageFacts.removeFacts(of: id, in: number)
      return try transaction.identities.deleteUnder(names, in: conversation)
    }
    guard case .here(let position)? = entry else {
      var own = id
      if case .alias(let other)? = entry { own = other }
      try transaction.identities.moveFacts(of: id, in: number, to: own, in: target)
      try transaction.waitingMessages.noteWaiting(own, in: target) { facts in
        if let waiting { facts.merge(waiting) }
      }
      for name in names {
        _ = try transaction.identities.acknowledge(own, as: name, nil, in: conversation)
      }
      return
    }
    let old = try flushed().messages.message(at: position, in: target)
    let own = old.id(at: position)
    try transaction.identities.moveFacts(of: id, in: number, to: own, in: target)
    var new = old
    var facts = PlaceFacts(of: old, at: position.place)
    if let waiting {
      try transaction.receivedMessages.absorb(waiting, named: own, into: &new, in: target)
      facts.merge(waiting.place)
      facts.keep(in: &new)
    }
    try transaction.messageFacts.noteFacts(of: own, in: target, &new)
    let place = facts.place(of: new, from: position.place)
    try transaction.receivedMessages.move(old, from: position, new, to: place, in: conversation)
    if !place.isPending {
      try transaction.receipts.applyWaitingMarks(
        of: own, at: MessagePosition(place, position.id), in: conversation)
    }
    // Its new place may turn out to be one that was deleted with the conversation.
    guard try view.ids.position(of: own, in: target) != nil else { return }
    for name in names {
      _ = try transaction.identities.acknowledge(own, as: name, nil, in: conversation)
    }
  }

  /// Moves entries to another conversation's number, dropping those that it has already.
  ///
  /// - Parameter limit: The number of entries after which a step ends; nil to move all at once.
  /// - Returns: The number of entries removed here.
  @discardableResult
  func moveAll(
    _ prefix: Bytes, in tree: TreeNumber, to target: UInt32, limit: Int?
  ) throws(StoreError) -> Int {
    var count = 0
    var key = ByteBuffer()
    var newKey = ByteBuffer()
    var value = ByteBuffer()
    while limit.map({ !transaction.isStepFull(count, of: $0) }) ?? true,
      try flushed().firstKey(prefix, in: tree, to: &key)
    {
      value.removeAll()
      _ = try view.value(of: key.bytes, in: tree, appendTo: &value)
      try transaction.remove(key.bytes, in: tree)
      newKey.removeAll()
      newKey.append(bigEndian: target)
      newKey.append(key.bytes.dropFirst(KeyEncoding.numberByteCount))
      if try !view.contains(newKey, in: tree) {
        try transaction.insert(stored: newKey.bytes, value.bytes, in: tree)
      }
      count += 1
    }
    return count
  }
}

extension Transaction {
  var moves: Moves { Moves(transaction: self) }
}
